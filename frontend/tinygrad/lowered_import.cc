#include "frontend/tinygrad/lowered_import.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tinygrad/buffers.h"
#include "frontend/tinygrad/open_scopes.h"
#include "frontend/tinygrad/translator.h"
#include "llvm/ADT/DenseMap.h"

namespace tg::tinygrad {
namespace {

class LoweredTranslator : public Translator {
 public:
  LoweredTranslator(const Demand& demand, Module& module, Kernel& kernel, Diagnostics& diags)
      : Translator(demand, module, kernel.body, diags), open_(demand) {
    has_shapes_ = false;
    std::vector<const Node*> ranges;
    for (const Node* n : demand.nodes()) {
      has_end_ |= n->op == "END";
      if (n->op == "RANGE") ranges.push_back(n);
    }
    // Outer ranges have smaller numbers, there as here, where sums put them first.
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const Node* a, const Node* b) { return NumberOf(*a) < NumberOf(*b); });
    for (const Node* n : ranges) range_ids_[n] = ctx_.NextId();
  }

  bool Run(const Node& sink) {
    return TranslateAll() &&
           SetRoot(
               sink, [](const UOp* u) { return u->dtype.is_void(); }, "it has no effect");
  }

 private:
  const UOp* Other(const Node& n, DType t) override {
    switch (demand_.OpOf(&n).cls) {
      case OpClass::kSink:
        return nullptr;
      case OpClass::kDefineGlobal:
        return DefineGlobal(n);
      case OpClass::kDefineLocal:
        return DefineLocal(n);
      case OpClass::kDefineAcc:
        return DefineAcc(n, t);
      case OpClass::kAssign:
        return Assign(n, t);
      case OpClass::kSpecial:
        return Special(n, t);
      case OpClass::kRange:
        return Range(n, t);
      case OpClass::kIndex:
        return Index(n);
      case OpClass::kLoad:
        return Load(n, t);
      case OpClass::kStore:
        return Store(n);
      case OpClass::kBarrier:
        return Tokens(n, Op::kBarrier, 0);
      // What waits for an IF takes its condition as a gate, and waits for what the IF does.
      case OpClass::kIf:
        return n.num_srcs > 1 ? Source(n, 1, kVoid) : nullptr;
      case OpClass::kReduce:
        return Reduce(n, t);
      case OpClass::kUnroll:
        return Unroll(n, t);
      case OpClass::kContract:
        return Contract(n, t);
      case OpClass::kVConst:
        return VConst(n, t);
      case OpClass::kVectorize:
        return Vectorize(n, t);
      case OpClass::kGep:
        return Gep(n, t);
      case OpClass::kCat:
        return Gather(n, t, Op::kCat);
      case OpClass::kBuffer:
      case OpClass::kParam:
        return Parameter(n, t);
      case OpClass::kAfter: {
        const bool is_variable = n.num_srcs > 0 && demand_.OpOf(n.src(0)).cls == OpClass::kBuffer &&
                                 IsVariable(n.src(0));
        return is_variable ? Source(n, 0, t) : Fail(n, "order inside of a kernel is not read");
      }
      case OpClass::kEnd:
        return n.op == "END" ? End(n) : nullptr;
      case OpClass::kEndIf:
        return nullptr;  // the graph says where blocks end
      default:
        return Fail(n, "this op does not stand in a lowered kernel");
    }
  }

  const UOp* DefineGlobal(const Node& n) {
    const DType t = demand_.TypeOf(&n).type;
    if (n.arg.kind != Kind::kInt || n.arg.number < 0 || n.arg.number > 1000 || !t.is_memory()) {
      return Fail(n, "expected a pointer and the number of a slot");
    }
    return Emit(n, Op::kDefineGlobal, t, {}, ctx_.MakeAttr(Op::kDefineGlobal, {n.arg.number}));
  }

  // PARAM of newer versions: its type is that of an element, its source says how many there are.
  const UOp* Parameter(const Node& n, DType t) {
    if (IsVariable(&n)) return Variable(n, t);
    if (n.num_srcs > 0 && n.src(0)->op == "CAST") {
      return Fail(n,
                  "its size is a CAST, as after v0.14.0's optimizer, whose kernels are not read; "
                  "those of schedule_linear() are");
    }
    const Value* slot = FindItem(n.arg, "slot", 0);
    const auto shape = n.num_srcs > 0 ? StaticShape(n.src(0)) : std::nullopt;
    const int64_t size = shape ? Product(*shape).value_or(-1) : -1;
    if (demand_.OpOf(&n).cls != OpClass::kParam || !slot || slot->kind != Kind::kInt ||
        slot->number < 0 || slot->number > 1000 || size < 0) {
      return Fail(n, "expected the number of a slot and a size");
    }
    const DType pointer = DType::Pointer(t.scalar(), size, AddrSpace::kGlobal);
    return Emit(n, Op::kDefineGlobal, pointer, {},
                ctx_.MakeAttr(Op::kDefineGlobal, {slot->number}));
  }

  // END(effect, ranges...).
  const UOp* End(const Node& n) {
    Nodes ranges;
    const UOp* token = Source(n, 0, kVoid);
    if (!token || !RangeSources(n, 1, &ranges)) return nullptr;
    return b_.End(token, {ranges.data(), ranges.size()});
  }

  // What is addressed has a pointer's type in older versions and is loaded by itself; in newer ones
  // it has the element's.
  const UOp* AsValue(const Node& n, const UOp* u) override {
    if (u->op != Op::kIndex || is_place_) return u;
    if (place_types_.lookup(u).is_memory()) return u;
    return Emit(n, Op::kLoad, DType(u->dtype.value_scalar(), u->dtype.lanes()), {u});
  }
  // Source 0 as memory, not what is there.
  const UOp* Place(const Node& n) {
    is_place_ = true;
    const UOp* u = Source(n, 0, kVoid);
    is_place_ = false;
    return u;
  }

  const UOp* DefineLocal(const Node& n) {
    const DType t = demand_.TypeOf(&n).type;
    if (!t.is_pointer() || t.space() == AddrSpace::kGlobal) {
      return Fail(n, "its type is no pointer to local memory");
    }
    return b_.Scratch(t);
  }

  // An integer coordinate as the text has it: i32.
  const UOp* Coordinate(const Node& n, const UOp* u, DType t) {
    if (body_.side.loc(u).line == 0) body_.side.SetLoc(u, n.loc);
    return t.is_index() ? u : Emit(n, Op::kCast, t, {u});
  }

  const UOp* Special(const Node& n, DType t) {
    const auto items = n.arg.list();
    if (items.size() != 2 || items[0].value.kind != Kind::kString ||
        items[1].value.kind != Kind::kInt || items[1].value.number < 1) {
      return Fail(n, "expected arg=('gidx0', size)");
    }
    const std::string name = Unquote(items[0].value.text());
    const bool local = name.starts_with("lidx");
    const size_t digit = name.starts_with("idx") ? 3 : 4;
    if (name.size() != digit + 1 || name[digit] < '0' || name[digit] > '2' ||
        !(local || name.starts_with("gidx") || name.starts_with("idx"))) {
      return Fail(n, "a coordinate '" + name + "'");
    }
    const int axis = name[digit] - '0';
    const SpecialName special = static_cast<SpecialName>(
        axis + static_cast<int>(local ? SpecialName::kLocal0 : SpecialName::kGrid0));
    return Coordinate(n, b_.Special(special, b_.Index(items[1].value.number)), t);
  }

  const UOp* Range(const Node& n, DType t) {
    const UOp* end = Source(n, 0, t);
    if (!end) return nullptr;
    const UOp*& range = ranges_[&n];
    if (!range) {
      const Attr id = ctx_.MakeAttr(Op::kRange, {range_ids_.lookup(&n)});
      range = ctx_.Make(Op::kRange, kIndex, {AsIndex(end)}, id);
    }
    return Coordinate(n, range, t);
  }

  // 4 in arg=4, as in arg=(4, AxisType.LOOP).
  static int64_t NumberOf(const Node& range) {
    const Value& v = range.arg;
    if (v.kind == Kind::kInt) return v.number;
    const auto items = v.list();
    return !items.empty() && items[0].value.kind == Kind::kInt ? items[0].value.number : 0;
  }

  // The range nodes, not the values of their counters.
  Nodes RangeNodes(const OpenScopes::Scopes& scopes) {
    Nodes nodes;
    for (const Node* n : scopes) {
      if (n->op == "RANGE") nodes.push_back(ranges_.lookup(n));
    }
    return nodes;
  }
  bool RangeSources(const Node& n, size_t first, Nodes* nodes) {
    for (size_t i = first; i < n.num_srcs; ++i) {
      if (n.src(i)->op != "RANGE") return Refuse(n, "a source that is no RANGE");
      nodes->push_back(ranges_.lookup(n.src(i)));
    }
    return true;
  }

  // DEFINE_ACC(initial value, ranges...): an element of memory, which is set once in every
  // iteration of the loops around; its value is what is in it in an iteration of `ranges`.
  const UOp* DefineAcc(const Node& n, DType t) {
    const UOp* initial = Source(n, 0, t);
    const Node* assign = open_.AssignOf(&n);
    if (!initial) return nullptr;
    if (!assign) return Fail(n, "nothing is assigned to it");
    Accumulator acc;
    if (!RangeSources(n, 1, &acc.ranges)) return nullptr;
    const DType memory = DType::Pointer(t.scalar(), t.lanes(), AddrSpace::kReg);
    acc.memory = b_.Scratch(memory);
    acc.type = t;
    const Nodes outer = RangeNodes(open_.Of(assign));
    const UOp* start = b_.After(acc.memory, {outer.data(), outer.size()});
    const UOp* set = b_.Store(b_.IndexPtr(start, b_.Index(0)), initial);
    Nodes inside{set};
    inside.append(acc.ranges.begin(), acc.ranges.end());
    acc.place = b_.IndexPtr(b_.After(acc.memory, {inside.data(), inside.size()}), b_.Index(0));
    accumulators_[&n] = acc;
    return Emit(n, Op::kLoad, t, {acc.place});
  }

  const UOp* Assign(const Node& n, DType t) {
    const UOp* value = Source(n, 1, t);
    if (!value) return nullptr;
    const auto it = accumulators_.find(n.src(0));
    if (it == accumulators_.end()) return Fail(n, "its target is no DEFINE_ACC");
    const Accumulator& acc = it->second;
    const UOp* step = Emit(n, Op::kStore, kVoid, {acc.place, value});
    const UOp* end = b_.End(step, {acc.ranges.data(), acc.ranges.size()});
    return Emit(n, Op::kLoad, t, {b_.IndexPtr(b_.After(acc.memory, {&end, 1}), b_.Index(0))});
  }

  const UOp* Index(const Node& n) {
    const UOp *memory = Place(n), *index = memory ? Source(n, 1, kIndex) : nullptr;
    if (!index) return nullptr;
    index = AsIndex(index);
    const Node* guard =
        n.src(1)->op == "WHERE" && n.src(1)->num_srcs == 3 && IsInvalid(n.src(1)->src(2)) ? n.src(1)
                                                                                          : nullptr;
    if (!memory->dtype.is_memory() || (memory->dtype.is_image() && index->dtype.lanes() % 2)) {
      return Fail(n, "its source is no memory that this indexes");
    }
    const UOp* gate = n.num_srcs > 2 ? Source(n, 2, kBool) : nullptr;
    if (guard) {
      const UOp* holds = Source(*guard, 0, kBool);
      gate = gate && holds ? b_.And(gate, holds) : holds;
    }
    if (failed()) return nullptr;
    const int lanes = memory->dtype.is_image() ? index->dtype.lanes() / 2 : index->dtype.lanes();
    const DType t = memory->dtype.WithLanes(lanes);
    const UOp* u = gate ? Emit(n, Op::kIndex, t, {memory, index, gate})
                        : Emit(n, Op::kIndex, t, {memory, index});
    if (u) place_types_[u] = demand_.TypeOf(&n).type;
    return u;
  }

  // The address of an access, with what its further sources demand: a token that it waits for, an
  // alternative. A store takes the conditions of the blocks that it stands in as its gate.
  const UOp* Address(const Node& n, size_t first_extra, const UOp** alternative) {
    const UOp* address = Place(n);
    if (!address) return nullptr;
    if (address->op != Op::kIndex) return Fail(n, "its address is no INDEX");
    Nodes srcs(address->srcs().begin(), address->srcs().end()), tokens;
    for (size_t i = first_extra; i < n.num_srcs; ++i) {
      const Node* extra = n.src(i);
      const UOp* u = ValueOf(extra, demand_.SourceType(&n, i, kVoid));
      if (u && u->dtype.is_void()) tokens.push_back(u);
      if (u && !u->dtype.is_void() && alternative) *alternative = u;
    }
    for (const Node* block : n.op == "STORE" ? open_.Of(&n) : OpenScopes::Scopes()) {
      if (block->op != "IF") continue;
      const UOp* condition = Source(*block, 0, kBool);
      if (!condition) return nullptr;
      if (srcs.size() > 2 && srcs[2] != condition) condition = b_.And(srcs[2], condition);
      srcs.resize(2);
      srcs.push_back(condition);
    }
    srcs[0] = b_.After(srcs[0], {tokens.data(), tokens.size()});
    return Emit(n, Op::kIndex, address->dtype, {srcs.data(), srcs.size()});
  }

  const UOp* Load(const Node& n, DType t) {
    const UOp* alternative = nullptr;
    const UOp* address = Address(n, 1, &alternative);
    if (!address) return nullptr;
    return alternative ? Emit(n, Op::kLoad, t, {address, alternative})
                       : Emit(n, Op::kLoad, t, {address});
  }

  // Ends the loops around it.
  const UOp* Store(const Node& n) {
    const UOp *address = Address(n, 2, nullptr), *value = address ? Source(n, 1, kVoid) : nullptr;
    const UOp* store = value ? Emit(n, Op::kStore, kVoid, {address, value}) : nullptr;
    if (!store) return nullptr;
    if (has_end_) return store;
    const Nodes ranges = RangeNodes(open_.Of(&n));
    if (!ranges.empty() && address->dtype.space() == AddrSpace::kLocal) {
      return Fail(n, "a store to local memory inside of a loop is not read");
    }
    return b_.End(store, {ranges.data(), ranges.size()});
  }

  const UOp* Tokens(const Node& n, Op op, size_t first) {
    Nodes tokens;
    for (size_t i = first; i < n.num_srcs; ++i) {
      const UOp* token = Source(n, i, kVoid);
      if (!token) return nullptr;
      tokens.push_back(token);
    }
    return Emit(n, op, kVoid, {tokens.data(), tokens.size()});
  }

  const UOp* Reduce(const Node& n, DType t) {
    // Newer versions: (op, number of axes), which is 0 here.
    const auto items = n.arg.list();
    const bool is_pair =
        items.size() == 2 && items[1].value.kind == Kind::kInt && items[1].value.number == 0;
    const auto op = ReduceOpOf(is_pair ? items[0].value : n.arg);
    if (!op) return Fail(n, "expected the op of a reduction");
    Nodes srcs{Source(n, 0, t)};
    if (!srcs[0] || !RangeSources(n, 1, &srcs)) return nullptr;
    const Attr attr = ctx_.MakeAttr(Op::kReduce, {static_cast<int64_t>(*op)});
    // Lanes first.
    if (srcs[0]->dtype != t && srcs.size() > 1) {
      srcs[0] = Emit(n, Op::kReduce, t, {srcs[0]}, attr);
    }
    return Emit(n, Op::kReduce, t, {srcs.data(), srcs.size()}, attr);
  }

  // UNROLL(VCONST 0..n-1, ((axis, n),)): the number of the lane.
  const UOp* Unroll(const Node& n, DType t) {
    const auto axes = n.arg.list();
    const auto axis = axes.size() == 1 ? axes[0].value.list() : std::span<const Item>();
    const auto counts = n.num_srcs == 1 ? n.src(0)->arg.list() : std::span<const Item>();
    bool counts_up = axis.size() == 2 && axis[0].value.kind == Kind::kInt &&
                     axis[1].value.kind == Kind::kInt &&
                     axis[1].value.number == static_cast<int64_t>(counts.size());
    for (size_t i = 0; counts_up && i < counts.size(); ++i) {
      counts_up =
          counts[i].value.kind == Kind::kInt && counts[i].value.number == static_cast<int64_t>(i);
    }
    if (!counts_up) return Fail(n, "an UNROLL of other values than 0, 1, ... along one axis");
    return Coordinate(n, b_.Unroll(axis[0].value.number, axis[1].value.number), t);
  }

  const UOp* Contract(const Node& n, DType t) {
    const UOp* x = Source(n, 0, t);
    if (!x) return nullptr;
    std::vector<int64_t> words{static_cast<int64_t>(n.arg.list().size())};
    for (const Item& item : n.arg.list()) {
      const auto axis = item.value.list();
      if (axis.size() != 2 || axis[0].value.kind != Kind::kInt) return Fail(n, "expected axes");
      words.push_back(axis[0].value.number);
    }
    return Emit(n, Op::kContract, t, {x}, ctx_.MakeAttr(Op::kContract, words));
  }

  const UOp* VConst(const Node& n, DType t) {
    std::vector<int64_t> bits;
    for (const Item& item : n.arg.list()) {
      Node lane = n;
      lane.arg = item.value;
      lane.num_srcs = 0;
      const UOp* c = EmitConst(lane, t.WithLanes(1));
      if (!c) return nullptr;
      bits.push_back(c->word());
    }
    if (bits.size() != static_cast<size_t>(t.lanes())) {
      return Fail(n, "it has " + std::to_string(bits.size()) + " values for " + t.ToString());
    }
    return b_.VConst(t, bits);
  }

  const UOp* Gather(const Node& n, DType t, Op op) {
    Nodes srcs;
    for (size_t i = 0; i < n.num_srcs; ++i) {
      const UOp* s = Source(n, i, t.is_memory() ? t : t.WithLanes(1));
      if (!s) return nullptr;
      srcs.push_back(s);
    }
    return Emit(n, op, t, {srcs.data(), srcs.size()});
  }

  // Of pointers only n times the same one, which an index of n lanes takes as it is.
  const UOp* Vectorize(const Node& n, DType t) {
    const UOp* u = Gather(n, t, Op::kVectorize);
    if (!u || u->num_srcs == 0 || !u->src(0)->dtype.is_memory()) return u;
    for (const UOp* s : u->srcs()) {
      if (s != u->src(0)) return Fail(n, "a vector of different pointers");
    }
    return u->src(0);
  }

  const UOp* Gep(const Node& n, DType t) {
    const UOp* x = Source(n, 0, t);
    if (!x) return nullptr;
    std::vector<int64_t> words{static_cast<int64_t>(n.arg.list().size())};
    for (const Item& item : n.arg.list()) {
      if (item.value.kind != Kind::kInt) return Fail(n, "expected a tuple of lanes");
      words.push_back(item.value.number);
    }
    return Emit(n, Op::kGep, t, {x}, ctx_.MakeAttr(Op::kGep, words));
  }

  struct Accumulator {
    const UOp* memory = nullptr;
    const UOp* place = nullptr;  // in an iteration
    Nodes ranges;
    DType type;
  };

  const OpenScopes open_;
  bool has_end_ = false;  // the text says where loops end
  bool is_place_ = false;
  llvm::DenseMap<const UOp*, DType> place_types_;  // of INDEX, as printed
  llvm::DenseMap<const Node*, const UOp*> ranges_;
  llvm::DenseMap<const Node*, int64_t> range_ids_;
  std::map<const Node*, Accumulator> accumulators_;
};

}  // namespace

bool ImportLowered(const Demand& demand, const Node& sink, Module& module, Kernel& kernel,
                   Diagnostics& diags) {
  bool has_lanes = false, unrolls = false;
  for (const Node* n : demand.nodes()) {
    const OpClass c = demand.OpOf(n).cls;
    unrolls |= c == OpClass::kReduce || c == OpClass::kUnroll || c == OpClass::kContract;
    has_lanes |= demand.TypeOf(n).type.lanes() > 1;
  }
  kernel.stage = has_lanes && !unrolls ? Stage::kExpanded : Stage::kLowered;
  return LoweredTranslator(demand, module, kernel, diags).Run(sink);
}

}  // namespace tg::tinygrad
