#include "runtime/report/kernel_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "codegen/kernel_names.h"
#include "runtime/base/status.h"

namespace tg::runtime {
namespace {

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Formats `value` with three digits and the first unit for which the number is less than `step`.
std::string Scaled(double value, std::span<const std::string_view> units, double step) {
  size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return Cat(Format(value >= 99.95   ? "%.0f"
                    : value >= 9.995 ? "%.1f"
                                     : "%.2f",
                    value),
             " ", units[unit]);
}

std::string Sizes(const std::array<size_t, 3>& sizes) {
  // Trailing sizes of 1 are omitted.
  size_t n = 3;
  while (n > 1 && sizes[n - 1] == 1) --n;
  std::string text;
  for (size_t d = 0; d < n; ++d) text += Cat(d > 0 ? "x" : "", sizes[d]);
  return text;
}

double Seconds(std::span<const LaunchTimes> times, size_t i) {
  return i < times.size() ? times[i].seconds() : 0;
}

std::string Rate(double amount, double seconds) {
  return seconds > 0 ? Format("%.1f", amount / seconds * 1e-9) : "-";
}

// A cell's text and its displayed width.
struct Cell {
  std::string text;
  size_t width = 0;
};
Cell Plain(std::string text) {
  const size_t width = text.size();
  return {std::move(text), width};
}

constexpr size_t kNameColumn = 1, kLastColumn = 10;  // these are left-aligned, others right-aligned
using Row = std::array<Cell, kLastColumn + 1>;

Row Headings() {
  constexpr std::array<std::string_view, kLastColumn + 1> kTitles = {
      "", "kernel", "global", "local", "args", "memory", "time", "GFLOP/s", "GB/s", "ld/st", ""};
  Row row;
  for (size_t c = 0; c < row.size(); ++c) row[c] = Plain(std::string(kTitles[c]));
  return row;
}

Row RowOf(const PlannedKernel& kernel, size_t number, double seconds, bool color) {
  const double accessed = kernel.work.load_bytes + kernel.work.store_bytes;
  const double touched = std::min(accessed, static_cast<double>(kernel.buffer_bytes));
  Row row;
  row[0] = Plain(std::to_string(number));
  row[4] = Plain(std::to_string(kernel.num_args));
  row[5] = Plain(FormatBytes(static_cast<double>(kernel.buffer_bytes)));
  row[6] = Plain(seconds > 0 ? FormatSeconds(seconds) : "-");
  row[7] = Plain(Rate(kernel.work.ops, seconds));
  row[8] = Plain(Rate(touched, seconds));
  row[9] = Plain(Rate(accessed, seconds));
  if (kernel.kernel == nullptr) {
    row[kNameColumn] = Plain("copy");
    return row;
  }
  std::string metadata;
  for (const std::string& what : kernel.kernel->metadata) {
    metadata += Cat(metadata.empty() ? "[" : ", ", what);
  }
  if (!metadata.empty()) metadata += "]";
  if (!kernel.depends_on_input) metadata = Cat("no input", metadata.empty() ? "" : " ", metadata);
  const std::string name = color ? ColoredName(*kernel.kernel) : kernel.kernel->name;
  row[kNameColumn] = {name, kernel.kernel->name.size()};
  row[2] = Plain(kernel.empty ? "none" : Sizes(kernel.range.global));
  row[3] = Plain(Sizes(kernel.range.local));
  row[kLastColumn] = Plain(metadata);
  return row;
}

}  // namespace

std::string FormatSeconds(double seconds) {
  constexpr std::array<std::string_view, 2> kSmall = {"us", "ms"};
  if (seconds >= 1) return Cat(Format("%.2f", seconds), " s");
  return Scaled(seconds * 1e6, kSmall, 1000);
}

std::string FormatBytes(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return Cat(static_cast<int64_t>(bytes), " B");
  return Scaled(bytes, kUnits, 1000);
}

std::string KernelTable(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                        bool color) {
  std::vector<Row> rows = {Headings()};
  for (size_t i = 0; i < kernels.size(); ++i) {
    rows.push_back(RowOf(kernels[i], i + 1, Seconds(times, i), color));
  }
  std::array<size_t, kLastColumn + 1> widths{};
  for (const Row& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].width);
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - row[c].width, ' ');
      const bool left = c == kNameColumn || c == kLastColumn;
      line += Cat(c > 0 ? "  " : "", left ? "" : space, row[c].text, left ? space : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string DependenceSummary(std::span<const PlannedKernel> kernels,
                              std::span<const PlannedKernel> once) {
  const auto count = [](std::span<const PlannedKernel> list, auto counts) {
    return static_cast<size_t>(std::count_if(
        list.begin(), list.end(), [&](const auto& k) { return k.kernel != nullptr && counts(k); }));
  };
  const auto any = [](const PlannedKernel&) { return true; };
  const size_t every_run = count(kernels, any), at_first = count(once, any);
  const size_t depend = count(kernels, [](const PlannedKernel& k) { return k.depends_on_input; });
  const size_t all = every_run + at_first;
  std::string text = Cat(all, all == 1 ? " kernel, " : " kernels, ", depend,
                         depend == 1 ? " depends on the input" : " depend on the input");
  if (at_first > 0) text += Cat("; ", at_first, at_first == 1 ? " runs once" : " run once");
  if (every_run > depend) text += Cat("; ", every_run - depend, " in each run without it");
  return text;
}

std::string RunSummary(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                       double wall_seconds) {
  double ops = 0, seconds = 0;
  size_t copies = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    copies += kernels[i].kernel == nullptr;
    if (!kernels[i].empty) ops += kernels[i].work.ops;
    seconds += Seconds(times, i);
  }
  constexpr std::array<std::string_view, 5> kUnits = {"OPS", "kOPS", "MOPS", "GOPS", "TOPS"};
  const size_t count = kernels.size() - copies;
  std::string text = Cat(count, count == 1 ? " kernel, " : " kernels, ",
                         copies == 0   ? std::string()
                         : copies == 1 ? "1 copy between devices, "
                                       : Cat(copies, " copies between devices, "),
                         ops < 1000 ? Format("%.0f OPS", ops) : Scaled(ops, kUnits, 1000), ", ");
  if (!times.empty()) text += Cat(FormatSeconds(seconds), " on the device, ");
  text += Cat(FormatSeconds(wall_seconds), " in all");
  const double basis = times.empty() ? wall_seconds : seconds;
  if (basis > 0) text += Cat(" (", Format("%.2f", ops / basis * 1e-9), " GFLOP/s)");
  return text;
}

}  // namespace tg::runtime
