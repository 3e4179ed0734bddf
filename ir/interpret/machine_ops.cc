// Elementwise ops, lane ops and reductions over ranges.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/machine.h"
#include "ir/value.h"

namespace tg::interpret {

const int64_t* Machine::In(const UOp* u, size_t i) {
  const UOp* s = u->src(i);
  const Layout& own = layout_[u];
  const int64_t* value = Out(s);
  const std::vector<int>& map = own.source_points[i];
  if (map.empty()) return value;
  const Layout& from = layout_[s];
  const auto lanes = static_cast<size_t>(from.lanes);
  if (temporaries_.size() <= i) temporaries_.resize(i + 1);
  std::vector<int64_t>& t = temporaries_[i];
  if (t.size() < Rows(u) * lanes) t.resize(Rows(u) * lanes);
  int64_t* out = t.data();
  for (size_t item = 0; item < items_; ++item) {
    const int64_t* in = value + item * static_cast<size_t>(from.points) * lanes;
    for (int p : map) {
      out = std::copy_n(in + static_cast<size_t>(p) * lanes, lanes, out);
    }
  }
  return t.data();
}

bool Machine::Alu(const UOp* u) {
  const int64_t* in[3] = {};
  if (u->num_srcs > 3) return Fail(u, "has too many sources");
  for (size_t i = 0; i < u->num_srcs; ++i) in[i] = In(u, i);
  int64_t* out = Out(u);
  const auto lanes = static_cast<size_t>(layout_[u].lanes);
  const size_t n = Rows(u) * lanes;
  const Scalar s = u->src(u->op == Op::kWhere ? 1 : 0)->dtype.scalar();
  if (u->op == Op::kCast) {
    CastLanes(s, u->dtype.scalar(), n, in[0], out);
    return true;
  }
  if (u->op == Op::kBitcast) {
    for (size_t i = 0; i < n; ++i) out[i] = BitcastBits(s, u->dtype.scalar(), in[0][i]);
    return true;
  }
  for (size_t at = 0; at < n; ++at) {
    const auto from = [&](size_t i) { return in[i] ? in[i] + at : nullptr; };
    at += EvalAluLanes(u->op, s, n - at, from(0), from(1), from(2), out + at, options_.mulacc);
    if (at == n) break;
    const size_t item = at / lanes / static_cast<size_t>(layout_[u].points);
    if (Active(item)) return Fail(u, "index overflow");
    out[at] = 0;
  }
  return true;
}

bool Machine::Contract(const UOp* u) {
  const Layout& own = layout_[u];
  const Layout& from = layout_[u->src(0)];
  // The lanes: the listed axes, then the lanes that the source has itself.
  int64_t lanes = from.lanes;
  std::vector<int64_t> sizes;
  for (int64_t axis : u->list()) {
    const auto it = axis_size_.find(axis);
    sizes.push_back(it == axis_size_.end() ? 0 : it->second);
    lanes *= std::max<int64_t>(sizes.back(), 1);
  }
  // The first axis without a leaf has the size that the type leaves for it, others have 1.
  for (int64_t& size : sizes) {
    if (size != 0) continue;
    size = lanes > 0 ? own.lanes / lanes : 1;
    lanes *= size;
  }
  if (lanes != own.lanes) {
    return Fail(u, absl::StrCat("has ", lanes, " lanes, not ", own.lanes));
  }
  const int64_t* in = Out(u->src(0));
  int64_t* out = Out(u);
  std::map<int64_t, int64_t> at;  // axis -> coordinate
  for (size_t item = 0; item < items_; ++item) {
    for (int p = 0; p < own.points; ++p) {
      int64_t rest = p;
      for (size_t k = own.axes.size(); k-- > 0;) {
        at[own.axes[k].axis] = rest % own.axes[k].size;
        rest /= own.axes[k].size;
      }
      for (int64_t lane = 0; lane < lanes / from.lanes; ++lane) {
        rest = lane;
        for (size_t k = u->list().size(); k-- > 0;) {
          const int64_t axis = u->list()[k];
          at[axis] = rest % sizes[k];
          rest /= sizes[k];
        }
        int64_t point = 0;
        for (const UnrollAxis& a : from.axes) point = point * a.size + at[a.axis];
        const int64_t row = static_cast<int64_t>(item) * from.points + point;
        out = std::copy_n(in + row * from.lanes, from.lanes, out);
      }
    }
  }
  return true;
}

bool Machine::LaneOp(const UOp* u) {
  int64_t* out = Out(u);
  const size_t rows = Rows(u);
  const auto lanes = static_cast<size_t>(layout_[u].lanes);
  switch (u->op) {
    case Op::kSplat: {
      const int64_t* in = In(u, 0);
      for (size_t r = 0; r < rows; ++r) out = std::fill_n(out, lanes, in[r]);
      return true;
    }
    case Op::kVectorize:
    case Op::kCat: {
      size_t first = 0;
      for (size_t i = 0; i < u->num_srcs; ++i) {
        const auto n = static_cast<size_t>(u->src(i)->dtype.lanes());
        if (first + n > lanes) return Fail(u, "has fewer lanes than its sources");
        const int64_t* in = In(u, i);
        for (size_t r = 0; r < rows; ++r) std::copy_n(in + r * n, n, out + r * lanes + first);
        first += n;
      }
      if (first != lanes) return Fail(u, "has more lanes than its sources");
      return true;
    }
    case Op::kGep: {
      const auto n = static_cast<size_t>(u->src(0)->dtype.lanes());
      const auto picks = u->list();
      if (picks.size() != lanes) return Fail(u, "picks another number of lanes than it has");
      for (int64_t pick : picks) {
        if (pick < 0 || pick >= static_cast<int64_t>(n)) return Fail(u, "picks a lane too many");
      }
      const int64_t* in = In(u, 0);
      for (size_t r = 0; r < rows; ++r) {
        for (int64_t pick : picks) *out++ = in[r * n + static_cast<size_t>(pick)];
      }
      return true;
    }
    case Op::kExtract: {
      const auto n = static_cast<int64_t>(u->src(0)->dtype.lanes());
      const int64_t *in = In(u, 0), *number = In(u, 1);
      for (size_t r = 0; r < rows; ++r, in += n) {
        if (number[r] < 0 || number[r] >= n) return Fail(u, "there is no such lane");
        *out++ = in[number[r]];
      }
      return true;
    }
    default:
      return Fail(u, "is no lane op");
  }
}

void Machine::ReduceBegin(const UOp* u) {
  Accumulators& acc = accumulators_[static_cast<size_t>(accumulators_of_[u]) - 1];
  const size_t n = Rows(u) * static_cast<size_t>(layout_[u].lanes);
  const Op op = static_cast<Op>(u->word());
  acc.f.assign(n, op == Op::kMul ? 1 : 0);
  acc.wide.assign(u->dtype.scalar() == Scalar::kF64 ? n : 0, op == Op::kMul ? 1 : 0);
  acc.bits.assign(n, ReduceIdentity(op, u->dtype.scalar()));
}

// Floats are accumulated as in ReduceAxis (tensor_ops.h).
bool Machine::ReduceStep(const UOp* u) {
  Accumulators& acc = accumulators_[static_cast<size_t>(accumulators_of_[u]) - 1];
  const Op op = static_cast<Op>(u->word());
  const Scalar s = u->dtype.scalar();
  const auto lanes = static_cast<size_t>(layout_[u].lanes);
  const auto wide = static_cast<size_t>(u->src(0)->dtype.lanes());
  if (wide % lanes != 0) return Fail(u, "its lanes do not divide its source's");
  const size_t points = static_cast<size_t>(layout_[u].points), per_lane = wide / lanes;
  const int64_t* in = In(u, 0);
  const bool sums = IsFloat(s) && (op == Op::kAdd || op == Op::kMul);
  for (size_t row = 0; row < Rows(u); ++row) {
    if (!Active(row / points)) continue;
    for (size_t k = 0; k < wide; ++k) {
      const int64_t bits = in[row * wide + k];
      const size_t at = row * lanes + k / per_lane;
      if (!sums) {
        const int64_t pair[] = {acc.bits[at], bits};
        const auto r = EvalAlu(op, s, pair);
        if (!r) return Fail(u, "index overflow");
        acc.bits[at] = *r;
      } else if (s == Scalar::kF64) {
        const long double v = DoubleFromBits(s, bits);
        acc.wide[at] = op == Op::kMul ? acc.wide[at] * v : acc.wide[at] + v;
      } else {
        const double v = DoubleFromBits(s, bits);
        acc.f[at] = op == Op::kMul ? acc.f[at] * v : acc.f[at] + v;
      }
    }
  }
  return true;
}

void Machine::ReduceEnd(const UOp* u) {
  const Accumulators& acc = accumulators_[static_cast<size_t>(accumulators_of_[u]) - 1];
  const Op op = static_cast<Op>(u->word());
  const Scalar s = u->dtype.scalar();
  int64_t* out = Out(u);
  const size_t n = Rows(u) * static_cast<size_t>(layout_[u].lanes);
  for (size_t i = 0; i < n; ++i) {
    if (!IsFloat(s) || (op != Op::kAdd && op != Op::kMul)) {
      out[i] = acc.bits[i];
    } else {
      out[i] = BitsFromDouble(s, s == Scalar::kF64 ? static_cast<double>(acc.wide[i]) : acc.f[i]);
    }
  }
}

bool Machine::Eval(const UOp* u) {
  if (IsElementwise(u->op)) return Alu(u);
  switch (u->op) {
    case Op::kConst:
    case Op::kVConst:
    case Op::kVar:
    case Op::kSpecial:
    case Op::kEnd:
    case Op::kSink:
    case Op::kDefineGlobal:
    case Op::kScratch:
    case Op::kRange:
      return true;
    case Op::kUnroll: {
      int64_t* out = Out(u);
      for (size_t i = 0; i < items_; ++i) {
        for (int64_t k = 0; k < u->word(1); ++k) *out++ = k;
      }
      return true;
    }
    case Op::kNoop:
    case Op::kAfter:
      if (layout_[u].has_value && u->num_srcs > 0) {
        const size_t n = Rows(u) * static_cast<size_t>(layout_[u].lanes);
        std::copy_n(In(u, 0), n, Out(u));
      }
      return true;
    case Op::kReduce:
      ReduceBegin(u);
      if (!ReduceStep(u)) return false;
      ReduceEnd(u);
      return true;
    case Op::kContract:
      return Contract(u);
    case Op::kSplat:
    case Op::kVectorize:
    case Op::kCat:
    case Op::kGep:
    case Op::kExtract:
      return LaneOp(u);
    case Op::kIndex:
      return Index(u);
    case Op::kLoad:
      return Load(u);
    case Op::kStore:
      return Store(u);
    case Op::kBarrier:
      if (!NeedAll(u, group_)) return false;
      ++epoch_;
      return true;
    case Op::kCopyAsync:
      return CopyAsync(u);
    case Op::kCopyTransposed:
      return CopyTransposed(u);
    case Op::kCommit:
      batches_.emplace_back();
      return true;
    case Op::kWait:
      return Wait(u);
    case Op::kGroupReduce:
      return GroupReduce(u);
    case Op::kShuffle:
      return Shuffle(u);
    case Op::kTransposeItems:
      return TransposeItems(u);
    case Op::kWmma:
      return Wmma(u);
    case Op::kWgmma:
      return Wgmma(u);
    case Op::kLdMatrix:
      return LdMatrix(u);
    default:
      return Fail(u, "has no meaning in a kernel without shapes");
  }
}

}  // namespace tg::interpret
