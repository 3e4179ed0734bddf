// LoweredTranslator: memory, addresses, loads and stores.
#include "frontend/tinygrad/buffers.h"
#include "frontend/tinygrad/lowered_translator.h"

namespace tg::tinygrad {

// In older versions an address has a pointer type and a LOAD is explicit; in newer versions an
// address has the element's type, and its use as a value is a load.
const UOp* LoweredTranslator::AsValue(const Node& n, const UOp* u) {
  if (u->op != Op::kIndex || is_place_) return u;
  if (place_types_.lookup(u).is_memory()) return u;
  return Emit(n, Op::kLoad, DType(u->dtype.value_scalar(), u->dtype.lanes()), {u});
}

const UOp* LoweredTranslator::Place(const Node& n, size_t i) {
  is_place_ = true;
  const UOp* u = Source(n, i, kVoid);
  is_place_ = false;
  return u;
}

const UOp* LoweredTranslator::DefineGlobal(const Node& n) {
  const DType t = demand_.TypeOf(&n).type;
  if (n.arg.kind != Kind::kInt || n.arg.number < 0 || n.arg.number > 1000 || !t.is_memory()) {
    return Fail(n, "expected a pointer and the number of a slot");
  }
  return Emit(n, Op::kDefineGlobal, t, {}, ctx_.MakeAttr(Op::kDefineGlobal, {n.arg.number}));
}

const UOp* LoweredTranslator::DefineLocal(const Node& n) {
  const DType t = demand_.TypeOf(&n).type;
  if (!t.is_pointer() || t.space() == AddrSpace::kGlobal) {
    return Fail(n, "its type is no pointer to local memory");
  }
  return b_.Scratch(t);
}

// PARAM and BUFFER of newer versions have the element's type and the number of elements as a
// source. A BUFFER is local or private memory of the kernel.
const UOp* LoweredTranslator::Parameter(const Node& n, DType t) {
  if (IsVariable(&n)) return Variable(n, t);
  const Value* slot = FindItem(n.arg, "slot", 0);
  const auto shape = n.num_srcs > 0 ? StaticShape(n.src(0)) : std::nullopt;
  const int64_t size = shape ? Product(*shape).value_or(-1) : -1;
  if (!slot || slot->kind != Kind::kInt || slot->number < 0 || slot->number > 1000 || size < 0) {
    return Fail(n, "expected the number of a slot and a size");
  }
  if (demand_.OpOf(&n).cls == OpClass::kParam) {
    const DType pointer = DType::Pointer(t.scalar(), size, AddrSpace::kGlobal);
    return Emit(n, Op::kDefineGlobal, pointer, {},
                ctx_.MakeAttr(Op::kDefineGlobal, {slot->number}));
  }
  const Value* space = FindItem(n.arg, "addrspace");
  const bool local = space && space->is_name("AddrSpace.LOCAL");
  if (!local && !(space && space->is_name("AddrSpace.REG"))) {
    return Fail(n, "a buffer of a kernel's own in neither AddrSpace.LOCAL nor AddrSpace.REG");
  }
  has_local_ |= local;
  const AddrSpace addr_space = local ? AddrSpace::kLocal : AddrSpace::kReg;
  const DType pointer = DType::Pointer(t.scalar(), size, addr_space);
  // In a list, each instruction prints everything that it uses again.
  const UOp*& scratch = local_buffers_[{addr_space, slot->number}];
  if (!scratch) scratch = b_.Scratch(pointer);
  if (scratch->dtype != pointer) return Fail(n, "its number has another type or size elsewhere");
  return scratch;
}

// The element of memory source 0 at index source 1, under `gate` (null: always) and the index's
// predicate.
const UOp* LoweredTranslator::ElementOf(const Node& n, const UOp* gate) {
  const UOp* memory = Place(n);
  if (!memory) return nullptr;
  const bool nowhere = n.num_srcs > 1 && IsUndefined(n.src(1));
  const UOp* index = nowhere ? b_.Index(0) : Source(n, 1, kIndex);
  if (!index) return nullptr;
  index = AsIndex(index);
  const bool is_image = memory->dtype.is_image();
  if (!memory->dtype.is_memory() || (is_image && index->dtype.lanes() % 2)) {
    return Fail(n, "its source is no memory that this indexes");
  }
  gate = Both(n, gate, nowhere ? b_.Bool(false) : PredicateOf(n.src(1)));
  if (failed()) return nullptr;
  const int lanes = is_image ? index->dtype.lanes() / 2 : index->dtype.lanes();
  const DType t = memory->dtype.WithLanes(lanes);
  const UOp* u = gate ? Emit(n, Op::kIndex, t, {memory, index, gate})
                      : Emit(n, Op::kIndex, t, {memory, index});
  if (u) place_types_[u] = demand_.TypeOf(&n).type;
  return u;
}

const UOp* LoweredTranslator::Index(const Node& n, DType t) {
  if (!demand_.IsMemory(n.num_srcs > 0 ? n.src(0) : &n)) return Lane(n, t);
  if (n.num_srcs < 3) return ElementOf(n, nullptr);
  if (demand_.TypeOf(n.src(2)).type.scalar() != Scalar::kBool) {
    return Fail(n, "an address of several indices, as of images in newer versions, is not read");
  }
  const UOp* gate = Source(n, 2, kBool);
  return gate ? ElementOf(n, gate) : nullptr;
}

// SHRINK(memory, first, count) addresses a vector; its lanes are those of the load or store.
const UOp* LoweredTranslator::Elements(const Node& n) {
  if (n.op == "SHRINK" && demand_.IsMemory(&n)) return ElementOf(n, nullptr);
  return Fail(n,
              "a value with a shape inside of a kernel, as between tinygrad's expander and "
              "its devectorizer, is not read; the text before and the one after are");
}

// The address of an access. Its further sources add a token to wait for, a condition, or an
// alternative. A store takes the conditions of the enclosing blocks as its gate.
const UOp* LoweredTranslator::Address(const Node& n, DType t, size_t first_extra,
                                      const UOp** alternative) {
  const UOp* address = Place(n);
  if (!address) return nullptr;
  if (address->op != Op::kIndex) return Fail(n, "its address is no INDEX");
  Nodes srcs(address->srcs().begin(), address->srcs().end()), tokens;
  const auto add_condition = [&](const UOp* condition) {
    condition = Both(n, srcs.size() > 2 ? srcs[2] : nullptr, condition);
    srcs.resize(2);
    if (condition) srcs.push_back(condition);
  };
  for (size_t i = first_extra; i < n.num_srcs; ++i) {
    const Node* extra = n.src(i);
    const UOp* u = ValueOf(extra, demand_.SourceType(&n, i, t));
    // Newer versions: LOAD(address, alternative, condition), STORE(address, value, condition).
    const bool is_condition = i == 2 && demand_.TypeOf(extra).type == kBool;
    if (u && u->dtype.is_void()) {
      tokens.push_back(u);
    } else if (u && is_condition) {
      add_condition(u);
    } else if (u && alternative) {
      *alternative = u;
    }
  }
  for (const Node* block : n.op == "STORE" ? open_.Of(&n) : OpenScopes::Scopes()) {
    if (block->op != "IF") continue;
    const UOp* condition = Source(*block, 0, kBool);
    if (!condition) return nullptr;
    add_condition(condition);
  }
  if (failed()) return nullptr;
  srcs[0] = b_.After(srcs[0], {tokens.data(), tokens.size()});
  return Emit(n, Op::kIndex, address->dtype, {srcs.data(), srcs.size()});
}

const UOp* LoweredTranslator::Load(const Node& n, DType t) {
  const UOp* alternative = nullptr;
  const UOp* address = Address(n, t, 1, &alternative);
  if (!address) return nullptr;
  return alternative ? Emit(n, Op::kLoad, t, {address, alternative})
                     : Emit(n, Op::kLoad, t, {address});
}

// The address, with one more condition in its gate.
const UOp* LoweredTranslator::Under(const Node& n, const UOp* condition, const UOp* address) {
  if (!condition || !address) return address;
  const UOp* gate = Both(n, address->num_srcs > 2 ? address->src(2) : nullptr, condition);
  return gate ? Emit(n, Op::kIndex, address->dtype, {address->src(0), address->src(1), gate})
              : nullptr;
}

// A STORE ends the loops around it.
const UOp* LoweredTranslator::Store(const Node& n) {
  const UOp* address = Address(n, kVoid, 2, nullptr);
  if (!address) return nullptr;
  const bool nothing = n.num_srcs > 1 && IsUndefined(n.src(1));
  const DType element(address->dtype.value_scalar(), address->dtype.lanes());
  const UOp* value = nothing ? Zero(element) : Source(n, 1, kVoid);
  if (!value) return nullptr;
  const auto gate = gates_.find(address);
  if (gate != gates_.end()) {
    const Nodes srcs{address->src(0), address->src(1), gate->second.condition};
    address = Emit(n, Op::kIndex, address->dtype, {srcs.data(), srcs.size()});
  }
  if (const UOp* predicate = nothing ? b_.Bool(false) : PredicateOf(n.src(1))) {
    address = Under(n, predicate, address);
    const UOp* memory = address ? MemoryOf(address) : nullptr;
    if (memory && memory->op == Op::kDefineGlobal) retained_slots_.push_back(memory->word());
  }
  const UOp* store = address ? Emit(n, Op::kStore, kVoid, {address, value}) : nullptr;
  if (!store) return nullptr;
  if (gate != gates_.end()) {
    Nodes& stores = gate->second.stores;
    if (!llvm::is_contained(stores, store)) stores.push_back(store);
    if (static_cast<int>(stores.size()) > gate->second.blocks) {
      return Fail(n, "of several stores to one address some have a condition");
    }
  }
  if (has_end_) return store;
  const Nodes ranges = RangeNodes(open_.Of(&n));
  if (!ranges.empty() && address->dtype.space() == AddrSpace::kLocal) {
    return Fail(n, "a store to local memory inside of a loop is not read");
  }
  return b_.End(store, {ranges.data(), ranges.size()});
}

bool LoweredTranslator::ReadGate(const Node& n) {
  const UOp* condition = Source(n, 0, kBool);
  const UOp* address = condition ? Place(n, 1) : nullptr;
  if (!address) return false;
  Gate& gate = gates_[address];
  if (gate.blocks++ > 0 && gate.condition != condition) {
    return Refuse(n, "stores to one address under different conditions");
  }
  gate.condition = condition;
  return true;
}

// AFTER(memory, effects and loops...).
const UOp* LoweredTranslator::After(const Node& n, DType t) {
  if (n.num_srcs > 0 && demand_.OpOf(n.src(0)).cls == OpClass::kBuffer && IsVariable(n.src(0))) {
    return Source(n, 0, t);
  }
  const UOp* memory = Place(n);
  if (!memory) return nullptr;
  if (!memory->dtype.is_memory() || memory->op == Op::kIndex) {
    return Fail(n, "the order of what is no buffer is not read");
  }
  Nodes order;
  for (size_t i = 1; i < n.num_srcs; ++i) {
    const Nodes tokens = TokensOf(n.src(i));
    order.append(tokens.begin(), tokens.end());
    if (tokens.empty()) LoopsOf(n, i, &order);
  }
  if (memory->dtype.space() == AddrSpace::kLocal && StoresToLocal(order)) {
    order = {Emit(n, Op::kBarrier, kVoid, {order.data(), order.size()})};
  }
  return b_.After(memory, {order.data(), order.size()});
}

}  // namespace tg::tinygrad
