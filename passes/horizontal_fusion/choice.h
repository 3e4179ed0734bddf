// Chooses the kernels to fuse horizontally, by the dependences, reads and writes of their launches.
// The cost of a fusion is supplied by the pass.
#ifndef TG_PASSES_HORIZONTAL_FUSION_CHOICE_H_
#define TG_PASSES_HORIZONTAL_FUSION_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"
#include "passes/horizontal_fusion/launches.h"
#include "passes/target.h"

namespace tg {

// The argument of the fused kernel, by member and by argument of the member.
using MemberSlots = std::vector<std::vector<int64_t>>;

// One launch of the fused kernel, which replaces one launch of each member.
struct FusedLaunch {
  size_t graph = 0;                  // in Module::graphs
  std::vector<const UOp*> calls;     // the replaced launch, by member
  std::vector<const UOp*> operands;  // of the fused kernel: outputs, inputs, variables
};

struct Fusion {
  std::vector<const Kernel*> kernels;
  MemberSlots slots;
  std::vector<FusedLaunch> launches;
};

// Chooses fusions of at most `most` kernels. Wherever one member is launched, all are, so that no
// kernel is needed both fused and unfused. The members read some buffer in common, and no member
// writes memory that another one reads or writes. The saved launch overhead must be a significant
// fraction of their arithmetic. `launches`: the launches of each graph of the module.
std::vector<Fusion> ChooseFusions(const Module& module, const std::vector<Launches>& launches,
                                  const Target& target, size_t most);

}  // namespace tg

#endif  // TG_PASSES_HORIZONTAL_FUSION_CHOICE_H_
