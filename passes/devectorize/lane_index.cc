#include "passes/devectorize/lane_index.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ir/interpret/scalar.h"
#include "passes/devectorize/lane_origins.h"

namespace tg::devectorize {
namespace {

bool IsIndexOrGate(const UOp* u) { return u->dtype.is_index() || u->dtype.is_bool(); }

// Whether each lane of `u` is computed from the same lane of its sources, all of which are indices
// or bools, or is a lane of one of them.
bool SeesThrough(const UOp* u) {
  if (!IsIndexOrGate(u)) return false;
  switch (u->op) {
    case Op::kSplat:
    case Op::kVectorize:
    case Op::kGep:
    case Op::kCat:
      return true;
    case Op::kCast:
    case Op::kBitcast:
      return false;
    default:
      return IsElementwise(u->op) && std::all_of(u->srcs().begin(), u->srcs().end(), IsIndexOrGate);
  }
}

// The source and its lane that lane `lane` of an op on lanes is; a null source for other ops.
std::pair<const UOp*, int> PickedFrom(const UOp* u, int lane) {
  switch (u->op) {
    case Op::kSplat:
      return {u->src(0), 0};
    case Op::kVectorize:
      return {u->src(static_cast<size_t>(lane)), 0};
    case Op::kGep:
      return {u->src(0), static_cast<int>(u->list()[static_cast<size_t>(lane)])};
    case Op::kCat: {
      size_t i = 0;
      for (; lane >= u->src(i)->dtype.lanes(); ++i) lane -= u->src(i)->dtype.lanes();
      return {u->src(i), lane};
    }
    default:
      return {nullptr, 0};
  }
}

}  // namespace

LaneIndex::LaneIndex(Builder& b, const Module& module, UOpSpan order,
                     llvm::function_ref<bool(const UOp*)> which)
    : b_(b), linear_(b, module) {
  size_t wanted = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const UOp* u = *it;
    if (u->op == Op::kIndex) {
      if (which && !which(u)) continue;
      for (size_t i = 1; i < u->num_srcs; ++i) wanted += wanted_.Insert(u->src(i));
    } else if (wanted_.Contains(u) && SeesThrough(u)) {
      for (const UOp* s : u->srcs()) wanted += wanted_.Insert(s);
    }
  }
  forms_.reserve(1 + wanted);
}

bool LaneIndex::IsUniform(const UOp* u) const {
  const Forms& f = FormsOf(u);
  return std::max(f.index.size(), f.gate.size()) == 1 && f.offsets.empty();
}

const AffineExpr& LaneIndex::At(const UOp* u, int lane) const {
  const Forms& f = FormsOf(u);
  if (!f.offsets.empty()) {
    f.index.resize(f.offsets.size(), f.index[0]);
    for (size_t i = 0; i < f.offsets.size(); ++i) f.index[i].Advance(f.offsets[i]);
    f.offsets.clear();
  }
  return f.index.size() == 1 ? f.index[0] : f.index[static_cast<size_t>(lane)];
}

bool LaneIndex::FindOffsets(const UOp* u, Forms& forms) {
  const auto n = static_cast<size_t>(u->dtype.lanes());
  if (u->op == Op::kVConst) {
    forms.index.push_back(AffineExpr::Constant(0));
    forms.offsets.assign(u->list().begin(), u->list().end());
    return true;
  }
  const auto has_base = [&](const UOp* s) { return FormsOf(s).index.size() == 1; };
  if (!SeesThrough(u) || !std::all_of(u->srcs().begin(), u->srcs().end(), has_base)) return false;
  if (u->op == Op::kGep) {
    const Forms& from = FormsOf(u->src(0));
    if (from.offsets.empty()) return false;
    forms.index.push_back(from.index[0]);
    for (int64_t l : u->list()) forms.offsets.push_back(from.offsets[static_cast<size_t>(l)]);
    return true;
  }
  std::optional<AffineExpr> base =
      Sum(u->op, [&](size_t i) -> const AffineExpr& { return FormsOf(u->src(i)).index[0]; });
  // A product has constant offsets only if one of its factors is the same constant in all lanes.
  const bool multiplies = u->op == Op::kMul || u->op == Op::kMulAcc;
  const auto is_factor = [&](size_t i) {
    const Forms& f = FormsOf(u->src(i));
    return multiplies && i < 2 && f.offsets.empty() && f.index[0].is_constant();
  };
  if (!base || (multiplies && !is_factor(0) && !is_factor(1))) return false;
  const int64_t* lanes[3] = {};
  llvm::SmallVector<int64_t, 64> same[3];  // the offsets of a source whose lanes are equal
  for (size_t i = 0; i < u->num_srcs; ++i) {
    const Forms& f = FormsOf(u->src(i));
    if (f.offsets.empty()) same[i].assign(n, is_factor(i) ? f.index[0].constant : 0);
    lanes[i] = f.offsets.empty() ? same[i].data() : f.offsets.data();
  }
  std::vector<int64_t> offsets(n);
  if (interpret::EvalAluLanes(u->op, Scalar::kIndex, n, lanes[0], lanes[1], lanes[2],
                              offsets.data()) != n) {
    return false;
  }
  forms.index.push_back(*std::move(base));
  forms.offsets = std::move(offsets);
  return true;
}

std::optional<AffineExpr> LaneIndex::Sum(Op op,
                                         llvm::function_ref<const AffineExpr&(size_t)> src) const {
  switch (op) {
    case Op::kAdd:
      return linear_.Add(src(0), src(1));
    case Op::kSub:
      return linear_.Add(src(0), src(1), -1);
    case Op::kNeg:
      return linear_.Scale(src(0), -1);
    case Op::kMul:
      if (src(1).is_constant()) return linear_.Scale(src(0), src(1).constant);
      if (src(0).is_constant()) return linear_.Scale(src(1), src(0).constant);
      return std::nullopt;
    case Op::kMulAcc:
      if (src(1).is_constant()) return linear_.Add(src(2), src(0), src(1).constant);
      if (src(0).is_constant()) return linear_.Add(src(2), src(1), src(0).constant);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

const UOp* LaneIndex::GateAt(const UOp* u, int lane) const {
  const Forms& f = FormsOf(u);
  return f.gate.size() == 1 ? f.gate[0] : f.gate[static_cast<size_t>(lane)];
}

const UOp* LaneIndex::ScalarAt(const UOp* u, int lane) {
  return u->dtype.is_index() ? linear_.Build(At(u, lane)) : GateAt(u, lane);
}

const UOp* LaneIndex::OpaqueLane(const UOp* u, const UOp* now, int lane) {
  if (!SeesThrough(u)) return Lane(b_, now, lane);
  llvm::SmallVector<const UOp*, 4> srcs;
  for (const UOp* s : u->srcs()) srcs.push_back(ScalarAt(s, lane));
  return b_.Alu(u->op, UOpSpan(srcs.data(), srcs.size()));
}

AffineExpr LaneIndex::IndexLane(const UOp* u, const UOp* now, int lane) {
  if (u->op == Op::kVConst) return AffineExpr::Constant(u->list()[static_cast<size_t>(lane)]);
  if (!SeesThrough(u)) {
    const UOp* scalar = Lane(b_, now, lane);
    return IsConst(scalar) ? AffineExpr::Constant(scalar->word()) : AffineExpr::Of(scalar);
  }
  if (const auto [from, at] = PickedFrom(u, lane); from) return At(from, at);
  const auto src = [&](size_t i) -> const AffineExpr& { return At(u->src(i), lane); };
  if (std::optional<AffineExpr> sum = Sum(u->op, src)) return *std::move(sum);
  switch (u->op) {
    case Op::kCDiv:
    case Op::kCMod:
      // Truncating division equals floor division if the dividend is not negative.
      if (linear_.BoundsOf(src(0)).lo < 0) break;
      [[fallthrough]];
    case Op::kFloorDiv:
    case Op::kFloorMod:
      if (!src(1).is_constant() || src(1).constant <= 0) break;
      return u->op == Op::kFloorDiv || u->op == Op::kCDiv
                 ? linear_.FloorDiv(src(0), src(1).constant)
                 : linear_.FloorMod(src(0), src(1).constant);
    case Op::kMax:
    case Op::kMin: {
      const analysis::Interval d = linear_.BoundsOf(linear_.Add(src(0), src(1), -1));
      if (d.lo >= 0) return u->op == Op::kMax ? src(0) : src(1);
      if (d.hi <= 0) return u->op == Op::kMax ? src(1) : src(0);
      break;
    }
    case Op::kWhere: {
      const UOp* gate = GateAt(u->src(0), lane);
      if (IsConst(gate)) return src(gate->word() ? 1 : 2);
      break;
    }
    default:
      break;
  }
  return AffineExpr::Of(OpaqueLane(u, now, lane));
}

const UOp* LaneIndex::GateLane(const UOp* u, const UOp* now, int lane) {
  if (!SeesThrough(u)) return Lane(b_, now, lane);
  if (const auto [from, at] = PickedFrom(u, lane); from) return GateAt(from, at);
  const bool of_index = u->src(0)->dtype.is_index();
  if (of_index && u->op == Op::kCmpLt)
    return linear_.Less(At(u->src(0), lane), At(u->src(1), lane));
  if (of_index && u->op == Op::kCmpNe) {
    return linear_.NotEqual(At(u->src(0), lane), At(u->src(1), lane));
  }
  if (u->op == Op::kWhere) {
    const UOp* c = GateAt(u->src(0), lane);
    if (IsConst(c)) return GateAt(u->src(c->word() ? 1 : 2), lane);
  }
  const bool is_and = u->op == Op::kAnd || u->op == Op::kMul;
  const bool is_or = u->op == Op::kOr || u->op == Op::kAdd;
  if (is_and || is_or) {
    const UOp* x = GateAt(u->src(0), lane);
    const UOp* y = GateAt(u->src(1), lane);
    for (const auto& [c, other] : {std::pair(x, y), std::pair(y, x)}) {
      // true & y = y, false & y = false; the other way round for or
      if (IsConst(c)) return (c->word() != 0) == is_and ? other : c;
    }
    return x == y ? x : b_.Alu(is_and ? Op::kAnd : Op::kOr, {x, y});
  }
  if (u->op == Op::kCmpNe) {
    const UOp* x = GateAt(u->src(0), lane);
    const UOp* y = GateAt(u->src(1), lane);
    if (IsConst(x)) std::swap(x, y);
    if (IsConst(x)) return b_.Bool(x != y);
    if (IsConst(y)) {
      if (!y->word()) return x;
      // not (d < 0)  <=>  -d - 1 < 0
      if (const AffineExpr* d = linear_.ClauseOf(x)) {
        return linear_.Less(linear_.Scale(*d, -1), AffineExpr::Constant(1));
      }
    }
  }
  return OpaqueLane(u, now, lane);
}

void LaneIndex::Visit(const UOp* u, const UOp* now) {
  if (!wanted_.Contains(u) || !IsIndexOrGate(u)) return;
  const auto& srcs = u->srcs();
  const bool picks = u->op == Op::kVectorize || u->op == Op::kGep || u->op == Op::kCat;
  const bool uniform =
      u->dtype.lanes() == 1 || u->op == Op::kSplat ||
      (SeesThrough(u) && !picks &&
       std::all_of(srcs.begin(), srcs.end(), [&](const UOp* s) { return IsUniform(s); }));
  const int n = uniform ? 1 : u->dtype.lanes();
  Forms forms;
  if (n > 1 && u->dtype.is_index() && FindOffsets(u, forms)) {
    of_[u] = static_cast<int>(forms_.size());
    forms_.push_back(std::move(forms));
    return;
  }
  if (u->dtype.is_index()) {
    forms.index.reserve(static_cast<size_t>(n));
  } else {
    forms.gate.reserve(static_cast<size_t>(n));
  }
  for (int i = 0; i < n; ++i) {
    if (u->dtype.is_index()) {
      forms.index.push_back(IndexLane(u, now, i));
    } else {
      forms.gate.push_back(GateLane(u, now, i));
    }
  }
  of_[u] = static_cast<int>(forms_.size());
  forms_.push_back(std::move(forms));
}

}  // namespace tg::devectorize
