#include "passes/cost/utilization.h"

#include <algorithm>
#include <cmath>

namespace tg::cost {

double Utilization(double groups, double items, const passes::Target& target) {
  const auto units = static_cast<double>(target.compute_units);
  groups = std::max(groups, 1.0), items = std::max(items, 1.0);
  const double rounds = std::ceil(groups / units);
  const double lockstep = target.subgroup_size;
  const double full = items / (std::ceil(items / lockstep) * lockstep);
  return groups / (rounds * units) * full;
}

}  // namespace tg::cost
