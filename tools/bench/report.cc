#include "tools/bench/report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/report/format.h"

namespace tg::bench {
namespace {

namespace json = llvm::json;

using runtime::Cell;
using runtime::FormatNumber;
using runtime::FormatSeconds;

const Timing* FindPeer(const MeasuredRow& row, const std::string& name) {
  for (const auto& [peer, timing] : row.peers) {
    if (peer == name) return &timing;
  }
  return nullptr;
}

double BytesOf(const Row& row) { return static_cast<double>(BytesRead(row) + BytesWritten(row)); }

// The least time of any peer.
double LeastOfPeers(const MeasuredRow& row) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [name, timing] : row.peers) least = std::min(least, timing.least());
  return least;
}

json::Object ToJson(const Timing& timing) {
  return json::Object{{"seconds", timing.median()},
                      {"least", timing.least()},
                      {"spread", timing.spread()},
                      {"batch", timing.batch},
                      {"turns", static_cast<int64_t>(timing.seconds.size())}};
}

json::Object ToJson(const MeasuredRow& measured) {
  const Row& row = measured.row;
  json::Object peers;
  for (const auto& [name, timing] : measured.peers) {
    json::Object peer = ToJson(timing);
    peer["ratio"] = RatioByTurns(timing, measured.tg);
    peers[name] = std::move(peer);
  }
  json::Object object{{"name", row.name},
                      {"work", row.title},
                      {"operations", OperationsOf(row)},
                      {"bytes_read", BytesRead(row)},
                      {"bytes_written", BytesWritten(row)},
                      {"limit_seconds", measured.limit_seconds},
                      {"tg", ToJson(measured.tg)},
                      {"peers", std::move(peers)}};
  if (measured.predicted_seconds) {
    object["predicted_seconds"] = *measured.predicted_seconds;
    object["predicted_limit"] = measured.predicted_limit;
  }
  return object;
}

}  // namespace

const std::pair<std::string, Timing>* BestPeer(const MeasuredRow& row) {
  const auto best = std::min_element(
      row.peers.begin(), row.peers.end(),
      [](const auto& a, const auto& b) { return a.second.median() < b.second.median(); });
  return best == row.peers.end() ? nullptr : &*best;
}

std::string HeadText(const BenchReport& report) {
  return Cat("device ", report.device, ", target ", report.target, "\nlimits: copy ",
             FormatNumber("%.1f", report.limits.copy_bytes_per_second * 1e-9), " GB/s, read ",
             FormatNumber("%.1f", report.limits.read_bytes_per_second * 1e-9), " GB/s, f32 ",
             FormatNumber("%.1f", report.limits.flops_per_second * 1e-9), " GFLOP/s\n");
}

std::optional<double> MedianError(const BenchReport& report) {
  std::vector<double> errors;
  for (const MeasuredRow& row : report.rows) {
    if (!row.predicted_seconds) continue;
    errors.push_back(std::abs(*row.predicted_seconds / row.tg.median() - 1));
  }
  if (errors.empty()) return std::nullopt;
  return Quantile(std::move(errors), 0.5);
}

std::string TableText(const BenchReport& report) {
  std::vector<std::vector<Cell>> table;
  std::vector<Cell>& head = table.emplace_back();
  for (const char* title :
       {"row", "tg", "spread", "GFLOP/s", "GB/s", "of limit", "predicted", "error", "by"}) {
    head.emplace_back(title);
  }
  for (const Peer& peer : report.peers) head.emplace_back(peer.name);
  if (!report.peers.empty()) {
    head.emplace_back("ratio");
    head.emplace_back("of least");
  }
  for (const MeasuredRow& measured : report.rows) {
    const double seconds = measured.tg.median();
    const auto operations = static_cast<double>(OperationsOf(measured.row));
    std::vector<Cell>& cells = table.emplace_back();
    cells.emplace_back(measured.row.title);
    cells.emplace_back(FormatSeconds(seconds));
    cells.emplace_back(FormatNumber("%.1f%%", 100 * measured.tg.spread()));
    cells.emplace_back(operations > 0 ? FormatNumber("%.1f", operations / seconds * 1e-9) : "");
    cells.emplace_back(FormatNumber("%.1f", BytesOf(measured.row) / seconds * 1e-9));
    cells.emplace_back(FormatNumber("%.0f%%", 100 * measured.limit_seconds / seconds));
    const std::optional<double>& predicted = measured.predicted_seconds;
    cells.emplace_back(predicted ? FormatSeconds(*predicted) : "");
    cells.emplace_back(predicted ? FormatNumber("%+.0f%%", 100 * (*predicted / seconds - 1)) : "");
    cells.emplace_back(measured.predicted_limit);
    for (const Peer& peer : report.peers) {
      const Timing* timing = FindPeer(measured, peer.name);
      cells.emplace_back(timing == nullptr ? "" : FormatSeconds(timing->median()));
    }
    if (report.peers.empty()) continue;
    const auto* best = BestPeer(measured);
    cells.emplace_back(
        best == nullptr ? "" : FormatNumber("%.2f", RatioByTurns(best->second, measured.tg)));
    cells.emplace_back(
        best == nullptr ? "" : FormatNumber("%.2f", LeastOfPeers(measured) / measured.tg.least()));
  }
  const size_t left[] = {0};
  std::string text = runtime::FormatTable(table, left);
  if (const std::optional<double> error = MedianError(report)) {
    text += Cat("median error of the predictions: ", FormatNumber("%.0f%%", 100 * *error), "\n");
  }
  return text;
}

std::string JsonText(const BenchReport& report) {
  json::Array peers, rows;
  for (const Peer& peer : report.peers) {
    peers.push_back(json::Object{{"name", peer.name}, {"version", peer.version}});
  }
  for (const MeasuredRow& row : report.rows) rows.push_back(ToJson(row));
  json::Object limits{{"copy_bytes_per_second", report.limits.copy_bytes_per_second},
                      {"read_bytes_per_second", report.limits.read_bytes_per_second},
                      {"flops_per_second", report.limits.flops_per_second}};
  json::Value all = json::Object{{"tool", "tg-bench"},          {"measured", report.date},
                                 {"device", report.device},     {"target", report.target},
                                 {"limits", std::move(limits)}, {"peers", std::move(peers)},
                                 {"rows", std::move(rows)}};
  if (const std::optional<double> error = MedianError(report)) {
    (*all.getAsObject())["median_prediction_error"] = *error;
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::formatv("{0:1}", all) << "\n";
  return out.str();
}

}  // namespace tg::bench
