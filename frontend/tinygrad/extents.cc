#include "frontend/tinygrad/extents.h"

#include <algorithm>
#include <map>

#include "ir/walk.h"
#include "llvm/ADT/DenseMap.h"

namespace tg::tinygrad {
namespace {

// Holds the product of any two values that LargestExtent admits.
using Wide = __int128;

struct Interval {
  Wide lo = 0, hi = 0;
};

// A constant plus multiples of leaves, by id. Leaves are not sums, so (i + 5) - i is 5.
struct Sum {
  Wide number = 0;
  std::map<uint32_t, Wide> terms;

  void Add(const Sum& other, Wide factor) {
    number += factor * other.number;
    for (const auto& [id, count] : other.terms) {
      Wide& mine = terms[id];
      mine += factor * count;
      if (mine == 0) terms.erase(id);
    }
  }
};

constexpr Wide kTermLimit = Wide{1} << 62;
constexpr size_t kMaxTerms = 8;  // a sum of kMaxTerms products fits in Wide
bool FitsInTerm(Wide x) { return -kTermLimit < x && x < kTermLimit; }

class Evaluation {
 public:
  Evaluation(const Module& module, const Context& ctx) : module_(module), ctx_(ctx) {}

  std::optional<Interval> Run(const UOp* root) {
    for (const UOp* u : PostOrder(root)) {
      if (!Visit(u)) return std::nullopt;
    }
    return RangeOf(sums_.lookup(root));
  }

 private:
  bool Visit(const UOp* u) {
    const Sum a = u->num_srcs > 0 ? sums_.lookup(u->src(0)) : Sum();
    const Sum b = u->num_srcs > 1 ? sums_.lookup(u->src(1)) : Sum();
    Sum& sum = sums_[u];
    switch (u->op) {
      case Op::kConst:
        sum.number = u->word();
        break;
      case Op::kNeg:
        sum.Add(a, -1);
        break;
      case Op::kAdd:
      case Op::kSub:
        sum.Add(a, 1);
        sum.Add(b, u->op == Op::kAdd ? 1 : -1);
        break;
      case Op::kMul:
        if (a.terms.empty()) {
          sum.Add(b, a.number);
          break;
        }
        if (b.terms.empty()) {
          sum.Add(a, b.number);
          break;
        }
        [[fallthrough]];
      default: {
        const std::optional<Interval> range = Leaf(u, RangeOf(a), RangeOf(b));
        if (!range) return false;
        leaves_[u->id] = *range;
        sum.terms[u->id] = 1;
      }
    }
    bool fits = FitsInTerm(sum.number) && sum.terms.size() <= kMaxTerms;
    for (const auto& [id, count] : sum.terms) fits = fits && FitsInTerm(count);
    const Interval range = fits ? RangeOf(sum) : Interval();
    return fits && FitsInTerm(range.lo) && FitsInTerm(range.hi);
  }

  std::optional<Interval> Leaf(const UOp* u, const Interval& a, const Interval& b) const {
    switch (u->op) {
      case Op::kVar: {
        const VarDecl* var = module_.FindVar(ctx_.String(static_cast<StringId>(u->word())));
        return var ? std::optional(Interval{var->min, var->max}) : std::nullopt;
      }
      case Op::kMul: {
        const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
        return Interval{lo, hi};
      }
      case Op::kMax:
        return Interval{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
      case Op::kMin:
        return Interval{std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
      case Op::kCDiv:
      case Op::kFloorDiv: {
        if (b.lo != b.hi || b.lo <= 0) return std::nullopt;
        const Wide down = u->op == Op::kFloorDiv ? b.lo - 1 : 0;
        const auto divide = [&](Wide x) { return x >= 0 ? x / b.lo : (x - down) / b.lo; };
        return Interval{divide(a.lo), divide(a.hi)};
      }
      default:
        return std::nullopt;
    }
  }

  // Requires at most kMaxTerms terms whose factors and leaves are in the admitted range.
  Interval RangeOf(const Sum& sum) const {
    Interval range{sum.number, sum.number};
    for (const auto& [id, count] : sum.terms) {
      const Interval& leaf = leaves_.at(id);
      range.lo += count * (count > 0 ? leaf.lo : leaf.hi);
      range.hi += count * (count > 0 ? leaf.hi : leaf.lo);
    }
    return range;
  }

  const Module& module_;
  const Context& ctx_;
  llvm::DenseMap<const UOp*, Sum> sums_;  // an extent has few of a body's nodes
  std::map<uint32_t, Interval> leaves_;
};

}  // namespace

std::optional<int64_t> LargestExtent(const Module& module, const Context& ctx, const Dim& extent) {
  if (!extent.is_symbolic()) return extent.value();
  const auto range = Evaluation(module, ctx).Run(extent.symbol());
  return range ? std::optional(static_cast<int64_t>(range->hi)) : std::nullopt;
}

}  // namespace tg::tinygrad
