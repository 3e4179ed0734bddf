// Executes the steps of a kernel for whole work-groups: each op for all work-items before the next
// op, so that barriers and subgroup ops need no special treatment.
//
// The value of a node is an array of bits over (work-items) x (unroll axes) x (lanes). Every node
// has its storage, so that a run allocates nothing. Several groups are executed together; they
// share global memory only.
#ifndef TG_IR_INTERPRET_MACHINE_H_
#define TG_IR_INTERPRET_MACHINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/memory.h"
#include "ir/interpret/step_list.h"
#include "ir/module.h"
#include "ir/walk.h"

namespace tg::interpret {

class Machine {
 public:
  Machine(const Kernel& kernel, std::span<const KernelArg> args, const VarValues& vars,
          const InterpretOptions& options);
  absl::Status Run();

 private:
  struct UnrollAxis {
    int64_t axis = 0;
    int64_t size = 0;
    friend bool operator==(const UnrollAxis&, const UnrollAxis&) = default;
  };
  using Axes = std::vector<UnrollAxis>;  // ascending, the last one fastest

  // Where a node's value is stored, and which point of each source each of its points reads.
  struct Layout {
    bool has_value = false;
    Axes axes;
    int points = 1;  // product of the axes
    int lanes = 1;   // of the value; of an address: its number of addresses
    size_t place = 0;
    int memory = -1;  // of an address
    // Per source: the source's point for each of this node's points; empty where they are the same.
    std::vector<std::vector<int>> source_points;
  };
  struct Frame {
    int64_t i = 0;
    int64_t end = 0;
    bool uniform = true;
    bool saved_all = true;
    std::vector<uint8_t> saved;
    std::vector<int64_t> ends;
  };
  struct Accumulators {
    std::vector<double> f;
    std::vector<long double> wide;
    std::vector<int64_t> bits;
  };

  // ---- Set-up (machine_layout.cc)
  bool Prepare();
  bool MeasureGrid();
  bool LayOut();
  bool LayOutNode(const UOp* u);
  bool CheckSources(const UOp* u);
  bool AddMemory(const UOp* u);
  bool HostValue(const UOp* u, int64_t* value);

  // ---- Running (machine.cc)
  void StartBatch(int64_t first_group, int64_t groups);
  bool RunSteps();
  bool BeginLoop(const Step& step, size_t* pc);
  bool EndLoop(const Step& step, size_t* pc);
  bool BeginIf(const Step& step, size_t* pc);

  // ---- Ops (machine_ops.cc)
  bool Eval(const UOp* u);
  bool Alu(const UOp* u);
  bool LaneOp(const UOp* u);
  bool Contract(const UOp* u);
  void ReduceBegin(const UOp* u);
  bool ReduceStep(const UOp* u);
  void ReduceEnd(const UOp* u);

  // ---- Memory ops (machine_memory.cc)
  bool Index(const UOp* u);
  bool Load(const UOp* u);
  bool Store(const UOp* u);
  bool CopyAsync(const UOp* u);
  bool CopyTransposed(const UOp* u);
  bool Wait(const UOp* u);
  bool Explain(const UOp* u, const Access& access, int64_t item, int64_t at);

  // ---- Ops of a group (machine_group.cc)
  bool GroupReduce(const UOp* u);
  // Fails unless all work-items of whole subgroups of `width` are here.
  bool NeedSubgroups(const UOp* u, int64_t width);
  bool Shuffle(const UOp* u);
  bool TransposeItems(const UOp* u);
  bool Wmma(const UOp* u);
  bool Wgmma(const UOp* u);
  bool LdMatrix(const UOp* u);
  // Fails unless, of every `together` neighbouring work-items, all or none are active.
  bool NeedAll(const UOp* u, int64_t together);

  bool Fail(const UOp* u, std::string message);
  int64_t* Out(const UOp* u) { return slab_.data() + layout_[u].place * capacity_; }
  // The value of source i, broadcast to the points of `u`.
  const int64_t* In(const UOp* u, size_t i);
  int Points(const UOp* u) { return layout_[u].points; }
  // Points of `u` over all work-items.
  size_t Rows(const UOp* u) { return items_ * static_cast<size_t>(layout_[u].points); }
  bool Active(size_t item) const { return all_active_ || active_[item]; }
  int64_t GroupOf(size_t item) const { return first_group_ + static_cast<int64_t>(item) / group_; }
  Access AccessOf(const UOp* address, size_t item) const;

  const Kernel& kernel_;
  const Body& body_;
  std::span<const KernelArg> args_;
  const VarValues& vars_;
  const InterpretOptions& options_;
  absl::Status status_;

  Steps steps_;
  std::vector<const UOp*> nodes_;  // all, sources first
  NodeMap<Layout> layout_;
  NodeMap<int> memory_of_;  // 1 + index
  std::map<int64_t, int64_t> axis_size_;
  std::vector<std::unique_ptr<Memory>> memories_;
  NodeMap<int> accumulators_of_;  // 1 + index
  std::vector<Accumulators> accumulators_;
  size_t words_ = 0;  // size of all values of one work-item

  int64_t special_size_[6] = {1, 1, 1, 1, 1, 1};
  bool special_used_[6] = {};
  int64_t group_ = 1;    // work-items a group
  size_t capacity_ = 1;  // work-items that fit in the slab
  size_t items_ = 1;     // work-items of this batch
  int64_t first_group_ = 0;
  int64_t epoch_ = 0;  // barriers so far
  int64_t steps_done_ = 0;

  std::vector<int64_t> slab_;
  std::vector<std::vector<int64_t>> temporaries_;
  std::vector<uint8_t> active_;
  bool all_active_ = true;
  std::vector<Frame> frames_;
  size_t depth_ = 0;

  // Pending writes of asynchronous copies, by batches. The last batch is not committed yet.
  struct PendingWrite {
    Access access;
    int64_t at;
    int64_t bits;
  };
  std::vector<std::vector<PendingWrite>> batches_{1};
};

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_MACHINE_H_
