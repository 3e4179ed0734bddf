#include "passes/cost/bounds.h"

#include <algorithm>

namespace tg::cost {

double ArithmeticSeconds(double operations, const passes::Target& target) {
  return operations / target.flops_per_second;
}

double MatrixSeconds(double operations, size_t bits, const passes::Target& target) {
  return operations / target.MatrixOperationsPerSecond(bits);
}

double UnsharedLoadSeconds(double multiply_adds, const passes::Target& target) {
  const double together = ArithmeticSeconds(2 * multiply_adds, target);
  return together * std::max(0.0, 2 * target.load_weight - 1);
}

double LoadSeconds(double loads, const passes::Target& target) {
  return loads * target.load_seconds;
}

double TransferSeconds(double bytes, const passes::Target& target) {
  return bytes / target.bytes_per_second;
}

double CoreCacheSeconds(double bytes, const passes::Target& target) {
  return bytes / (target.core_cache_bytes_per_second * target.compute_units);
}

double LaunchSeconds(double kernels, const passes::Target& target) {
  return kernels * target.launch_seconds;
}

double StoredSeconds(double bytes, const passes::Target& target, double kernels) {
  return TransferSeconds(2 * bytes, target) + LaunchSeconds(kernels, target);
}

double ThroughMemorySeconds(double bytes, const passes::Target& target) {
  return bytes > static_cast<double>(target.cache_bytes)
             ? bytes * (1 + target.write_traffic) / target.bytes_per_second
             : 2 * bytes / target.shared_cache_bytes_per_second;
}

double BytesOfLaunch(const passes::Target& target) {
  return target.launch_seconds * target.bytes_per_second;
}

double IdleSeconds(double seconds, double utilization) { return seconds * (1 / utilization - 1); }

int64_t WantedParallelism(const passes::Target& target) {
  return int64_t{target.compute_units} *
         std::max<int64_t>(target.items_per_unit, target.groups_per_unit);
}

double RowItems(const passes::Target& target, double parallel, double row) {
  const auto least = static_cast<double>(2 * target.least_group_items);
  if (!target.HidesWaits() || row < least) return 1;
  return std::min(row, static_cast<double>(target.MostItems(parallel, row)));
}

double RowUtilization(const passes::Target& target, double parallel, double row) {
  const double want = static_cast<double>(int64_t{target.compute_units} * target.items_per_unit);
  return std::min(1.0, parallel * RowItems(target, parallel, row) / want);
}

double SchedulerShare(double subgroups, const passes::Target& target) {
  const double schedulers = target.unit_schedulers;
  return subgroups / (std::ceil(subgroups / schedulers) * schedulers);
}

double Utilization(double groups, double items, const passes::Target& target) {
  const auto units = static_cast<double>(target.compute_units);
  groups = std::max(groups, 1.0), items = std::max(items, 1.0);
  const double rounds = std::ceil(groups / units);
  const double subgroups = std::ceil(items / target.subgroup_size);
  const double full = items / (subgroups * target.subgroup_size);
  return groups / (rounds * units) * full * SchedulerShare(rounds * subgroups, target);
}

double PartsSeconds(const ProductSize& size, int64_t parts, int64_t share,
                    const passes::Target& target) {
  const int64_t words = target.AccessWords();
  const auto items =
      static_cast<double>(size.results * parts * share) / static_cast<double>(words * words);
  const double busy = std::min(1.0, items / static_cast<double>(WantedParallelism(target)));
  const double waits = LoadSeconds(
      static_cast<double>(size.terms) / static_cast<double>(parts * share * size.step), target);
  const double computed = std::max(size.arithmetic / busy, waits);
  if (parts == 1) return computed;
  return computed + StoredSeconds(static_cast<double>(size.results * parts * size.bytes), target);
}

}  // namespace tg::cost
