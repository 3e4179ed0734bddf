#include "tools/run/show.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

#include "base/status.h"
#include "runtime/report/format.h"
#include "runtime/report/tensor_difference.h"

namespace tg::run {
namespace {

using runtime::Doubles;
using runtime::HostTensor;

constexpr int64_t kMaxNumbers = 16, kMaxColumns = 80;

std::string Heading(const std::string& name, const HostTensor& tensor) {
  return Cat("@", name, " ", runtime::TypeAndShape(tensor.type, tensor.shape), "\n");
}

// The number of elements of the last `axes` axes, and the number of such blocks in the tensor.
struct Split {
  int64_t outer = 1, inner = 1;
};
Split SplitShape(const HostTensor& tensor, size_t axes) {
  Split split;
  const size_t rank = tensor.shape.size();
  for (size_t d = 0; d < rank; ++d) {
    (d + axes >= rank ? split.inner : split.outer) *= tensor.shape[d];
  }
  return split;
}

int64_t Limited(int64_t n, int64_t limit) { return limit > 0 ? std::min(n, limit) : n; }

// "  (3 more rows)" if rows are omitted; `what` is the singular noun.
std::string Rest(int64_t shown, int64_t all, std::string_view what) {
  if (shown >= all) return "";
  return Cat("  (", all - shown, " more ", what, all - shown == 1 ? ")\n" : "s)\n");
}

bool IsFloat(runtime::ElementType type) {
  using runtime::ElementType;
  switch (type) {
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
    case ElementType::kF64:
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
      return true;
    default:
      return false;
  }
}

std::string ClassName(int64_t c, std::span<const std::string> names) {
  return c >= 0 && c < static_cast<int64_t>(names.size()) ? names[static_cast<size_t>(c)]
                                                          : std::to_string(c);
}

// exp(score - max) / sum. NaN if a score is not finite.
std::vector<double> Softmax(std::span<const double> scores) {
  const double greatest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> out;
  double sum = 0;
  for (const double s : scores) {
    out.push_back(std::exp(s - greatest));
    sum += out.back();
  }
  for (double& p : out) p /= sum;
  return out;
}

// Whether every row is a distribution: non-negative numbers with the sum 1, up to the error of
// rounding to bf16.
bool AreDistributions(std::span<const double> values, size_t width) {
  constexpr double kTolerance = 4e-3;
  for (size_t r = 0; r + width <= values.size(); r += width) {
    const std::span<const double> row = values.subspan(r, width);
    double sum = 0;
    for (const double v : row) {
      if (!(v >= 0)) return false;
      sum += v;
    }
    if (!(std::abs(sum - 1) <= kTolerance)) return false;
  }
  return width > 0;
}

std::vector<double> Shares(std::span<const double> scores, bool are_shares) {
  return are_shares ? std::vector<double>(scores.begin(), scores.end()) : Softmax(scores);
}

// All classes in their order, or the best `limit` of many.
std::string OneRow(std::span<const double> scores, bool are_shares, int64_t best,
                   std::span<const std::string> names, int64_t limit) {
  const std::vector<double> shares = Shares(scores, are_shares);
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto all = static_cast<int64_t>(order.size());
  const int64_t shown = all > kMaxNumbers ? Limited(all, limit) : all;
  if (shown < all) {
    std::ranges::stable_sort(order, std::greater(), [&](size_t c) {
      return std::isnan(scores[c]) ? -INFINITY : scores[c];
    });
    order.resize(static_cast<size_t>(shown));
  }
  size_t width = 0;
  for (const size_t c : order) {
    width = std::max(width, ClassName(static_cast<int64_t>(c), names).size());
  }
  std::string text;
  for (const size_t c : order) {
    const std::string name = ClassName(static_cast<int64_t>(c), names);
    const std::string bar(shares[c] > 0 ? static_cast<size_t>(std::lround(shares[c] * 30)) : 0,
                          '#');
    std::string line = Cat("  ", std::string(width - name.size(), ' '), name,
                           runtime::FormatNumber("  %10.4f", scores[c]),
                           runtime::FormatNumber("  %6.2f %%  ", shares[c] * 100), bar,
                           static_cast<int64_t>(c) == best ? " <--" : "");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + (shown < all ? Cat("  (", all - shown, " more classes)\n") : "");
}

}  // namespace

std::string PrintTensor(const std::string& name, const HostTensor& tensor, int64_t limit) {
  std::string text = Heading(name, tensor);
  const std::vector<double> values = Doubles(tensor);
  const Split split = SplitShape(tensor, 1);
  const int64_t rows = Limited(split.outer, limit);
  const int64_t numbers = limit > 0 ? std::min(split.inner, kMaxNumbers) : split.inner;
  const char* format = IsFloat(tensor.type) ? " %.6g" : " %.0f";
  for (int64_t r = 0; r < rows && split.inner > 0; ++r) {
    text += " ";
    for (int64_t i = 0; i < numbers; ++i) {
      text += runtime::FormatNumber(format, values[static_cast<size_t>(r * split.inner + i)]);
    }
    text += numbers < split.inner ? Cat(" ... (", split.inner - numbers, " more)\n") : "\n";
  }
  return text + Rest(rows, split.outer, "row");
}

std::string ShowTensor(const std::string& name, const HostTensor& tensor, int64_t limit) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  std::string text = Heading(name, tensor);
  const std::vector<double> values = Doubles(tensor);
  const Split split = SplitShape(tensor, 2);
  const int64_t width = tensor.shape.empty() ? 1 : tensor.shape.back();
  const int64_t pictures = Limited(split.outer, limit);
  for (int64_t p = 0; p < pictures && split.inner > 0; ++p) {
    const auto begin = values.begin() + p * split.inner;
    double low = INFINITY, high = -INFINITY;
    for (auto v = begin; v != begin + split.inner; ++v) {
      if (!std::isfinite(*v)) continue;
      low = std::min(low, *v);
      high = std::max(high, *v);
    }
    if (p > 0) text += "\n";
    for (int64_t y = 0; y < split.inner / width; ++y) {
      std::string line = "  ";
      for (int64_t x = 0; x < std::min(width, kMaxColumns); ++x) {
        const double v = begin[y * width + x];
        const double share = high > low ? (v - low) / (high - low) : 0;
        const auto shade = static_cast<size_t>(
            std::clamp(share, 0.0, 1.0) * static_cast<double>(kShades.size() - 1) + 0.5);
        const char c = std::isnan(v) ? '?' : kShades[shade];
        line += {c, c};
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text + Rest(pictures, split.outer, "picture");
}

absl::StatusOr<Classification> Classify(const std::string& name, const HostTensor& scores,
                                        const HostTensor* labels) {
  const Split split = SplitShape(scores, 1);
  if (split.inner == 0 || scores.shape.empty()) {
    return InvalidArgument("@", name, " is ", runtime::TypeAndShape(scores.type, scores.shape),
                           ", which has no rows of scores");
  }
  const std::vector<double> values = Doubles(scores);
  Classification found;
  for (int64_t r = 0; r < split.outer; ++r) {
    const auto row = values.begin() + r * split.inner;
    found.classes.push_back(std::max_element(row, row + split.inner) - row);
  }
  if (labels == nullptr) return found;
  const std::vector<double> expected = Doubles(*labels);
  if (IsFloat(labels->type) || expected.size() != found.classes.size()) {
    return InvalidArgument("the labels are ", runtime::TypeAndShape(labels->type, labels->shape),
                           "; @", name, " needs ", found.classes.size(), " integers");
  }
  for (size_t r = 0; r < expected.size(); ++r) {
    found.right += static_cast<double>(found.classes[r]) == expected[r];
  }
  return found;
}

std::string DescribeClasses(const std::string& name, const HostTensor& scores,
                            const Classification& found, const HostTensor* labels,
                            std::span<const std::string> names, int64_t limit) {
  const std::vector<double> values = Doubles(scores);
  const size_t width = values.size() / std::max<size_t>(1, found.classes.size());
  const auto row = [&](size_t r) { return std::span(values).subspan(r * width, width); };
  const std::vector<double> expected = labels ? Doubles(*labels) : std::vector<double>();
  std::string text = Heading(name, scores);
  const bool are_shares = AreDistributions(values, width);
  if (found.classes.size() == 1) {
    text += OneRow(row(0), are_shares, found.classes[0], names, limit);
    return text + Cat("class ", ClassName(found.classes[0], names), "\n");
  }
  const auto is_wrong = [&](size_t r) {
    return labels && expected[r] != static_cast<double>(found.classes[r]);
  };
  std::vector<size_t> order(found.classes.size());
  for (size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::stable_partition(order.begin(), order.end(), is_wrong);
  const auto all = static_cast<int64_t>(order.size());
  const int64_t shown = Limited(all, limit);
  for (const size_t r : std::span(order).first(static_cast<size_t>(shown))) {
    const auto best = static_cast<size_t>(found.classes[r]);
    text += Cat("  row ", r, ": class ", ClassName(found.classes[r], names),
                runtime::FormatNumber(" (%.2f %%)", Shares(row(r), are_shares)[best] * 100));
    if (is_wrong(r)) {
      text += Cat(", but the label is ", ClassName(static_cast<int64_t>(expected[r]), names));
    }
    text += "\n";
  }
  return text + Rest(shown, all, "row");
}

}  // namespace tg::run
