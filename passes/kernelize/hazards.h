// Write-after-read hazards: in-place writes, and the readers of the contents that they overwrite.
//
// A kernel that reads a version of a buffer (versions.h) must run before every write that the
// version does not include. Where it reads what an assign to a part left in that part, writes that
// are ordered neither before the assign nor behind it do not matter: they are to other parts.
#ifndef TG_PASSES_KERNELIZE_HAZARDS_H_
#define TG_PASSES_KERNELIZE_HAZARDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "passes/kernelize/kernel_body.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/placement.h"
#include "passes/kernelize/uses.h"

namespace tg {

struct WriteAfterRead {
  // For each draft, by position: the drafts that must run before it because they read contents that
  // it overwrites. `stored`: the same for assigns that are in the graph already.
  std::vector<std::vector<size_t>> drafts;
  NodeMap<std::vector<size_t>> stored;
  std::vector<const UOp*> writers;  // the nodes that `stored` has entries for
  // Why an assign cannot write in place.
  enum class Conflict : uint8_t {
    kReadsElsewhere,  // it reads other elements than it writes
    kOldAndNew,       // a kernel needs the old contents and a value computed from the new ones
    kCycle,           // kernels each overwrite what the next one reads
  };
  struct CannotWrite {
    const UOp* assign;
    const UOp* buffer;
    Conflict why;
  };
  std::vector<CannotWrite> conflicts;
  // What is done about them: assigns that write through a buffer,
  std::vector<const UOp*> copied;
  // and versions that are copied before, where that did not help, or what is written is on every
  // device (placement.h) and so has no buffer.
  std::vector<const UOp*> snapshots;

  // An assign that waits for itself whatever is copied: what is to read its buffer before is
  // ordered behind (after) what waits for it. Null: there is none.
  const UOp* endless = nullptr;

  bool Copies() const { return !copied.empty() || !snapshots.empty(); }
};

// `drafts`: of one value each. Kernels that would wait for each other are found, and all of them
// dealt with, once there are no conflicts. `order`: what the root reaches, sources first.
WriteAfterRead FindHazards(const std::vector<KernelDraft>& drafts, Placement& placement,
                           UseTable& uses, const NodeMap<UseList>& read_uses, UOpSpan order);

// An error where no copy helps; and the first conflict as one, for those who want no copies (of a
// kCycle: there a result is stored first, and that is all), or none where kernels wait for each
// other: kOldAndNew and kCycle (`cycles` off).
absl::Status CheckCopies(const Body& graph, const WriteAfterRead& hazards, bool copies,
                         bool cycles);

// Rewrites the graph so that each assign in `copied` first stores its value in a separate buffer,
// which its users read, and then copies it. Readers of `snapshots` read copies. The replacements of
// nodes in `fused` are added to it.
void CopyThroughBuffers(Body& graph, const WriteAfterRead& hazards, NodeSet& fused);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_HAZARDS_H_
