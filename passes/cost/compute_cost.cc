#include "passes/cost/compute_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::cost {
namespace {

// A predicate takes a selection for each access.
constexpr double kGateInstructions = 1;
// What a work-item receives by one instruction that loads fragments of matrices.
constexpr double kFragmentBytes = 16;

// Vectors to whose sums one thread must add by turns to hide an addition's latency.
double LatencyVectors(const passes::Target& target) {
  return target.HidesWaits() ? 1 : static_cast<double>(target.LatencySums());
}

// How many multiply-adds of vectors of f32 begin in the time of one of a vector of this type. On
// targets without vectors, a vector has one element.
double Slowness(Scalar type, const passes::Target& target) {
  const double width = target.HasVectors() ? static_cast<double>(ByteSize(type)) / 4 : 1;
  switch (type) {
    case Scalar::kF16:
      return 1 / target.f16_rate / width;
    case Scalar::kF64:
      return 1 / target.f64_rate / width;
    case Scalar::kI32:
    case Scalar::kU32:
      return 1 / target.int_rate;
    default:
      return 1;
  }
}

// Vectors of a device without vector registers lie at multiples of their size. The elements of the
// widest one that may begin at an access's address in each step of these loops.
double AlignedElements(const ScheduledWork& work, const MemoryAccess& access,
                       llvm::ArrayRef<uint16_t> loops,
                       int64_t alignment = MemoryAccess::kUnrelated) {
  for (const uint16_t loop : loops) {
    if (work.loops[loop].trips > 1) alignment = std::gcd(alignment, access.strides[loop]);
  }
  return static_cast<double>(alignment & -alignment);
}

double WidestElements(const MemoryAccess& access, const passes::Target& target) {
  return std::max(1.0, static_cast<double>(target.mem_width) / access.element_bytes);
}

// How many vectors of at most `widest` elements cover a run.
double VectorsOfRun(double run, double widest, const passes::Target& target) {
  if (target.HasVectors()) return std::ceil(run / widest);
  const double rest = std::fmod(run, widest);
  return std::floor(run / widest) + std::popcount(static_cast<uint64_t>(rest));
}

// The instructions of each loop's body, without those of loops inside it.
using InstructionsByLoop = std::vector<std::pair<LoopList, Instructions>>;

InstructionsByLoop CountByLoop(const ScheduledWork& work, const passes::Target& target, Part part) {
  InstructionsByLoop counts;
  const auto of = [&](const LoopNestOf& nest) -> Instructions& {
    for (auto& [loops, count] : counts) {
      if (loops == nest.loops) return count;
    }
    return counts.emplace_back(nest.loops, Instructions()).second;
  };
  for (const Arithmetic& a : work.arithmetic) {
    if (!IsIn(part, a.is_fill)) continue;
    const double vectors = VectorsOf(work.Lanes(a.nest), a.type, target);
    double stall = 1;
    if (a.sums > 0) {
      stall = std::max(1.0, LatencyVectors(target) / VectorsOf(a.sums, a.type, target));
    }
    of(a.nest).arithmetic +=
        work.Executions(a.nest) * vectors * a.weight * Slowness(a.type, target) * stall;
  }
  for (const MemoryAccess& a : work.accesses) {
    if (!IsIn(part, a.is_fill) || a.by_instruction) continue;
    const double all =
        a.around_copy > 0
            ? work.Trips(Steps::kGroups) * work.Fills(a) * FillOf(work, a, target).instructions
            : work.Executions(a.nest) * a.distinct * AccessInstructions(work, a, target);
    Instructions& count = of(a.nest);
    (a.is_store ? count.stores : count.loads) +=
        all * (a.is_store ? target.store_weight : target.load_weight);
  }
  return counts;
}

}  // namespace

double VectorsOf(double lanes, Scalar type, const passes::Target& target) {
  if (target.alu_width == 0) return lanes;
  const double width = std::max<double>(1, target.alu_width / static_cast<double>(ByteSize(type)));
  return std::ceil(lanes / width);
}

AccessForm FormOf(const ScheduledWork& work, const MemoryAccess& access,
                  const passes::Target& target) {
  llvm::SmallVector<std::pair<int64_t, double>, 8> lanes;  // strides and trips
  bool of_terms = false;
  double elements = 1, side = 1;  // of the square blocks that may be transposed
  int64_t distance = 1;           // from one element of a vector to the next
  for (const uint16_t loop : access.nest.lanes) {
    if (access.strides[loop] == 0) continue;
    lanes.emplace_back(access.strides[loop], work.loops[loop].trips);
    elements *= work.loops[loop].trips;
    of_terms |= work.loops[loop].is_term;
    if (!work.loops[loop].is_vector && loop != access.term_vector) continue;
    side = work.loops[loop].trips;
    distance = access.strides[loop];
  }
  const double gates = access.is_gated ? kGateInstructions : 0;
  if (access.is_broadcast) return {elements * (1 + gates), 1};
  if (access.spread > 1) {
    const double bytes = elements / access.spread * access.element_bytes;
    const double instructions = std::ceil(bytes / kFragmentBytes);
    return {instructions, bytes / access.element_bytes / instructions};
  }
  if (distance != 1) {
    const bool is_square = access.is_transposed || llvm::any_of(lanes, [&](const auto& loop) {
                             return loop.first == 1 && loop.second == side;
                           });
    if (is_square) return {elements / side * (1 + std::log2(side)), side};
    // Lanes are picked from the vectors around them where other lanes take what is between.
    const bool is_dense = !access.is_store && llvm::any_of(lanes, [&](const auto& loop) {
      return loop.first == 1 && loop.second >= static_cast<double>(distance);
    });
    if (is_dense) return {elements / side * static_cast<double>(distance) * (2 + gates), 1};
    // Vectors whose lanes take turns are interleaved in registers.
    const bool take_turns =
        access.is_store && llvm::any_of(lanes, [&](const auto& loop) {
          return loop.first == 1 && loop.second == static_cast<double>(distance);
        });
    if (take_turns) {
      const double turns = std::log2(static_cast<double>(distance));
      return {elements / side * (1 + turns + gates), side};
    }
    return {elements * (target.lane_instructions + gates), 1};
  }
  // If several loops of lanes have the same stride, as in a window, the one with the most trips
  // comes first, and makes the run of adjacent elements.
  llvm::sort(lanes, [](const auto& a, const auto& b) {
    return std::pair(a.first, -a.second) < std::pair(b.first, -b.second);
  });
  double run = 1, runs = 1;  // adjacent elements, and how many such runs
  int64_t between_runs = MemoryAccess::kUnrelated;
  for (const auto& [stride, trips] : lanes) {
    const auto distance = static_cast<double>(stride);
    if (!target.HasVectors() && distance <= run) {
      run += (trips - 1) * distance;  // copies of a body load what they share once
    } else if (distance == run) {
      run *= trips;
    } else {
      runs *= trips;
      between_runs = std::gcd(between_runs, stride);
    }
  }
  double widest = WidestElements(access, target);
  if (!target.HasVectors() && !access.is_local) {
    widest = std::min(widest, AlignedElements(work, access, access.nest.loops, between_runs));
  }
  if (run == 1 || widest == 1) {
    // Copies of the body load scalars, the lanes of terms become vectors.
    const bool moves = target.HasVectors() && of_terms;
    return {run * runs * ((moves ? target.lane_instructions : 1) + gates), 1};
  }
  // Parts are joined by shuffles.
  const double vectors = VectorsOfRun(run, widest, target),
               parts = target.HasVectors() ? access.parts : 1;
  return {runs * vectors * (parts * (1 + gates) + parts - 1), run / vectors / parts};
}

FillForm FillOf(const ScheduledWork& work, const MemoryAccess& access,
                const passes::Target& target) {
  double elements = access.distinct;
  const llvm::ArrayRef<uint16_t> loops = access.nest.loops;
  const llvm::ArrayRef<uint16_t> around = loops.take_front(access.around_copy);
  LoopList others(around.begin(), around.end());              // then all that continue no run
  llvm::SmallVector<std::pair<int64_t, uint16_t>, 8> copied;  // strides and loops
  for (const uint16_t loop : loops.drop_front(access.around_copy)) {
    copied.emplace_back(access.strides[loop], loop);
  }
  for (const uint16_t loop : access.nest.lanes) copied.emplace_back(access.strides[loop], loop);
  llvm::sort(copied);
  double run = 1;
  for (const auto& [stride, loop] : copied) {
    const double trips = work.loops[loop].trips;
    elements *= trips;
    if (static_cast<double>(stride) == run) {
      run *= trips;
    } else {
      others.push_back(loop);
    }
  }
  if (access.is_local && access.is_transposed) run = 1;
  double width = std::min(WidestElements(access, target), AlignedElements(work, access, others));
  while (std::fmod(run, width) != 0) width /= 2;
  return {elements / width, elements, run};
}

double AccessInstructions(const ScheduledWork& work, const MemoryAccess& access,
                          const passes::Target& target) {
  return FormOf(work, access, target).instructions;
}

Instructions CountInstructions(const ScheduledWork& work, const passes::Target& target, Part part) {
  Instructions sum;
  for (const auto& [loops, count] : CountByLoop(work, target, part)) {
    sum.arithmetic += count.arithmetic;
    sum.loads += count.loads;
    sum.stores += count.stores;
  }
  return sum;
}

double ComputeSeconds(const ScheduledWork& work, const passes::Target& target, Part part) {
  const double lanes = target.alu_width == 0 ? 1 : target.alu_width / 4.0;
  const double per_second = target.flops_per_second / 2 / lanes;
  const auto instructions = [&](const Instructions& count) {
    const double accesses = std::max(count.loads, count.stores);
    return std::max(count.arithmetic, accesses) +
           std::min(count.arithmetic, accesses) * target.not_hidden;
  };
  if (target.HidesWaits()) return instructions(CountInstructions(work, target, part)) / per_second;
  double sum = 0;
  for (const auto& [loops, count] : CountByLoop(work, target, part)) sum += instructions(count);
  return sum / per_second;
}

}  // namespace tg::cost
