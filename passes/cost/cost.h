// The predicted cost of a kernel, by terms.
#ifndef TG_PASSES_COST_COST_H_
#define TG_PASSES_COST_COST_H_

#include <string>
#include <string_view>

#include "llvm/ADT/SmallVector.h"

namespace tg::cost {

struct Cost {
  double compute = 0;  // seconds of the fully used device
  // Seconds in which copies are filled, where nothing else is done meanwhile. All other terms are
  // without them.
  double fills = 0;
  // Seconds by memory, as MemoryLevels, and, on units that interleave work-items, of accesses to
  // the nearest memory and of waits; and their names.
  llvm::SmallVector<double, 5> memory;
  llvm::SmallVector<std::string_view, 5> levels;
  double utilization = 1;         // share of the device that computes
  bool overlaps_compute = false;  // while compute lasts, work-items do the rest
  double launch = 0;              // seconds of the launch
  double groups = 0;              // seconds in which the kernel and its work-groups begin and end
  double not_overlapped = 0;      // the part of the shorter terms by which they delay the longest

  double Total() const { return launch + OnDevice(); }
  // Without the launch, as the device's own clock measures it.
  double OnDevice() const;
  // The greatest part of the total: "compute", "fills", a memory level's name, or "launch", which
  // counts the seconds of the launch and of the groups together.
  std::string_view Limit() const;
  // "total 1.2 s: compute 1 s at 83 %, core cache 0.3 s, ..., launch 5 us; limit compute".
  std::string Text() const;
};

}  // namespace tg::cost

#endif  // TG_PASSES_COST_COST_H_
