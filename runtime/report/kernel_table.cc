#include "runtime/report/kernel_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"

namespace tg::runtime {
namespace {

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
  return seconds > 0 ? FormatNumber("%.1f", amount / seconds * 1e-9) : "-";
}

constexpr size_t kNameColumn = 1, kLastColumn = 10;  // these are left-aligned, others right-aligned
constexpr size_t kNodesInTable = 3;                  // of one kernel
using Row = std::vector<Cell>;

Row Headings() {
  Row row;
  for (const char* title : {"", "kernel", "global", "local", "args", "memory", "time", "GFLOP/s",
                            "GB/s", "ld/st", ""}) {
    row.emplace_back(std::string(title));
  }
  return row;
}

Row RowOf(const PlannedKernel& kernel, size_t number, double seconds, bool color) {
  const double accessed = kernel.work.load_bytes + kernel.work.store_bytes;
  Row row(kLastColumn + 1);
  row[0] = Cell(std::to_string(number));
  row[4] = Cell(std::to_string(kernel.num_args));
  row[5] = Cell(FormatBytes(static_cast<double>(kernel.buffer_bytes)));
  row[6] = Cell(seconds > 0 ? FormatSeconds(seconds) : "-");
  row[7] = Cell(Rate(kernel.work.ops, seconds));
  row[8] = Cell(Rate(TouchedBytes(kernel), seconds));
  row[9] = Cell(Rate(accessed, seconds));
  if (kernel.kernel == nullptr) {
    row[kNameColumn] = Cell("copy");
    return row;
  }
  std::string metadata;
  for (const std::string& what : kernel.kernel->metadata) {
    metadata += Cat(metadata.empty() ? "[" : ", ", what);
  }
  if (!metadata.empty()) metadata += "]";
  if (!kernel.depends_on_input) metadata = Cat("no input", metadata.empty() ? "" : " ", metadata);
  const std::string name = color ? kernel.kernel->colored_name : kernel.kernel->name;
  row[kNameColumn] = Cell(name, kernel.kernel->name.size());
  row[2] = Cell(kernel.empty ? "none" : Sizes(kernel.range.global));
  row[3] = Cell(Sizes(kernel.range.local));
  const std::string nodes = DescribeNodes(kernel, kNodesInTable);
  if (!nodes.empty()) metadata += Cat(metadata.empty() ? "" : "  ", nodes);
  row[kLastColumn] = Cell(metadata);
  return row;
}

}  // namespace

std::string DescribeSchedule(const Kernel& kernel) {
  std::string text;
  for (const Axis& axis : kernel.axes) {
    text += Cat(text.empty() ? "" : ", ", axis.name, ":", axis.size, axis.symbolic ? "* " : " ",
                AxisKindName(axis.kind));
  }
  std::string directives;
  for (const Directive& directive : kernel.directives) {
    directives += Cat(directives.empty() ? "; " : ", ", directive.name, "(");
    for (size_t i = 0; i < directive.args.size(); ++i) {
      const DirectiveArg& arg = directive.args[i];
      directives +=
          Cat(i > 0 ? ", " : "", arg.ident.empty() ? std::to_string(arg.number) : arg.ident);
    }
    directives += ")";
  }
  return text + directives;
}

double TouchedBytes(const PlannedKernel& kernel) {
  const double accessed = kernel.work.load_bytes + kernel.work.store_bytes;
  return std::min(accessed, static_cast<double>(kernel.buffer_bytes));
}

std::string KernelTable(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                        bool color, bool slowest_first) {
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (slowest_first) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return Seconds(times, a) > Seconds(times, b); });
  }
  std::vector<Row> rows = {Headings()};
  for (const size_t i : order) {
    rows.push_back(RowOf(kernels[i], i + 1, Seconds(times, i), color));
  }
  constexpr std::array kLeft = {kNameColumn, kLastColumn};
  return FormatTable(rows, kLeft);
}

std::string DescribeNodes(const PlannedKernel& kernel, size_t limit) {
  std::string text;
  if (kernel.nodes.empty()) return text;
  const size_t n = limit == 0 ? kernel.nodes.size() : std::min(limit, kernel.nodes.size());
  for (size_t i = 0; i < n; ++i) text += Cat(i > 0 ? ", " : "", kernel.nodes[i]);
  if (n < kernel.nodes.size()) text += Cat(" and ", kernel.nodes.size() - n, " more");
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    text += Cat(i > 0 ? ", " : " -> ", kernel.tensors[i]);
  }
  return text;
}

namespace {

// Kernels that are counted together.
struct NodeSum {
  size_t kernels = 0;
  double seconds = 0;
  std::set<std::string> fused;
};
using NodeSums = std::map<std::string, NodeSum>;

// "Conv" of "Conv 'conv1'".
std::string OperatorOf(const std::string& node) { return node.substr(0, node.find(' ')); }

std::string NodeTable(const char* title, const NodeSums& sums, double total, size_t limit) {
  std::vector<const NodeSums::value_type*> order;
  for (const auto& sum : sums) order.push_back(&sum);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.seconds > b->second.seconds;
  });
  std::vector<Row> rows = {{Cell(title), Cell("kernels"), Cell("time"), Cell(""), Cell("")}};
  for (size_t i = 0; i < order.size() && (limit == 0 || i < limit); ++i) {
    const NodeSum& sum = order[i]->second;
    std::string fused;
    for (const std::string& other : sum.fused) fused += Cat(fused.empty() ? "with " : ", ", other);
    rows.push_back({Cell(order[i]->first), Cell(std::to_string(sum.kernels)),
                    Cell(FormatSeconds(sum.seconds)),
                    Cell(FormatNumber("%.1f%%", 100 * sum.seconds / total)), Cell(fused)});
  }
  constexpr std::array<size_t, 2> kLeft = {0, 4};
  return FormatTable(rows, kLeft);
}

}  // namespace

std::string NodeTables(std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                       size_t limit) {
  NodeSums operators, nodes;
  double total = 0;
  bool has_nodes = false;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const double seconds = Seconds(times, i);
    total += seconds;
    if (kernels[i].kernel == nullptr) continue;
    const std::vector<std::string>& of = kernels[i].nodes;
    has_nodes = has_nodes || !of.empty();
    const std::string main = of.empty() ? "(no node)" : of[0];
    for (NodeSum* sum : {&operators[of.empty() ? main : OperatorOf(main)], &nodes[main]}) {
      ++sum->kernels;
      sum->seconds += seconds;
      for (size_t k = 1; k < of.size(); ++k) {
        const std::string other = OperatorOf(of[k]);
        if (other != OperatorOf(main)) sum->fused.insert(other);
      }
    }
  }
  if (!has_nodes || !(total > 0)) return "";
  std::string text = NodeTable("operator", operators, total, 0);
  if (limit > 0) text += NodeTable("node", nodes, total, limit);
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
  std::string text =
      Cat(count, count == 1 ? " kernel, " : " kernels, ",
          copies == 0   ? std::string()
          : copies == 1 ? "1 copy between devices, "
                        : Cat(copies, " copies between devices, "),
          ops < 1000 ? FormatNumber("%.0f OPS", ops) : FormatScaled(ops, kUnits, 1000), ", ");
  if (!times.empty()) text += Cat(FormatSeconds(seconds), " on the device, ");
  text += Cat(FormatSeconds(wall_seconds), " in all");
  if (!times.empty() && wall_seconds > seconds) {
    text += Cat(", ", FormatSeconds(wall_seconds - seconds), " of it beyond kernels");
  }
  const double basis = times.empty() ? wall_seconds : seconds;
  if (basis > 0) text += Cat(" (", FormatNumber("%.2f", ops / basis * 1e-9), " GFLOP/s)");
  return text;
}

}  // namespace tg::runtime
