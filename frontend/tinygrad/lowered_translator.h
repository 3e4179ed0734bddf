// LoweredTranslator: kernels with explicit loops and addresses, in the forms of both versions.
// Newer versions have scalar types and leave lanes to shapes, which Demand turns into types; their
// memory is PARAM and BUFFER, and AFTER, END and GROUP define the order.
#ifndef TG_FRONTEND_TINYGRAD_LOWERED_TRANSLATOR_H_
#define TG_FRONTEND_TINYGRAD_LOWERED_TRANSLATOR_H_

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tinygrad/open_scopes.h"
#include "frontend/tinygrad/translator.h"
#include "llvm/ADT/DenseMap.h"

namespace tg::tinygrad {

class LoweredTranslator : public Translator {
 public:
  // `instructions`: the instructions if the text is a list of them, else empty.
  LoweredTranslator(const Demand& demand, std::span<const Node* const> instructions, Module& module,
                    Kernel& kernel, Diagnostics& diags);

  bool Run(const Node& sink);
  const std::vector<int64_t>& retained_slots() const { return retained_slots_; }

 private:
  const UOp* Other(const Node& n, DType t) override;
  const UOp* AsValue(const Node& n, const UOp* u) override;
  const UOp* OtherPredicate(const Node& n, const UOp* u) override;
  std::vector<const Node*> Prerequisites(const Node& n) const override;

  // ---- Memory (lowered_memory.cc)
  const UOp* DefineGlobal(const Node& n);
  const UOp* Parameter(const Node& n, DType t);
  const UOp* DefineLocal(const Node& n);
  const UOp* LocalBuffer(const Node& n, DType t);
  // Source `i` as memory, without a load.
  const UOp* Place(const Node& n, size_t i = 0);
  const UOp* Index(const Node& n, DType t);
  // SHRINK of memory: consecutive elements.
  const UOp* Elements(const Node& n);
  const UOp* ElementOf(const Node& n, const UOp* gate);
  const UOp* Address(const Node& n, DType t, size_t first_extra, const UOp** alternative);
  const UOp* Load(const Node& n, DType t);
  const UOp* Store(const Node& n);
  const UOp* Under(const Node& n, const UOp* condition, const UOp* address);
  const UOp* After(const Node& n, DType t);
  // Reads the condition of an IF in a list of instructions. Its source 1 is the address of the
  // store.
  bool ReadGate(const Node& n);

  // ---- Loops and order (lowered_loops.cc)
  const UOp* Coordinate(const Node& n, const UOp* u, DType t);
  const UOp* Special(const Node& n, DType t);
  const UOp* Range(const Node& n, DType t);
  // The range nodes, not the values of the counters.
  Nodes RangeNodes(const OpenScopes::Scopes& scopes);
  bool RangeSources(const Node& n, size_t first, Nodes* nodes);
  // Appends the loops in which source `i` is computed.
  void LoopsOf(const Node& n, size_t i, Nodes* nodes);
  const UOp* DefineAcc(const Node& n, DType t);
  const UOp* Assign(const Node& n, DType t);
  const UOp* Reduce(const Node& n, DType t);
  const UOp* Reduced(const Node& n, Op op, DType t, const UOp* x);
  const UOp* End(const Node& n);
  const UOp* Group(const Node& n);
  const UOp* Barrier(const Node& n);
  // The effects of `n` that a user waits for; empty for a value.
  Nodes TokensOf(const Node* n) const;
  bool TokenSources(const Node& n, size_t first, Nodes* tokens);
  // Whether a barrier is needed. Only the last stages of newer versions have barriers. In earlier
  // stages, a barrier separates the stores to a work-group's memory from its loads, and the loads
  // of an iteration from the stores of the next one.
  bool StoresToLocal(const Nodes& tokens) const;
  bool NeedsBarrierAtEnd(const Nodes& effects, const Nodes& ranges) const;
  // Assigns several tokens to one node.
  const UOp* Keep(const Node& n, Nodes tokens);

  // ---- Lanes (lowered_lanes.cc)
  const UOp* Unroll(const Node& n, DType t);
  const UOp* Contract(const Node& n, DType t);
  const UOp* VConst(const Node& n, DType t);
  const UOp* Gather(const Node& n, DType t, Op op);
  const UOp* Vectorize(const Node& n, DType t);
  const UOp* Gep(const Node& n, DType t);
  const UOp* Lane(const Node& n, DType t);

  struct Accumulator {
    const UOp* memory = nullptr;
    const UOp* place = nullptr;  // its element in the iteration
    Nodes ranges;
    DType type;
  };
  struct Gate {
    const UOp* condition = nullptr;
    int blocks = 0;  // number of IFs of stores to the address
    Nodes stores;
  };

  const OpenScopes open_;
  bool has_end_ = false;    // the text ends loops explicitly
  bool has_local_ = false;  // the text has a BUFFER in local memory
  bool is_place_ = false;
  llvm::DenseMap<const UOp*, DType> place_types_;  // of INDEX, as printed
  llvm::DenseMap<const Node*, const UOp*> ranges_;
  llvm::DenseMap<const Node*, int64_t> range_ids_;
  std::map<const Node*, Accumulator> accumulators_;
  std::map<const Node*, Nodes> tokens_;  // of nodes that have zero or several tokens
  std::map<std::pair<AddrSpace, int64_t>, const UOp*> local_buffers_;
  llvm::DenseMap<const UOp*, Gate> gates_;  // by address
  std::vector<int64_t> retained_slots_;     // see KernelUse
};

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_LOWERED_TRANSLATOR_H_
