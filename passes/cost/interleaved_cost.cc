#include "passes/cost/interleaved_cost.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/cost/compute_cost.h"

namespace tg::cost {
namespace {

// Registers of a work-item beside those for its sums: addresses, counters, and operands in flight.
constexpr double kBaseRegisters = 32;
// A sum, and the operands of its next addition.
constexpr double kRegistersOfSum = 2;

double GroupsOfUnit(const ScheduledWork& work, const passes::Target& target) {
  return std::ceil(std::max(1.0, work.Trips(Steps::kGroups)) / target.compute_units);
}

// How often the serial loops of a nest take a step, and its work-items.
double StepsOf(const ScheduledWork& work, const LoopNestOf& nest, Steps steps) {
  double trips = 1;
  for (const uint16_t i : nest.loops) {
    if (work.loops[i].steps == steps) trips *= work.loops[i].trips;
  }
  return trips;
}

LoopList SerialLoops(const ScheduledWork& work, const LoopNestOf& nest) {
  LoopList serial;
  for (const uint16_t i : nest.loops) {
    if (work.loops[i].steps == Steps::kSerial) serial.push_back(i);
  }
  return serial;
}

struct Strided {
  double stride, trips;
};

// Bytes of whole sectors that one instruction of a subgroup moves: `width` adjacent elements for
// each work-item, where the last loops over work-items are those of neighbours.
double SectorBytes(const ScheduledWork& work, const MemoryAccess& access, double width,
                   const passes::Target& target) {
  llvm::SmallVector<Strided, 4> strides = {{1, width}};
  double left = target.subgroup_size;
  for (const uint16_t i : llvm::reverse(access.nest.loops)) {
    if (work.loops[i].steps != Steps::kItems || left <= 1) continue;
    const double items = std::min(left, work.loops[i].trips);
    left /= items;
    if (access.strides[i] != 0) {
      strides.push_back({static_cast<double>(access.strides[i]), items});
    }
  }
  llvm::sort(strides, [](const Strided& a, const Strided& b) { return a.stride < b.stride; });
  const double sector = static_cast<double>(target.FetchedBytes()) / access.element_bytes;
  double run = 1, runs = 1;
  for (const Strided& s : strides) {
    if (s.stride <= std::max(run, sector)) {
      run += (s.trips - 1) * s.stride;
    } else {
      runs *= s.trips;
    }
  }
  return runs * std::ceil(run / sector) * static_cast<double>(target.FetchedBytes());
}

double LanesOf(const ScheduledWork& work, const MemoryAccess& access) {
  double lanes = 1;
  for (const uint16_t i : access.nest.lanes) {
    if (access.strides[i] != 0) lanes *= work.loops[i].trips;
  }
  return lanes;
}

}  // namespace

double ResidentGroups(const ScheduledWork& work, const passes::Target& target) {
  const double items = std::max<double>(work.Trips(Steps::kItems), target.subgroup_size);
  double sums = 1;
  for (const Arithmetic& a : work.arithmetic) {
    if (a.sums == 0) continue;
    double own = 1;
    for (const uint16_t i : a.nest.lanes) own *= work.loops[i].is_term ? 1 : work.loops[i].trips;
    sums = std::max(sums, own);
  }
  const double registers = items * (kBaseRegisters + kRegistersOfSum * sums);
  double groups = std::min(static_cast<double>(target.max_unit_items) / items,
                           static_cast<double>(target.unit_registers) / registers);
  std::map<int64_t, double> local;  // by buffer
  for (const MemoryAccess& a : work.accesses) {
    if (a.is_local) local[a.buffer] = a.buffer_bytes;
  }
  double bytes = 0;
  for (const auto& [buffer, of_it] : local) bytes += of_it;
  if (bytes > 0) groups = std::min(groups, static_cast<double>(target.unit_local_memory) / bytes);
  return std::max(1.0, std::floor(groups));
}

double AccessSeconds(const ScheduledWork& work, const passes::Target& target) {
  const double least = 4.0 * target.subgroup_size;
  double bytes = 0;
  for (const MemoryAccess& a : work.accesses) {
    const double lanes = LanesOf(work, a);
    const double instructions = AccessInstructions(work, a, target);
    const double moved =
        a.spread > 1
            ? lanes / a.spread / instructions * a.element_bytes * target.subgroup_size
            : SectorBytes(work, a, std::max(1.0, std::floor(lanes / instructions)), target);
    const double subgroups = std::ceil(StepsOf(work, a.nest, Steps::kItems) / target.subgroup_size);
    bytes +=
        StepsOf(work, a.nest, Steps::kSerial) * subgroups * instructions * std::max(least, moved);
  }
  return GroupsOfUnit(work, target) * bytes / target.local_bytes_per_second;
}

double LatencySeconds(const ScheduledWork& work, const passes::Target& target) {
  struct Body {
    double steps = 1, instructions = 0;
    bool loads = false;
  };
  std::map<std::vector<uint16_t>, Body> bodies;  // by serial loops
  const auto body_of = [&](const LoopNestOf& nest) -> Body& {
    const LoopList serial = SerialLoops(work, nest);
    Body& body = bodies[{serial.begin(), serial.end()}];
    body.steps = StepsOf(work, nest, Steps::kSerial);
    return body;
  };
  double wait_of_copies = 0;
  for (const Arithmetic& a : work.arithmetic) {
    body_of(a.nest).instructions += work.Lanes(a.nest) * a.weight;
  }
  for (const MemoryAccess& a : work.accesses) {
    Body& body = body_of(a.nest);
    body.instructions += AccessInstructions(work, a, target);
    // The loads that fill a copy wait together, and those that fill it ahead wait while the copy
    // before it is used.
    if (a.fills > 0) {
      wait_of_copies = std::max(wait_of_copies, a.is_ahead ? 0 : a.fills * target.step_seconds);
    } else {
      body.loads |= !a.is_local && !a.is_store;
    }
  }
  double wait = wait_of_copies;
  for (const auto& [loops, body] : bodies) {
    const double together =
        std::clamp(target.overlapped_instructions / std::max(1.0, body.instructions), 1.0,
                   std::max(1.0, body.steps));
    if (body.loads) wait += body.steps / together * target.step_seconds;
  }
  const bool shares = llvm::any_of(work.loops, [](const WorkLoop& loop) {
    return loop.is_term && loop.steps == Steps::kItems && !loop.shares;
  });
  if (shares) wait += target.barrier_seconds;
  const double rounds = std::max(1.0, GroupsOfUnit(work, target) / ResidentGroups(work, target));
  return rounds * wait;
}

}  // namespace tg::cost
