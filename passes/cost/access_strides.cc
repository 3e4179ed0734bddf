#include "passes/cost/access_strides.h"

#include <cmath>
#include <cstdlib>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "passes/cost/scheduled_work.h"

namespace tg::cost {

AccessStrides::AccessStrides(const loop_nest::LoopNest& nest, const KernelNests& nests,
                             const NodeSet& closed)
    : s_(nest), nests_(nests), closed_(nests.None()), in_axis_(nest.axes.size(), 1) {
  for (const loop_nest::AxisMap& map : s_.maps) {
    for (const loop_nest::Digit& digit : map.digits) in_axis_[digit.axis] = digit.stride;
  }
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    const UOp* reduce = s_.base[s_.axes[i].base].reduce;
    const bool is_closed = reduce && closed.Contains(reduce);
    if (is_closed && s_.axes[i].kind == AxisKind::kReduce) closed_.set(static_cast<unsigned>(i));
  }
}

std::vector<int64_t> AccessStrides::Of(const analysis::Access& a) const {
  std::vector<int64_t> strides;
  for (size_t i = 0; i < s_.axes.size(); ++i) {
    const std::optional<double> distance =
        a.DistanceOf(s_.axes[i].base, in_axis_[i], s_.axes[i].max_size);
    const bool is_known = distance && !CrossesPeriods(a, i);
    strides.push_back(is_known ? std::llround(std::abs(*distance)) : MemoryAccess::kUnrelated);
  }
  // The address that a closed reduce's term has lies anywhere for each of the results.
  AxisSet scattered = nests_.None();
  const AxisSet axes = nests_.AxesOf(a);  // outlives its range of bits
  for (const unsigned i : axes.set_bits()) {
    const size_t base = s_.axes[i].base;
    if (IsClosed(i) && a.stride[base] != 0) scattered |= nests_.AxesOfBases(s_.varies[base]);
  }
  for (const unsigned i : scattered.set_bits()) {
    if (strides[i] == 0) strides[i] = MemoryAccess::kUnrelated;
  }
  return strides;
}

bool AccessStrides::CrossesPeriods(const analysis::Access& a, size_t axis) const {
  const size_t base = s_.axes[axis].base;
  if (!nests_.IsLanes(axis) || !s_.maps[base].Overlaps() || a.stride[base]) return false;
  const auto first = static_cast<double>(s_.base[base].max_size - s_.maps[base].block);
  return llvm::any_of(a.growth[base], [&](const analysis::GrowthPart& part) {
    return part.period > 0 && std::fmod(first, part.period) != 0;
  });
}

double AccessStrides::QuotientsOf(const analysis::Access& a) {
  double quotients = 0;
  for (size_t n = 0; n < a.stride.size(); ++n) {
    if (a.stride[n]) continue;
    const bool is_known = n < a.growth.size() && !a.growth[n].empty();
    quotients += !is_known ? 3
                           : static_cast<double>(llvm::count_if(
                                 a.growth[n], [](const auto& part) { return part.period > 0; }));
  }
  return quotients;
}

}  // namespace tg::cost
