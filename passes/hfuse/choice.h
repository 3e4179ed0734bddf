// Which kernels become one: by what launches wait for, read and write. What it costs to have them
// as one is the pass's to know.
#ifndef TG_PASSES_HFUSE_CHOICE_H_
#define TG_PASSES_HFUSE_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"
#include "passes/hfuse/launches.h"
#include "passes/target.h"

namespace tg {

// By kernel of the whole: by argument, that of the whole.
using PartSlots = std::vector<std::vector<int64_t>>;

// One launch in place of one of each of the kernels.
struct FusedLaunch {
  size_t graph = 0;                  // in Module::graphs
  std::vector<const UOp*> calls;     // by kernel
  std::vector<const UOp*> operands;  // of the whole: what it writes, what it reads, variables
};

struct Fusion {
  std::vector<const Kernel*> kernels;
  PartSlots slots;
  std::vector<FusedLaunch> launches;
};

// At most `most` kernels become one. Each of them is launched wherever the others are, so that none
// is compiled twice, as one of them and by itself; they read something in common, and none writes
// what another reads or writes; and their arithmetic is so little that the launches that are saved
// are a part of it worth having. `launches`: of each graph of the module.
std::vector<Fusion> ChooseFusions(const Module& module, const std::vector<Launches>& launches,
                                  const Target& target, size_t most);

}  // namespace tg

#endif  // TG_PASSES_HFUSE_CHOICE_H_
