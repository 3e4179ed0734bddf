#include "codegen/clike/outline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace tg::clike {
namespace {

// Identifies a function of the source: an op, scalar type and lanes, and for an access the address
// space.
using Function = std::tuple<Op, Scalar, int, AddrSpace>;

// Estimates of the instructions that one inlined copy adds, on vectors.
constexpr int64_t kMathInstructions = 64, kInstructionsPerLane = 2;

// Returns the number of instructions of the function that `u` is, or 0 if it is an operator.
int64_t InstructionsOf(const UOp* u) {
  switch (u->op) {
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kPow:
      return u->dtype.lanes() > 1 && u->dtype.scalar() != Scalar::kF16 ? kMathInstructions : 0;
    case Op::kLoad:
      return StrideOf(u) != 1 ? kInstructionsPerLane * u->dtype.lanes() : 0;
    case Op::kStore:
      return StrideOf(u) != 1 ? kInstructionsPerLane * u->src(1)->dtype.lanes() : 0;
    default:
      return 0;
  }
}

Function FunctionOf(const UOp* u) {
  const DType t = u->op == Op::kStore ? u->src(1)->dtype : u->dtype;
  const bool access = u->op == Op::kLoad || u->op == Op::kStore;
  return {u->op, t.scalar(), t.lanes(),
          access ? MemoryOf(u->src(0))->dtype.space() : AddrSpace::kReg};
}

// Finds the loops that carry accumulators: register scratch that an iteration reads before it
// writes it.
class Loops {
 public:
  // Calls `visit` for each node outside those loops.
  template <typename Visit>
  static void ForEachOutside(const std::vector<const UOp*>& order, Visit&& visit) {
    const std::vector<bool> carries = FindCarrying(order);
    std::vector<bool> open = {false};  // whether each enclosing block is inside such a loop
    for (size_t p = 0; p < order.size(); ++p) {
      const UOp* u = order[p];
      for (size_t i = ClosedBy(u); i > 0 && open.size() > 1; --i) open.pop_back();
      if (!open.back()) visit(u);
      if (Opens(u)) open.push_back(open.back() || carries[p]);
    }
  }

 private:
  static bool Opens(const UOp* u) { return u->op == Op::kRange || u->op == Op::kIf; }
  static size_t ClosedBy(const UOp* u) {
    return u->op == Op::kEnd ? u->num_srcs - 1 : u->op == Op::kEndIf ? 1 : 0;
  }

  // By position: whether the loop that begins there carries an accumulator.
  static std::vector<bool> FindCarrying(const std::vector<const UOp*>& order) {
    std::vector<bool> carries(order.size(), false);
    using Element = std::pair<const UOp*, const UOp*>;  // a register scratch and an index
    struct Block {
      size_t begin;
      std::vector<Element> read;
    };
    std::vector<Block> blocks = {{0, {}}};
    for (size_t p = 0; p < order.size(); ++p) {
      const UOp* u = order[p];
      for (size_t i = ClosedBy(u); i > 0 && blocks.size() > 1; --i) blocks.pop_back();
      if (u->op == Op::kLoad || u->op == Op::kStore) {
        const UOp *address = u->src(0), *memory = MemoryOf(address);
        if (memory->dtype.space() == AddrSpace::kReg) {
          const Element element = {memory, address->op == Op::kIndex ? address->src(1) : nullptr};
          std::vector<Element>& read = blocks.back().read;
          if (u->op == Op::kLoad) {
            read.push_back(element);
          } else if (order[blocks.back().begin]->op == Op::kRange &&
                     std::find(read.begin(), read.end(), element) != read.end()) {
            carries[blocks.back().begin] = true;
          }
        }
      }
      if (Opens(u)) blocks.push_back({p, {}});
    }
    return carries;
  }
};

}  // namespace

llvm::DenseSet<const UOp*> FindOutlined(const Kernel& kernel, const passes::Target& target) {
  if (target.inlined_instructions == 0) return {};
  std::map<Function, std::vector<const UOp*>> copies;
  Loops::ForEachOutside(kernel.body.linear, [&](const UOp* u) {
    if (InstructionsOf(u) > 0) copies[FunctionOf(u)].push_back(u);
  });
  llvm::DenseSet<const UOp*> outlined;
  for (const auto& [function, nodes] : copies) {
    const auto count = static_cast<int64_t>(nodes.size());
    if (count * InstructionsOf(nodes[0]) <= target.inlined_instructions) continue;
    outlined.insert(nodes.begin(), nodes.end());
  }
  return outlined;
}

}  // namespace tg::clike
