// What a graph's steps read and write, and which states are constants: @init computes them of
// known contents, and nothing else writes them.
#ifndef TG_RUNTIME_PLAN_INIT_CONSTANTS_H_
#define TG_RUNTIME_PLAN_INIT_CONSTANTS_H_

#include <set>
#include <vector>

#include "runtime/plan/executable.h"

namespace tg::runtime {

// Buffers by index.
struct StepAccess {
  std::set<int> reads, writes;
};
// By step of the graph.
std::vector<StepAccess> AccessesOf(const Executable& executable, const ScheduledGraph& graph);
std::set<int> WrittenBy(const Executable& executable, const ScheduledGraph& graph);

// Whether @init gives the same results in each session: all that it reads is known, and what it
// computes has one size.
bool IsInitKnown(const Executable& executable, const ScheduledGraph& init);

// The states that @init computes, if they are constants; else none: some of them have initial
// values, or values that depend on what is set.
std::set<int> InitConstants(const Executable& executable);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_INIT_CONSTANTS_H_
