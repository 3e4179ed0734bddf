#include "passes/cost/scheduled_work.h"

namespace tg::cost {

double ScheduledWork::Trips(Steps steps) const {
  double product = 1;
  for (const WorkLoop& loop : loops) {
    product *= loop.steps == steps && !loop.shares ? loop.trips : 1;
  }
  return product;
}

double ScheduledWork::Executions(const LoopNestOf& nest) const {
  double product = 1;
  for (const uint16_t loop : nest.loops) product *= loops[loop].trips;
  return product;
}

double ScheduledWork::Lanes(const LoopNestOf& nest) const {
  double product = 1;
  for (const uint16_t loop : nest.lanes) product *= loops[loop].trips;
  return product;
}

}  // namespace tg::cost
