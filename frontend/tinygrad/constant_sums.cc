#include "frontend/tinygrad/constant_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/verify/extent.h"

namespace tg::tinygrad {
namespace {

// The text may hold integers of any size.
using Wide = __int128;
constexpr Wide kLimit = Wide{1} << 100;

struct Expr {
  Wide number = 0;
  std::vector<Wide> factors;
};
using WideExtents = std::vector<Wide>;

bool Fits(Wide x) { return x >= -verify::kMaxExtent && x <= verify::kMaxExtent; }

bool MulAdd(Wide a, Wide b, Wide* sum) {
  Wide product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum) &&
         *sum > -kLimit && *sum < kLimit;
}

std::optional<Wide> WideNumber(const Node* n) {
  if (n->op != "CONST" || n->arg.kind != Kind::kInt) return std::nullopt;
  Wide number = 0;
  for (const char c : n->arg.text()) {
    if (c == '-') continue;
    number = number * 10 + (c - '0');
    if (number > kLimit) return std::nullopt;
  }
  return n->arg.text()[0] == '-' ? -number : number;
}

std::optional<WideExtents> ReadExtents(const Node& n, size_t i) {
  if (i >= n.num_srcs) return std::nullopt;
  const Node* list = n.src(i);
  WideExtents out;
  const size_t count = list->op == "STACK" ? list->num_srcs : 1;
  for (size_t k = 0; k < count; ++k) {
    const auto number = WideNumber(list->op == "STACK" ? list->src(k) : list);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

std::optional<Wide> WideProduct(const WideExtents& shape) {
  Wide size = 1;
  for (const Wide extent : shape) {
    Wide next = 0;
    if (extent < 0 || !MulAdd(size, extent, &next)) return std::nullopt;
    size = next;
  }
  return size;
}

// The shape after the movement op `n` is applied to `shape`; nullopt if it does not apply.
std::optional<WideExtents> Moved(const Node& n, const WideExtents& shape) {
  if (n.op == "PERMUTE") {
    WideExtents out;
    std::vector<bool> taken(shape.size());
    for (const Item& item : n.arg.list()) {
      const auto axis = static_cast<uint64_t>(item.value.number);
      if (item.value.kind != Kind::kInt || axis >= shape.size() || taken[axis]) return std::nullopt;
      taken[axis] = true;
      out.push_back(shape[axis]);
    }
    return out.size() == shape.size() ? std::optional(out) : std::nullopt;
  }
  if (n.op == "RESHAPE" || n.op == "EXPAND") {
    auto out = ReadExtents(n, 1);
    if (out && n.op == "EXPAND") out->insert(out->end(), shape.begin(), shape.end());
    const auto size = out ? WideProduct(*out) : std::nullopt;
    return size && (n.op == "EXPAND" || size == WideProduct(shape)) ? out : std::nullopt;
  }
  const auto offset = ReadExtents(n, 1);
  const auto out = ReadExtents(n, 2);
  if (!offset || !out || offset->size() != shape.size() || out->size() != shape.size()) {
    return std::nullopt;
  }
  for (size_t k = 0; k < shape.size(); ++k) {
    const Wide inner = n.op == "PAD" ? shape[k] : (*out)[k];
    const Wide outer = n.op == "PAD" ? (*out)[k] : shape[k];
    if ((*offset)[k] < 0 || inner < 0 || (*offset)[k] + inner > outer) return std::nullopt;
  }
  return out;
}

bool IsTooLarge(const WideExtents& shape) {
  const auto size = WideProduct(shape);
  return !size || *size >= Wide{1} << 62 || !std::all_of(shape.begin(), shape.end(), Fits);
}

// Represents coordinates of nodes as affine expressions of the coordinates of the sum's source,
// whose extents are `sizes`.
class Coordinates {
 public:
  explicit Coordinates(WideExtents sizes) : sizes_(std::move(sizes)) {
    for (size_t k = 0; k < sizes_.size(); ++k) {
      now_.push_back({0, WideExtents(sizes_.size())});
      now_.back().factors[k] = 1;
    }
  }

  struct Condition {
    Expr expr;
    Wide lower, upper;
  };
  const std::vector<Condition>& conditions() const { return conditions_; }

  // Rewrites coordinates of elements of `n` to coordinates in its source. `from`: shape of the
  // source. `to`: shape of n.
  bool Through(const Node& n, const WideExtents& from, const WideExtents& to) {
    if (n.op == "PERMUTE") {
      std::vector<Expr> source(now_.size());
      for (size_t k = 0; k < now_.size(); ++k) {
        source[static_cast<size_t>(n.arg.list()[k].value.number)] = now_[k];
      }
      now_ = std::move(source);
      return true;
    }
    if (n.op == "RESHAPE") return Reshape(from, to);
    if (n.op == "EXPAND") {
      now_.erase(now_.begin(), now_.end() - static_cast<std::ptrdiff_t>(from.size()));
      return true;
    }
    const auto offset = ReadExtents(n, 1);
    for (size_t k = 0; k < now_.size(); ++k) {
      if (n.op == "PAD") {
        conditions_.push_back({now_[k], (*offset)[k], (*offset)[k] + from[k]});
        now_[k].number -= (*offset)[k];
      } else {
        now_[k].number += (*offset)[k];
      }
    }
    return true;
  }

 private:
  bool Reshape(const WideExtents& from, const WideExtents& to) {
    Expr flat{0, WideExtents(sizes_.size())};
    Wide stride = 1;
    for (size_t k = to.size(); k-- > 0;) {
      if (!MulAdd(now_[k].number, stride, &flat.number)) return false;
      for (size_t i = 0; i < sizes_.size(); ++i) {
        if (!MulAdd(now_[k].factors[i], stride, &flat.factors[i])) return false;
      }
      Wide next = 0;
      if (!MulAdd(stride, to[k], &next)) return false;
      stride = next;
    }
    now_.assign(from.size(), {0, WideExtents(sizes_.size())});
    for (size_t k = from.size(); k-- > 0;) {
      if (k == 0) {
        now_[0] = flat;
        break;
      }
      if (from[k] <= 0 || !Split(from[k], &flat, &now_[k])) return false;
    }
    return true;
  }

  // Splits x into quotient * n + rest, term by term. Correct only if rest is always in [0, n).
  bool Split(Wide n, Expr* x, Expr* rest) const {
    const auto split = [n](Wide* a, Wide* b) {
      *b = (*a % n + n) % n;
      *a = (*a - *b) / n;
    };
    split(&x->number, &rest->number);
    Wide greatest = rest->number;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      split(&x->factors[i], &rest->factors[i]);
      if (!MulAdd(rest->factors[i], sizes_[i] - 1, &greatest)) return false;
    }
    return greatest < n;
  }

  const WideExtents sizes_;
  std::vector<Expr> now_;
  std::vector<Condition> conditions_;
};

// Subtracts from `bound` the terms of `expr` in all coordinates but the first.
std::optional<AffineExpr> Bound(Wide bound, const Expr& expr) {
  AffineExpr out;
  bool fits = Fits(bound - expr.number);
  out.number = fits ? static_cast<int64_t>(bound - expr.number) : 0;
  for (size_t k = 1; k < expr.factors.size(); ++k) {
    fits = fits && Fits(expr.factors[k]);
    out.factors.push_back(fits ? static_cast<int64_t>(-expr.factors[k]) : 0);
  }
  return fits ? std::optional(out) : std::nullopt;
}

std::pair<Wide, Wide> RangeOf(const AffineExpr& e, const std::vector<int64_t>& shape) {
  Wide least = e.number, greatest = e.number;
  for (size_t k = 0; k < shape.size(); ++k) {
    (e.factors[k] < 0 ? least : greatest) += Wide{e.factors[k]} * (shape[k] - 1);
  }
  return {least, greatest};
}

// Drops bounds that always hold, and turns the others into a count if they allow it.
void Simplify(ConstantSum& sum) {
  std::erase_if(sum.lower, [&](const auto& e) { return RangeOf(e, sum.shape).second <= 0; });
  std::erase_if(sum.upper,
                [&](const auto& e) { return RangeOf(e, sum.shape).first >= sum.extent; });
  if (sum.lower.size() + sum.upper.size() > 1) return;
  AffineExpr count{sum.extent, std::vector<int64_t>(sum.shape.size())};
  for (const AffineExpr& e : sum.lower) {
    count.number -= e.number;
    for (size_t k = 0; k < sum.shape.size(); ++k) count.factors[k] = -e.factors[k];
  }
  if (!sum.upper.empty()) count = sum.upper[0];
  const auto [least, greatest] = RangeOf(count, sum.shape);
  if (least >= 0 && greatest <= sum.extent) sum.count = count;
}

}  // namespace

std::optional<ConstantSum> FindConstantSum(const Node& reduce) {
  const auto items = reduce.arg.list();
  if (reduce.num_srcs != 1 || items.size() != 2 || !items[0].value.is_name("Ops.ADD") ||
      items[1].value.kind != Kind::kInt || items[1].value.number != 1) {
    return std::nullopt;
  }
  ConstantSum sum;
  sum.constant = reduce.src(0);
  while (sum.constant->op != "CONST") {
    const std::string_view op = sum.constant->op;
    const bool moves =
        op == "RESHAPE" || op == "EXPAND" || op == "PERMUTE" || op == "PAD" || op == "SHRINK";
    if (!moves || sum.constant->num_srcs == 0) return std::nullopt;
    sum.movements.push_back(sum.constant);
    sum.constant = sum.constant->src(0);
  }
  const Value& value = sum.constant->arg;
  const bool finite = value.kind == Kind::kFloat && std::isfinite(value.real);
  if (value.kind != Kind::kInt && !finite) return std::nullopt;

  std::vector<WideExtents> shapes{{}};  // from the constant to the sum
  bool too_large = false;
  for (size_t i = sum.movements.size(); i-- > 0;) {
    auto shape = Moved(*sum.movements[i], shapes.back());
    if (!shape) return std::nullopt;
    too_large |= IsTooLarge(*shape);
    shapes.push_back(*std::move(shape));
  }
  const WideExtents& sizes = shapes.back();
  if (!too_large || sizes.empty()) return std::nullopt;
  for (const Wide extent : sizes) {
    if (extent < 1 || !Fits(extent)) return std::nullopt;
  }
  Coordinates coordinates(sizes);
  for (size_t i = 0; i < sum.movements.size(); ++i) {
    const size_t at = shapes.size() - 1 - i;
    if (!coordinates.Through(*sum.movements[i], shapes[at - 1], shapes[at])) return std::nullopt;
  }
  sum.extent = static_cast<int64_t>(sizes[0]);
  for (size_t k = 1; k < sizes.size(); ++k) sum.shape.push_back(static_cast<int64_t>(sizes[k]));
  for (const auto& [expr, lower, upper] : coordinates.conditions()) {
    if (expr.factors[0] != 1) return std::nullopt;
    const auto first = Bound(lower, expr), end = Bound(upper, expr);
    if (!first || !end) return std::nullopt;
    sum.lower.push_back(*first);
    sum.upper.push_back(*end);
  }
  Simplify(sum);
  return sum;
}

}  // namespace tg::tinygrad
