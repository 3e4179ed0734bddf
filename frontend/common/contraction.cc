// Products that are summed.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"

namespace tg::frontend {

Value GraphBuilder::MatMul(Value a, Value b) {
  if (!a || !b) return nullptr;
  if (a->dtype != b->dtype) {
    return Fail(absl::StrCat("a product of ", Describe(a), " and ", Describe(b)));
  }
  if (Rank(a) == 0 || Rank(b) == 0) return Fail("a matrix product with a scalar");
  const bool row = Rank(a) == 1, column = Rank(b) == 1;
  if (row) a = Unsqueeze(a, 0);
  if (column) b = Unsqueeze(b, 1);
  const Dim ka = Extent(a, static_cast<int64_t>(Rank(a)) - 1);
  const Dim kb = Extent(b, static_cast<int64_t>(Rank(b)) - 2);
  if (ka != kb && !ka.is_symbolic() && !kb.is_symbolic()) {
    return Fail(absl::StrCat("a product of ", Describe(a), " and ", Describe(b)));
  }
  const Scalar type = a->dtype.scalar();
  // [..., m, 1, k] times [..., 1, n, k].
  const Value left = Unsqueeze(Widen(a), -2), right = Unsqueeze(SwapAxes(Widen(b), -1, -2), -3);
  Value product = Cast(Sum(Mul(left, right), {-1}), type);
  if (row) product = Squeeze(product, -2);
  if (column) product = Squeeze(product, -1);
  return product;
}

Value GraphBuilder::Einsum(std::string_view equation, std::span<const Value> operands) {
  std::string text;
  for (const char c : equation) {
    if (c != ' ') text += c;
  }
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  // One list of labels for each operand. The axes of an ellipsis get labels that no letter has,
  // from the last axis on.
  std::vector<std::vector<int>> labels(1);
  size_t operand = 0;
  size_t ellipsis_rank = 0;
  constexpr int kEllipsis = 256;  // kEllipsis + i: the i-th axis from the right under an ellipsis
  const auto letters = [](std::string_view s) {
    return static_cast<size_t>(std::count_if(s.begin(), s.end(), [](char c) { return c != '.'; }));
  };
  for (size_t start = 0; start <= left.size(); ++operand) {
    const size_t end = std::min(left.find(',', start), left.size());
    const std::string_view term = std::string_view(left).substr(start, end - start);
    start = end + 1;
    if (operand >= operands.size()) return Fail("an equation of more operands than there are");
    if (!operands[operand]) return nullptr;
    std::vector<int>& list = labels.size() > operand ? labels[operand] : labels.emplace_back();
    const size_t rank = Rank(operands[operand]);
    for (size_t i = 0; i < term.size(); ++i) {
      if (term.substr(i, 3) == "...") {
        if (letters(term) > rank) return Fail("an equation of more axes than there are");
        const size_t n = rank - letters(term);
        ellipsis_rank = std::max(ellipsis_rank, n);
        for (size_t k = n; k-- > 0;) list.push_back(kEllipsis + static_cast<int>(k));
        i += 2;
      } else if (term[i] >= 'A' && term[i] <= 'z') {
        list.push_back(term[i]);
      } else {
        return Fail("the equation '" + std::string(equation) + "'");
      }
    }
    if (list.size() != rank) {
      return Fail(
          absl::StrCat("'", std::string(term), "' for an operand ", Describe(operands[operand])));
    }
  }
  if (operand != operands.size()) return Fail("an equation of fewer operands than there are");

  std::map<int, int> uses;
  for (const auto& list : labels) {
    for (const int label : list) ++uses[label];
  }
  std::vector<int> result;
  const auto add_ellipsis = [&] {
    for (size_t k = ellipsis_rank; k-- > 0;) result.push_back(kEllipsis + static_cast<int>(k));
  };
  if (arrow == std::string::npos) {
    add_ellipsis();
    for (const auto& [label, count] : uses) {
      if (label < kEllipsis && count == 1) result.push_back(label);
    }
  } else {
    const std::string right = text.substr(arrow + 2);
    for (size_t i = 0; i < right.size(); ++i) {
      if (right.compare(i, 3, "...") == 0) {
        add_ellipsis();
        i += 2;
      } else if (uses.count(right[i])) {
        result.push_back(right[i]);
      } else {
        return Fail("the equation '" + std::string(equation) + "'");
      }
    }
  }
  std::vector<int> order = result;
  for (const auto& [label, count] : uses) {
    if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  }

  Value product = nullptr;
  Scalar type = operands[0]->dtype.scalar();
  for (size_t i = 0; i < operands.size(); ++i) {
    Value x = Widen(operands[i]);
    std::vector<int>& list = labels[i];
    // A label twice in one operand: its diagonal.
    for (size_t p = 0; p < list.size(); ++p) {
      for (size_t q = p + 1; q < list.size(); ++q) {
        if (list[p] != list[q]) continue;
        const Dim n = Extent(x, static_cast<int64_t>(p));
        Shape rows(Rank(x), Dim(1)), columns(Rank(x), Dim(1));
        rows[p] = n;
        columns[q] = n;
        const Value on =
            Eq(Reshape(Arange(Scalar::kI32, n), rows), Reshape(Arange(Scalar::kI32, n), columns));
        x = Sum(Where(on, x, Like(x, 0)), {static_cast<int64_t>(q)});
        list.erase(list.begin() + static_cast<ptrdiff_t>(q--));
      }
    }
    // Its axes in the common order, missing ones of extent 1.
    Ints permutation;
    Shape shape;
    for (const int label : order) {
      const auto at = std::find(list.begin(), list.end(), label);
      if (at == list.end()) {
        shape.push_back(1);
        continue;
      }
      permutation.push_back(at - list.begin());
      if (!x) return nullptr;
      shape.push_back(ShapeOf(x)[static_cast<size_t>(at - list.begin())]);
    }
    x = Reshape(Permute(x, permutation), shape);
    product = product ? Mul(product, x) : x;
  }
  Ints summed;
  for (size_t i = result.size(); i < order.size(); ++i) summed.push_back(static_cast<int64_t>(i));
  return Cast(Sum(product, summed), type);
}

}  // namespace tg::frontend
