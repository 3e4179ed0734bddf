// Two reports as a table.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/status.h"
#include "runtime/report/format.h"
#include "runtime/report/run_report.h"

namespace tg::runtime {
namespace {

// A kernel of A, of B, or one of each that correspond.
struct Pair {
  const KernelReport* a = nullptr;
  const KernelReport* b = nullptr;
};

using Kernels = std::span<const KernelReport>;

bool SameName(const KernelReport& a, const KernelReport& b) { return a.name == b.name; }
bool SameWork(const KernelReport& a, const KernelReport& b) {
  return !a.made_of.empty() && a.made_of == b.made_of;
}

// Pairs the kernels of a longest common subsequence, in the order of both lists. Calls `gap` with
// the kernels between two pairs that have no counterpart.
template <typename Gap>
void Match(Kernels a, Kernels b, bool (*equal)(const KernelReport&, const KernelReport&),
           std::vector<Pair>& pairs, const Gap& gap) {
  size_t head = 0, tail = 0;
  while (head < std::min(a.size(), b.size()) && equal(a[head], b[head])) ++head;
  while (head + tail < std::min(a.size(), b.size()) &&
         equal(a[a.size() - 1 - tail], b[b.size() - 1 - tail])) {
    ++tail;
  }
  for (size_t i = 0; i < head; ++i) pairs.push_back({&a[i], &b[i]});
  const Kernels x = a.subspan(head, a.size() - head - tail);
  const Kernels y = b.subspan(head, b.size() - head - tail);
  // The length of the longest common subsequence from kernel i of x and k of y on.
  std::vector<uint32_t> lengths((x.size() + 1) * (y.size() + 1), 0);
  const auto length = [&](size_t i, size_t k) -> uint32_t& {
    return lengths[i * (y.size() + 1) + k];
  };
  for (size_t i = x.size(); i-- > 0;) {
    for (size_t k = y.size(); k-- > 0;) {
      length(i, k) = equal(x[i], y[k]) ? length(i + 1, k + 1) + 1
                                       : std::max(length(i + 1, k), length(i, k + 1));
    }
  }
  size_t i = 0, k = 0, gap_i = 0, gap_k = 0;
  while (length(i, k) > 0) {
    if (equal(x[i], y[k])) {
      gap(x.subspan(gap_i, i - gap_i), y.subspan(gap_k, k - gap_k));
      pairs.push_back({&x[i++], &y[k++]});
      gap_i = i;
      gap_k = k;
    } else {
      (length(i + 1, k) >= length(i, k + 1) ? i : k) += 1;
    }
  }
  gap(x.subspan(gap_i), y.subspan(gap_k));
  for (size_t t = tail; t-- > 0;) {
    pairs.push_back({&a[a.size() - 1 - t], &b[b.size() - 1 - t]});
  }
}

// Kernels correspond by name, and between these by what they compute: a schedule changes the name.
std::vector<Pair> MatchKernels(Kernels a, Kernels b) {
  std::vector<Pair> pairs;
  const auto leave = [&](Kernels x, Kernels y) {
    for (const KernelReport& kernel : x) pairs.push_back({&kernel, nullptr});
    for (const KernelReport& kernel : y) pairs.push_back({nullptr, &kernel});
  };
  Match(a, b, SameName, pairs, [&](Kernels x, Kernels y) { Match(x, y, SameWork, pairs, leave); });
  return pairs;
}

std::string NameOf(const Pair& pair) {
  if (pair.a == nullptr) return pair.b->name;
  if (pair.b == nullptr || SameName(*pair.a, *pair.b)) return pair.a->name;
  return Cat(pair.a->name, " -> ", pair.b->name);
}

std::string Giga(std::optional<double> rate) {
  return rate ? FormatNumber("%.1f", *rate * 1e-9) : "-";
}

std::string Change(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || *a <= 0) return "-";
  return FormatNumber("%+.1f %%", 100 * (*b / *a - 1));
}

// A figure of A and of B: the texts, and the change.
void AddFigure(std::vector<std::vector<Cell>>& rows, const char* what, double a, double b,
               std::string (*format)(double)) {
  rows.push_back({std::string(what), format(a), format(b), Change(a, b)});
}

std::string Count(double value) { return FormatNumber("%.0f", value); }
std::string Rate(double value) { return FormatNumber("%.1f", value * 1e-9); }

std::string_view SourceOf(const KernelReport& kernel, const RunReport& report) {
  if (!kernel.source) return "";
  return report.sources[static_cast<size_t>(*kernel.source)];
}

// How many kernels differ, and where.
std::string Differences(const RunReport& a, const RunReport& b, const std::vector<Pair>& pairs) {
  size_t same = 0, changed = 0, only_a = 0, only_b = 0;
  for (const Pair& pair : pairs) {
    if (pair.b == nullptr) {
      ++only_a;
    } else if (pair.a == nullptr) {
      ++only_b;
    } else {
      ++(SourceOf(*pair.a, a) == SourceOf(*pair.b, b) ? same : changed);
    }
  }
  return Cat("of the kernels, ", same, " have the same source in A and B, ", changed,
             " another one, ", only_a, " are only in A, ", only_b, " only in B\n");
}

std::string TableOfKernels(const RunReport& a, const RunReport& b, const std::vector<Pair>& pairs) {
  std::vector<std::vector<Cell>> rows(1);
  for (const char* title : {"A", "B", "kernel", "lines A", "lines B", "time A", "time B", "change",
                            "GFLOP/s A", "GFLOP/s B", "GB/s A", "GB/s B"}) {
    rows[0].emplace_back(std::string(title));
  }
  for (const Pair& pair : pairs) {
    std::array<std::string, 2> number, lines, time, flops, bandwidth;
    std::array<std::optional<double>, 2> seconds;
    for (size_t side = 0; side < 2; ++side) {
      const KernelReport* kernel = side == 0 ? pair.a : pair.b;
      number[side] = lines[side] = time[side] = flops[side] = bandwidth[side] = "-";
      if (kernel == nullptr) continue;
      const std::vector<KernelReport>& all = side == 0 ? a.kernels : b.kernels;
      number[side] = std::to_string(kernel - all.data() + 1);
      lines[side] = std::to_string(kernel->source_lines);
      seconds[side] = kernel->seconds;
      if (kernel->seconds) time[side] = FormatSeconds(*kernel->seconds);
      flops[side] = Giga(kernel->flops);
      bandwidth[side] = Giga(kernel->bandwidth);
    }
    rows.push_back({number[0], number[1], NameOf(pair), lines[0], lines[1], time[0], time[1],
                    Change(seconds[0], seconds[1]), flops[0], flops[1], bandwidth[0],
                    bandwidth[1]});
  }
  constexpr std::array<size_t, 1> kLeft = {2};
  return FormatTable(rows, kLeft);
}

}  // namespace

std::string CompareReports(std::string_view name_a, const RunReport& a, std::string_view name_b,
                           const RunReport& b) {
  std::string text;
  for (const auto& [side, name, report] :
       {std::tuple("A", name_a, &a), std::tuple("B", name_b, &b)}) {
    text += Cat(side, ": ", name, ": ", report->model, ", graph @", report->graph);
    for (const DeviceReport& device : report->devices) {
      text += Cat(", ", device.name, ", target ", device.target);
    }
    text += "\n";
  }
  const std::vector<Pair> pairs = MatchKernels(a.kernels, b.kernels);
  text += "\n" + TableOfKernels(a, b, pairs) + "\n" + Differences(a, b, pairs) + "\n";
  std::vector<std::vector<Cell>> rows = {
      {std::string("in all"), std::string("A"), std::string("B"), std::string("change")}};
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const auto rate = [](const RunReport& r, double amount) {
    return r.totals.device_seconds > 0 ? amount / r.totals.device_seconds : 0;
  };
  const TotalsReport &s = a.totals, &t = b.totals;
  AddFigure(rows, "kernels", number(s.kernels), number(t.kernels), Count);
  AddFigure(rows, "different sources", number(s.sources), number(t.sources), Count);
  AddFigure(rows, "lines of source", number(s.source_lines), number(t.source_lines), Count);
  AddFigure(rows, "time on the device", s.device_seconds, t.device_seconds, FormatSeconds);
  AddFigure(rows, "time of a run", s.run_seconds, t.run_seconds, FormatSeconds);
  AddFigure(rows, "GFLOP/s", rate(a, s.ops), rate(b, t.ops), Rate);
  AddFigure(rows, "GB/s", rate(a, s.touched_bytes), rate(b, t.touched_bytes), Rate);
  AddFigure(rows, "device memory", number(a.memory.peak_bytes), number(b.memory.peak_bytes),
            FormatBytes);
  AddFigure(rows, "temporaries", number(a.memory.temporary_bytes), number(b.memory.temporary_bytes),
            FormatBytes);
  constexpr std::array<size_t, 1> kLeft = {0};
  return text + FormatTable(rows, kLeft);
}

}  // namespace tg::runtime
