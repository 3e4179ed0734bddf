#include "passes/cost/interleaved_cost.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/cost/compute_cost.h"

namespace tg::cost {
namespace {

// Registers of a work-item without those for its sums: addresses, counters, and operands in flight.
constexpr double kBaseRegisters = 32;
// A sum, and the operands of its next addition. Those of a matrix instruction are its fragments.
constexpr double kRegistersOfSum = 2.5;
// A unit's cache moves two sectors, or looks up two lines, in the time that local memory takes for
// the bytes of one. Fitted.
constexpr double kCacheTime = 1.0 / 2;

// What the address of a fill waits for a quotient and a remainder, in instructions. A work-item's
// fills have several addresses, whose instructions do not wait for each other. Fitted.
constexpr double kQuotientInstructions = 2;
// The waits of a fill whose buffer is in use until a barrier, by those of one that takes turns with
// another one. Fitted.
constexpr double kOneBuffer = 3.0 / 2;

// By how much more the shorter terms delay the longest where a unit has one group, which stops at
// the barriers of its copies. Fitted.
constexpr double kAlone = 1.0 / 2;

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

// The elements that one instruction of a subgroup touches, as runs without gaps of `unit` elements
// or more: `width` adjacent ones for each work-item, where the last loops over work-items are those
// of neighbours.
struct Runs {
  double runs = 1, elements = 1;
};
Runs RunsOf(const ScheduledWork& work, const MemoryAccess& access, double width, double unit,
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
  Runs out;
  for (const Strided& s : strides) {
    if (s.stride <= std::max(out.elements, unit)) {
      out.elements += (s.trips - 1) * s.stride;
    } else {
      out.runs *= s.trips;
    }
  }
  return out;
}

// The least time of an instruction of a subgroup, in which each work-item moves a word, as that of
// bytes of local memory.
double WordBytes(const passes::Target& target) { return 4.0 * target.subgroup_size; }

// The time of one instruction of a subgroup, as that of bytes of local memory: in a cache, that of
// each line that is looked up.
double MovedBytes(const ScheduledWork& work, const MemoryAccess& access, double width,
                  const passes::Target& target) {
  const auto bytes_of = [&](double unit) {
    const Runs runs = RunsOf(work, access, width, unit / access.element_bytes, target);
    return runs.runs * std::ceil(runs.elements * access.element_bytes / unit) * unit;
  };
  // Rows of local memory are padded, so that neighbours are in different banks.
  if (access.is_local) return bytes_of(width * access.element_bytes);
  return kCacheTime * bytes_of(WordBytes(target));  // a line for each subgroup's words
}

// The same of one fill of a copy in local memory.
double BytesOfFill(const MemoryAccess& access, const FillForm& fill, const passes::Target& target) {
  const double words = std::ceil(fill.instructions / target.subgroup_size) * WordBytes(target);
  if (access.is_local) return std::max(words, fill.elements * access.element_bytes);
  const auto sector = static_cast<double>(target.FetchedBytes());
  const double sectors = std::ceil(fill.run * access.element_bytes / sector);
  return std::max(words, kCacheTime * fill.elements / fill.run * sectors * sector);
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
  double fragments = 0;
  for (const MemoryAccess& a : work.accesses) fragments += a.fragment_registers;
  const double operands = fragments > 0 ? sums + fragments : kRegistersOfSum * sums;
  const double registers = items * (kBaseRegisters + operands);
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

bool HasWarpgroups(const ScheduledWork& work) {
  return llvm::any_of(work.accesses, [](const MemoryAccess& a) { return a.by_instruction; });
}

double InstructionReadSeconds(const ScheduledWork& work, const passes::Target& target) {
  double bytes = 0;
  for (const MemoryAccess& a : work.accesses) {
    if (!a.by_instruction) continue;
    bytes += StepsOf(work, a.nest, Steps::kSerial) * work.Lanes(a.nest) / a.spread *
             a.element_bytes * StepsOf(work, a.nest, Steps::kItems);
  }
  return GroupsOfUnit(work, target) * bytes / target.local_bytes_per_second;
}

double AccessSeconds(const ScheduledWork& work, const passes::Target& target) {
  double bytes = 0;
  for (const MemoryAccess& a : work.accesses) {
    if (a.around_copy > 0) {
      bytes += work.Fills(a) * BytesOfFill(a, FillOf(work, a, target), target);
      continue;
    }
    if (a.by_instruction) continue;
    const AccessForm form = FormOf(work, a, target);
    const double moved = a.spread > 1 ? form.elements * a.element_bytes * target.subgroup_size
                                      : MovedBytes(work, a, form.elements, target);
    const double subgroups = std::ceil(StepsOf(work, a.nest, Steps::kItems) / target.subgroup_size);
    bytes += StepsOf(work, a.nest, Steps::kSerial) * subgroups * form.instructions *
             std::max(WordBytes(target), moved);
  }
  const double seconds = bytes / target.local_bytes_per_second;
  return target.accesses_in_turn * GroupsOfUnit(work, target) * seconds;
}

double NotOverlapped(const ScheduledWork& work, const passes::Target& target) {
  const bool has_fills =
      llvm::any_of(work.accesses, [](const MemoryAccess& a) { return a.around_copy > 0; });
  if (!has_fills) return target.not_overlapped;
  const double together = std::min(GroupsOfUnit(work, target), ResidentGroups(work, target));
  return target.not_overlapped * (1 + kAlone / together);
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
  for (const Arithmetic& a : work.arithmetic) {
    // What follows a matrix instruction does not wait for it.
    if (a.is_matrix) continue;
    body_of(a.nest).instructions += work.Lanes(a.nest) * a.weight;
  }
  double copying = 0, wait_of_copies = 0;
  for (const MemoryAccess& a : work.accesses) {
    if (a.around_copy == 0) {
      if (a.by_instruction) continue;
      Body& body = body_of(a.nest);
      body.instructions += AccessInstructions(work, a, target);
      body.loads |= !a.is_local && !a.is_store;
      continue;
    }
    const double items = std::max(1.0, work.Trips(Steps::kItems));
    copying += work.Fills(a) * std::ceil(FillOf(work, a, target).instructions / items) *
               (1 + a.quotients * kQuotientInstructions);
    // The loads that fill a copy wait together, and then the group at a barrier. The loads of the
    // next copy, where it is filled ahead, wait while this one is used.
    if (!a.is_store) {
      const double loads = a.is_ahead ? 0 : target.step_seconds * (a.in_turns ? 1 : kOneBuffer);
      wait_of_copies = std::max(wait_of_copies, work.Fills(a) * (loads + target.barrier_seconds));
    }
  }
  double wait = wait_of_copies + copying * target.instruction_seconds;
  if (HasWarpgroups(work)) {
    // A group waits for its instructions in each step, as at a barrier.
    double steps = 0;
    for (const MemoryAccess& a : work.accesses) {
      if (a.by_instruction) steps = std::max(steps, StepsOf(work, a.nest, Steps::kSerial));
    }
    wait += steps * target.barrier_seconds + ComputeSeconds(work, target, Part::kAll) *
                                                 target.compute_units /
                                                 std::max(1.0, work.Trips(Steps::kGroups));
  }
  for (const auto& [loops, body] : bodies) {
    wait += body.steps * body.instructions * target.instruction_seconds;
    const double together =
        std::clamp(target.overlapped_instructions / std::max(1.0, body.instructions), 1.0,
                   std::max(1.0, body.steps));
    if (body.loads) wait += body.steps / together * target.step_seconds;
  }
  double shares = 1, shuffles = 1;  // work-items that share the terms of a reduce
  for (const WorkLoop& loop : work.loops) {
    const bool divides = loop.is_term && loop.steps == Steps::kItems && !loop.shares;
    if (divides) (loop.is_shuffled ? shuffles : shares) *= loop.trips;
  }
  // Partial results are combined in pairs, by a shuffle and an operation or after a barrier.
  wait += std::ceil(std::log2(shares)) * target.barrier_seconds;
  wait += std::ceil(std::log2(shuffles)) * 2 * target.instruction_seconds;
  return wait * std::max(1.0, GroupsOfUnit(work, target) / ResidentGroups(work, target));
}

}  // namespace tg::cost
