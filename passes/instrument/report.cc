#include "passes/instrument/report.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::instrument {

std::string TimeTable(std::span<const TimeRow> rows) {
  double total = 0;
  for (const TimeRow& row : rows) total += row.seconds;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "        ms  share  time in\n";
  const auto print = [&](double seconds, const std::string& what) {
    out << llvm::format("%10.3f %5.1f%%  ", seconds * 1e3, total > 0 ? 100 * seconds / total : 0)
        << what << "\n";
  };
  for (const TimeRow& row : rows) print(row.seconds, row.what);
  print(total, "total");
  out.flush();
  return text;
}

std::vector<TimeRow> TimeRows(const passes::PassReport& report) {
  std::vector<TimeRow> rows;
  TimeRow verify{"verify", 0};
  for (const passes::PassReport::Row& row : report.rows) {
    rows.push_back({row.step, row.pass_seconds});
    verify.seconds += row.verify_seconds;
  }
  if (verify.seconds > 0) rows.push_back(verify);
  return rows;
}

std::string StatisticsTable(const passes::PassReport& report) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "     count  statistic\n";
  for (const auto& [name, count] : report.statistics) {
    if (count != 0) out << llvm::format("%10lld  ", static_cast<long long>(count)) << name << "\n";
  }
  out.flush();
  return text;
}

}  // namespace tg::instrument
