// What values and kernels without a schedule cost: arithmetic at the device's full rate, data on
// their way through one memory, and what a device loses that is not full. Passes that choose
// between forms of a graph compare these; PredictCost ranks schedules.
#ifndef TG_PASSES_COST_BOUNDS_H_
#define TG_PASSES_COST_BOUNDS_H_

#include <cstddef>
#include <cstdint>

#include "passes/target.h"

namespace tg::cost {

// Seconds for `operations` on floats, a multiply-add being two, on all units.
double ArithmeticSeconds(double operations, const passes::Target& target);
// The same by matrix instructions on factors of `bits` bits. The target must have them.
double MatrixSeconds(double operations, size_t bits, const passes::Target& target);
// What `multiply_adds` take longer if each loads its two factors, than in a register tile whose
// results share loads.
double UnsharedLoadSeconds(double multiply_adds, const passes::Target& target);
// Seconds of a work-item that waits for this many loads from memory, one after the other.
double LoadSeconds(double loads, const passes::Target& target);
// Seconds to move `bytes` once between memory, or the caches of all cores, and the units.
double TransferSeconds(double bytes, const passes::Target& target);
double CoreCacheSeconds(double bytes, const passes::Target& target);
// Seconds to launch `kernels`.
double LaunchSeconds(double kernels, const passes::Target& target);
// Seconds for a value of `bytes` that one kernel stores and another one loads: its way to memory
// and back, and the launch that the second kernel adds. `kernels`: how many it adds.
double StoredSeconds(double bytes, const passes::Target& target, double kernels = 1);
// Seconds for one core to store `bytes` and load them again, which the caches hold if they are few.
double ThroughMemorySeconds(double bytes, const passes::Target& target);
// The bytes that move between memory and the units while a kernel is launched.
double BytesOfLaunch(const passes::Target& target);
// What work of `seconds` on the whole device takes longer on the part `utilization` of it.
double IdleSeconds(double seconds, double utilization);

// The number of results that keeps the device busy: compute_units times the greater of
// items_per_unit and groups_per_unit.
int64_t WantedParallelism(const passes::Target& target);
// The number of work-items of a group that share a row of `row` results or terms, if there are
// `parallel` rows. 1 on a CPU, and for rows shorter than twice Target::least_group_items.
double RowItems(const passes::Target& target, double parallel, double row);
// The fraction of the device (0 to 1) that `parallel` rows keep busy, if up to `row` work-items of
// a group share a row.
double RowUtilization(const passes::Target& target, double parallel, double row);

// The share, above 0 and at most 1, of a unit's schedulers that work on average while it runs this
// many subgroups, which are divided among them: some have one more than others.
double SchedulerShare(double subgroups, const passes::Target& target);

// The share, above 0 and at most 1, of the device's units that work on average while `groups`
// work-groups of `items` work-items each run: units that have no group, or none in the last round,
// are idle, and so are work-items that are missing in a subgroup and schedulers without one.
double Utilization(double groups, double items, const passes::Target& target);

// A sum of products on a GPU, which may be added up from parts.
struct ProductSize {
  int64_t results = 1, terms = 1;
  int64_t step = 1;       // terms whose loads a work-item issues together
  int64_t bytes = 4;      // of a result
  double arithmetic = 0;  // seconds of the fully used device
};
// Seconds of it with this many parts, where `share` work-items of a group share the terms of a
// result, and of storing and loading the parts if there are several.
double PartsSeconds(const ProductSize& size, int64_t parts, int64_t share,
                    const passes::Target& target);

}  // namespace tg::cost

#endif  // TG_PASSES_COST_BOUNDS_H_
