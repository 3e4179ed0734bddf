// Write-after-read hazards: a kernel that reads a buffer must run before an in-place write
// overwrites what it reads.
//
// A kernel that reads a version of a buffer (versions.h) must run before every write that the
// version does not include. There is one exception. If the version is a part of the buffer that an
// assign wrote, then writes that are not ordered with respect to that assign are to other parts,
// and do not matter.
#ifndef TG_PASSES_KERNELIZE_HAZARDS_H_
#define TG_PASSES_KERNELIZE_HAZARDS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/placement.h"
#include "passes/kernelize/uses.h"

namespace tg::kernelize {

struct WriteAfterRead {
  // For each draft: the positions of the drafts that must run before it because they read contents
  // that it overwrites. `stored`: the same for assigns that were in the graph before.
  std::vector<std::vector<size_t>> drafts;
  NodeMap<std::vector<size_t>> stored;
  std::vector<const UOp*> writers;  // the nodes that `stored` has entries for
  // Why an assign cannot write in place.
  enum class Conflict : uint8_t {
    kReadsElsewhere,  // it reads elements that it does not write
    kOldAndNew,       // a kernel needs the old contents and a value computed from the new ones
    kCycle,           // kernels each overwrite what the next one reads
  };
  struct CannotWrite {
    const UOp* assign;
    const UOp* buffer;
    Conflict why;
  };
  std::vector<CannotWrite> conflicts;
  // How the conflicts are resolved. These assigns store their value in a separate buffer first.
  std::vector<const UOp*> copied;
  // These versions are copied before they are overwritten: the separate buffer did not help, or the
  // written value is on every device (placement.h) and so has no buffer.
  std::vector<const UOp*> snapshots;

  // An assign that waits for itself even if values are copied: a reader of the old contents is
  // ordered (by `after`) after a node that waits for the assign. Null if there is none.
  const UOp* endless = nullptr;

  // Drafts, each overwriting what the others read, that one kernel must hold. `drafts` does not
  // order them among each other.
  std::vector<std::vector<size_t>> together;

  bool Copies() const { return !copied.empty() || !snapshots.empty(); }
};

// Whether one kernel may hold all of these drafts, none of which needs what another one stores.
using MayJoin = std::function<bool(const std::vector<size_t>&)>;

// Finds the hazards of `drafts`, each of which stores one value. Cycles of kernels that wait for
// each other are only searched for, and then all resolved, if there are no other conflicts: those
// of drafts that `may_join` without a copy.
// `order`: the nodes that the root reaches, sources first.
WriteAfterRead FindHazards(const std::vector<KernelDraft>& drafts, Placement& placement,
                           UseTable& uses, const NodeMap<UseList>& read_uses, UOpSpan order,
                           const MayJoin& may_join);

// Returns an error if no copy resolves a conflict. Without `copies`, the first conflict is an error
// too, except a kCycle, which is resolved by storing one result in a separate buffer first. Without
// `cycles`, the first conflict of kind kOldAndNew or kCycle is an error.
absl::Status CheckCopies(const Body& graph, const WriteAfterRead& hazards, bool copies,
                         bool cycles);

// Rewrites the graph so that each assign in `copied` first stores its value in a separate buffer,
// which its users read, and then copies it. Readers of `snapshots` read copies. The replacements of
// nodes in `fused` are added to it.
void CopyThroughBuffers(Body& graph, const WriteAfterRead& hazards, NodeSet& fused);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_HAZARDS_H_
