#include "frontend/tinygrad/lowered_import.h"

#include <algorithm>
#include <map>
#include <vector>

#include "frontend/tinygrad/lowered_translator.h"

namespace tg::tinygrad {
namespace {

// The axis number: 4 in arg=4 and in arg=(4, AxisType.LOOP).
int64_t RangeNumber(const Node& range) {
  const Value& v = range.arg;
  if (v.kind == Kind::kInt) return v.number;
  const auto items = v.list();
  return !items.empty() && items[0].value.kind == Kind::kInt ? items[0].value.number : 0;
}

// The numbers that identify a loop: 4 and 1 in arg=(4, 1, AxisType.LOOP).
std::vector<int64_t> NumbersOf(const Node& range) {
  std::vector<int64_t> numbers{RangeNumber(range)};
  for (const Item& item : range.arg.list()) {
    if (item.value.kind == Kind::kInt) numbers.push_back(item.value.number);
  }
  return numbers;
}

}  // namespace

LoweredTranslator::LoweredTranslator(const Demand& demand,
                                     std::span<const Node* const> instructions, Module& module,
                                     Kernel& kernel, Diagnostics& diags)
    : Translator(demand, module, kernel.body, diags), open_(demand) {
  has_shapes_ = false;
  std::vector<const Node*> ranges;
  for (const Node* n : demand.nodes()) {
    has_end_ |= n->op == "END";
    if (n->op == "RANGE") ranges.push_back(n);
  }
  // Outer ranges have smaller numbers in tinygrad and in tg; sums put outer ranges first.
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Node* a, const Node* b) { return RangeNumber(*a) < RangeNumber(*b); });
  // In a list, each instruction prints the loops around it again.
  std::map<std::vector<int64_t>, int64_t> known;
  for (const Node* n : ranges) {
    if (instructions.empty()) {
      range_ids_[n] = ctx_.NextId();
      continue;
    }
    const auto [it, is_new] = known.try_emplace(NumbersOf(*n), 0);
    if (is_new) it->second = ctx_.NextId();
    range_ids_[n] = it->second;
  }
}

bool LoweredTranslator::Run(const Node& sink) {
  if (!TranslateAll()) return false;
  Nodes roots;
  for (size_t i = 0; i < sink.num_srcs; ++i) {
    const Nodes tokens = TokensOf(sink.src(i));
    if (tokens.empty()) return Refuse(*sink.src(i), "it has no effect");
    for (const UOp* t : tokens) {
      if (!llvm::is_contained(roots, t)) roots.push_back(t);
    }
  }
  SetRoot(sink, {roots.data(), roots.size()});
  return true;
}

const UOp* LoweredTranslator::Other(const Node& n, DType t) {
  switch (demand_.OpOf(&n).cls) {
    case OpClass::kSink:
    case OpClass::kLinear:
      return nullptr;
    case OpClass::kDefineGlobal:
      return DefineGlobal(n);
    case OpClass::kDefineLocal:
      return DefineLocal(n);
    case OpClass::kBuffer:
    case OpClass::kParam:
      return Parameter(n, t);
    case OpClass::kDefineAcc:
      return DefineAcc(n, t);
    case OpClass::kAssign:
      return Assign(n, t);
    case OpClass::kSpecial:
      return Special(n, t);
    case OpClass::kRange:
      return Range(n, t);
    case OpClass::kIndex:
      return Index(n, t);
    case OpClass::kMovement:
      return Elements(n);
    case OpClass::kLoad:
      return Load(n, t);
    case OpClass::kStore:
      return Store(n);
    case OpClass::kAfter:
      return After(n, t);
    case OpClass::kBarrier:
      return Barrier(n);
    case OpClass::kIf: {
      // In a list of instructions of newer versions, the IF of a store is read here. Elsewhere an
      // op that waits for an IF takes its condition as a gate, and waits for the effects of the IF.
      if (n.num_srcs > 1 && demand_.IsMemory(n.src(1))) {
        ReadGate(n);
        return nullptr;
      }
      return n.num_srcs > 1 ? Source(n, 1, kVoid) : nullptr;
    }
    case OpClass::kReduce:
      return Reduce(n, t);
    case OpClass::kUnroll:
      return Unroll(n, t);
    case OpClass::kContract:
      return Contract(n, t);
    case OpClass::kVConst:
      return VConst(n, t);
    case OpClass::kVectorize:
    case OpClass::kStack:
      return Vectorize(n, t);
    case OpClass::kGep:
      return Gep(n, t);
    case OpClass::kCat:
      return Gather(n, t, Op::kCat);
    case OpClass::kEnd:
      return n.op == "END" ? End(n) : nullptr;
    case OpClass::kEndIf:
      return nullptr;  // the graph defines where blocks end
    case OpClass::kGroup:
      return Group(n);
    default:
      return Fail(n, "this op does not stand in a lowered kernel");
  }
}

bool ImportLowered(const Demand& demand, const Node& sink,
                   std::span<const Node* const> instructions, Module& module, Kernel& kernel,
                   std::vector<int64_t>* retained_slots, Diagnostics& diags) {
  bool has_lanes = false, unrolls = false;
  for (const Node* n : demand.nodes()) {
    const OpClass c = demand.OpOf(n).cls;
    unrolls |= c == OpClass::kReduce || c == OpClass::kUnroll || c == OpClass::kContract;
    has_lanes |= demand.TypeOf(n).type.lanes() > 1;
  }
  kernel.stage = has_lanes && !unrolls ? Stage::kExpanded : Stage::kLowered;
  LoweredTranslator translator(demand, instructions, module, kernel, diags);
  const bool good = translator.Run(sink);
  *retained_slots = translator.retained_slots();
  return good;
}

}  // namespace tg::tinygrad
