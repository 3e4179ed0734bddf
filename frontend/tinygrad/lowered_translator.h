// LoweredTranslator: kernels whose loops and addresses stand in the text, in the forms of both
// versions. Newer ones have scalar types and leave lanes to shapes, which Demand turns into types;
// their memory is PARAM and BUFFER, order stands in AFTER, END and GROUP.
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
  // `instructions`: the list that the text is, if it is one.
  LoweredTranslator(const Demand& demand, std::span<const Node* const> instructions, Module& module,
                    Kernel& kernel, Diagnostics& diags);

  bool Run(const Node& sink);
  const std::vector<int64_t>& kept_slots() const { return kept_slots_; }

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
  // Source `i` as memory, not what is there.
  const UOp* Place(const Node& n, size_t i = 0);
  const UOp* Index(const Node& n, DType t);
  // SHRINK of memory: some elements from one on.
  const UOp* Elements(const Node& n);
  const UOp* ElementOf(const Node& n, const UOp* gate);
  const UOp* Address(const Node& n, DType t, size_t first_extra, const UOp** alternative);
  const UOp* Load(const Node& n, DType t);
  const UOp* Store(const Node& n);
  const UOp* Under(const Node& n, const UOp* condition, const UOp* address);
  const UOp* After(const Node& n, DType t);
  // The condition of an IF of instructions whose source 1 is the address that is stored to.
  bool ReadGate(const Node& n);

  // ---- Loops and order (lowered_loops.cc)
  const UOp* Coordinate(const Node& n, const UOp* u, DType t);
  const UOp* Special(const Node& n, DType t);
  const UOp* Range(const Node& n, DType t);
  // The range nodes, not the values of their counters.
  Nodes RangeNodes(const OpenScopes::Scopes& scopes);
  bool RangeSources(const Node& n, size_t first, Nodes* nodes);
  // Those of the loops that source `i` is computed in.
  void LoopsOf(const Node& n, size_t i, Nodes* nodes);
  const UOp* DefineAcc(const Node& n, DType t);
  const UOp* Assign(const Node& n, DType t);
  const UOp* Reduce(const Node& n, DType t);
  const UOp* Reduced(const Node& n, Op op, DType t, const UOp* x);
  const UOp* End(const Node& n);
  const UOp* Group(const Node& n);
  const UOp* Barrier(const Node& n);
  // What happened once `n` has: none for a value.
  Nodes TokensOf(const Node* n) const;
  bool TokenSources(const Node& n, size_t first, Nodes* tokens);
  // Newer versions put barriers in last. Before, memory of a group that is read after it was
  // written has one between, and so has an iteration before the next one writes what it has read.
  bool StoresToLocal(const Nodes& tokens) const;
  bool NeedsBarrierAtEnd(const Nodes& effects, const Nodes& ranges) const;
  // Several tokens of one node.
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
    const UOp* place = nullptr;  // in an iteration
    Nodes ranges;
    DType type;
  };
  struct Gate {
    const UOp* condition = nullptr;
    int blocks = 0;  // IFs in front of a store to the address
    Nodes stores;
  };

  const OpenScopes open_;
  bool has_end_ = false;    // the text says where loops end
  bool has_local_ = false;  // a BUFFER of a work-group's
  bool is_place_ = false;
  llvm::DenseMap<const UOp*, DType> place_types_;  // of INDEX, as printed
  llvm::DenseMap<const Node*, const UOp*> ranges_;
  llvm::DenseMap<const Node*, int64_t> range_ids_;
  std::map<const Node*, Accumulator> accumulators_;
  std::map<const Node*, Nodes> tokens_;  // where a node has another number of them than one
  std::map<std::pair<AddrSpace, int64_t>, const UOp*> local_buffers_;
  llvm::DenseMap<const UOp*, Gate> gates_;  // by address
  std::vector<int64_t> kept_slots_;         // see KernelUse
};

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_LOWERED_TRANSLATOR_H_
