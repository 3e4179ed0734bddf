#include "passes/optimize/lanes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tg {
namespace {

// Loads or stores for one element, where `lanes` elements, `stride` apart, are made together.
// `masked`: a condition differs between them.
double AccessCost(std::optional<int64_t> stride, bool masked, int64_t lanes) {
  // Each lane by itself, with an address or a condition to compute, or, if they are far apart, from
  // a cache line of its own.
  constexpr double kDecided = 3, kFar = 2, kNear = 1;
  constexpr int64_t kNeighbours = 16;
  if (!stride || (masked && stride != 0)) return kDecided;
  if (stride == 0 || stride == 1) return 1.0 / static_cast<double>(lanes);
  return std::abs(*stride) > kNeighbours ? kFar : kNear;
}

}  // namespace

int64_t PowerOfTwoDivisor(int64_t n, int64_t limit) {
  int64_t d = 1;
  while (d * 2 <= limit && n % (d * 2) == 0) d *= 2;
  return d;
}

int64_t LaneCosts::Widest() const {
  int64_t bytes = 1;
  for (const Access& a : t_.accesses()) {
    bytes = std::max(bytes, ByteSize(a.node->src(0)->dtype.scalar()));
  }
  return std::max<int64_t>(1, t_.target().alu_width / bytes);
}

int64_t LaneCosts::Along(size_t axis) const {
  return t_.IsSymbolic(axis) ? 1 : PowerOfTwoDivisor(t_.Size(axis), Widest());
}

std::vector<const UOp*> LaneCosts::Reduces() const {
  std::vector<const UOp*> all;
  for (const BaseAxis& b : t_.schedule().base) {
    const UOp* reduce = t_.ReduceOf(b);
    if (reduce && std::find(all.begin(), all.end(), reduce) == all.end()) all.push_back(reduce);
  }
  return all;
}

size_t LaneCosts::LastAxis(const UOp* reduce) const {
  size_t last = kNoAxis;
  for (size_t i : t_.Axes(AxisKind::kReduce)) {
    if (t_.schedule().base[t_.schedule().axes[i].base].reduce == reduce) last = i;
  }
  return last;
}

double LaneCosts::Sums(const UOp* reduce) const {
  const Schedule& s = t_.schedule();
  LoopSet around = 0;
  for (size_t n = 0; n < s.base.size(); ++n) {
    if (s.base[n].reduce == reduce) around |= s.varies[n];
  }
  double sums = 1;
  for (size_t n = 0; n < s.base.size(); ++n) {
    const auto size = static_cast<double>(s.base[n].max_size);
    const bool varies = (around & LoopBit(n)) != 0;
    if (varies && t_.ReduceOf(s.base[n]) && s.base[n].reduce != reduce) sums *= size;
    if (!varies && (shared_ & LoopBit(n)) != 0) sums /= size;
  }
  return sums;
}

double LaneCosts::Terms(const UOp* reduce) const {
  double terms = Sums(reduce);
  for (const BaseAxis& b : t_.schedule().base) {
    if (b.reduce == reduce) terms *= static_cast<double>(b.max_size);
  }
  return terms;
}

const UOp* LaneCosts::ReduceOf(const Access& a) const {
  const UOp* reduce = nullptr;
  double most = 0;
  for (size_t n = 0; n < t_.schedule().base.size(); ++n) {
    const UOp* other = t_.ReduceOf(t_.schedule().base[n]);
    if (!other || a.stride[n] == 0) continue;
    const double terms = Terms(other);
    if (terms > most) reduce = other, most = terms;
  }
  return reduce;
}

double LaneCosts::CostAlong(const Access& a, size_t axis) const {
  const int64_t lanes = axis == kNoAxis ? 1 : Along(axis);
  if (lanes == 1) return a.valid ? 2 : 1;
  const bool masked = a.masked[t_.schedule().axes[axis].base];
  return AccessCost(t_.Stride(a, axis), masked, lanes);
}

bool LaneCosts::Varies(const UOp* reduce, size_t axis) const {
  const size_t base = t_.schedule().axes[axis].base;
  for (size_t n = 0; n < t_.schedule().base.size(); ++n) {
    if (t_.schedule().base[n].reduce != reduce) continue;
    if (n == base || (t_.schedule().varies[n] & LoopBit(base)) != 0) return true;
  }
  return false;
}

bool LaneCosts::HoldsReduce(size_t axis) const {
  const UOp* own = t_.schedule().base[t_.schedule().axes[axis].base].reduce;
  const std::vector<const UOp*> reduces = Reduces();
  return std::any_of(reduces.begin(), reduces.end(),
                     [&](const UOp* r) { return r != own && Varies(r, axis); });
}

double LaneCosts::Of(size_t axis, const NodeSet* only) const {
  const bool stored =
      axis != kNoAxis && t_.schedule().base[t_.schedule().axes[axis].base].IsStored();
  double cost = stored ? 1.0 / static_cast<double>(Along(axis)) : 1;  // what is done with sums
  const auto lanes_of = [&](const UOp* reduce) {
    if (axis != kNoAxis && (reduce ? Varies(reduce, axis) : stored)) return axis;
    return reduce ? LastAxis(reduce) : kNoAxis;
  };
  const auto counts = [&](const UOp* reduce) {
    return !only || (reduce && only->Contains(reduce));
  };
  for (const Access& a : t_.accesses()) {
    const UOp* reduce = ReduceOf(a);
    if (!counts(reduce)) continue;
    const size_t along = lanes_of(reduce);
    const double times = reduce ? Terms(reduce) : 1;
    cost += times * CostAlong(a, along);
  }
  for (const UOp* reduce : Reduces()) {
    if (!counts(reduce)) continue;
    const size_t along = lanes_of(reduce);
    const auto lanes = static_cast<double>(along == kNoAxis ? 1 : Along(along));
    cost += Terms(reduce) / lanes;
    // Lanes of terms are added up at the end.
    if (along != axis) cost += std::log2(lanes) * Sums(reduce);
  }
  return cost;
}

}  // namespace tg
