#include "passes/indices/index_lowering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/view_index.h"
#include "passes/indices/local_ids.h"
#include "passes/indices/predicates.h"

namespace tg::indices {
IndexLowering::IndexLowering(const Module& module, Body& body, const loop_nest::LoopNest& nest,
                             const Coordinates& where, ShapeMap& shapes,
                             const passes::Target& target, analysis::SimplifyFn simplify)
    : module_(module),
      body_(body),
      nest_(nest),
      where_(where),
      shapes_(shapes),
      target_(target),
      simplify_(simplify),
      b_(*body.context) {
  NodeSet seen;
  std::vector<const UOp*> below;
  for (const UOp* a : where.axis) {
    if (a) AppendPostOrder(UOpSpan(&a, 1), seen, below);
  }
  locals_ = LocalIds(below);
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    if (nest_.axes[i].kind != AxisKind::kLoop) continue;
    axis_of_range_[where_.axis[i]] = 1 + i;
    if (nest_.IsReduceLoop(i)) block_ranges_.push_back(where_.axis[i]);
  }
}

IndexLowering::PositionId IndexLowering::Intern(analysis::Position p) {
  uint64_t h = p.valid ? p.valid->id + 1 : 0;
  for (const UOp* u : p.index) h = (h ^ u->id) * 0x9fb21c651e98df25ull + 1;
  auto& bucket = position_ids_[h >> 2];  // DenseMap keeps the greatest numbers for itself
  for (PositionId id : bucket) {
    if (positions_[id] == p) return id;
  }
  const auto id = static_cast<PositionId>(positions_.size());
  positions_.push_back(std::move(p));
  bucket.push_back(id);
  return id;
}

bool IndexLowering::CanClamp() const {
  // Where a kernel overwrites what it reads, another work-item may be storing the last element.
  if (nest_.IsInPlace()) return false;
  return llvm::any_of(nest_.PaddedResults(),
                      [&](size_t i) { return nest_.base[i].size.is_symbolic(); });
}

absl::StatusOr<const UOp*> IndexLowering::Run(bool clamped) {
  clamped_ = clamped;
  for (size_t i = 0; i < nest_.base.size() && target_.masked_access; ++i) {
    masks_ |= IsClamped(i) && llvm::any_of(nest_.maps[i].digits, [&](const loop_nest::Digit& d) {
                return nest_.axes[d.axis].kind == AxisKind::kVector;
              });
  }
  std::vector<const UOp*> roots;
  const UOp* sink = body_.root;
  for (const UOp* store : sink->srcs()) {
    roots.push_back(LowerStore(store));
    if (!status_.ok()) return status_;
  }
  if (!where_.loops.empty()) {
    // All stores are inside these loops; one `end` closes them.
    const UOp* all = roots.size() == 1 ? roots[0] : b_.context().Make(Op::kNoop, kVoid, roots);
    roots = {b_.End(all, where_.loops)};
  }
  const UOp* lowered = b_.Sink(roots);
  if (!owned_.empty()) lowered = KeepOwnParts(lowered);
  return status_.ok() ? absl::StatusOr<const UOp*>(lowered) : status_;
}

const UOp* IndexLowering::LowerStore(const UOp* store) {
  const Shape& shape = shapes_.Of(store->src(0));
  analysis::Position at;
  at.valid = InStored(~analysis::LoopSet{0});
  at.index.assign(shape.size(), b_.Index(0));
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const analysis::BaseAxis& base = nest_.base[i];
    if (!base.IsStored()) continue;
    at.index[base.dim] = BaseAxisValue(b_, nest_, i, where_.axis, simplify_);
  }
  results_ = at, output_ = store->src(0);
  if (!block_ranges_.empty()) {
    analysis::Position before = at;
    before.valid = simplify_(analysis::Both(b_, at.valid, b_.Not(InFirstBlock())));
    partial_ = Address(store->src(0), before);
  }
  analysis::Position computed = at;
  if (clamped_) {
    analysis::LoopSet others = ~analysis::LoopSet{0};
    for (size_t i = 0; i < nest_.base.size(); ++i) {
      if (!IsClamped(i)) continue;
      const analysis::BaseAxis& base = nest_.base[i];
      const UOp* last = b_.Sub(b_.Index(base.size), b_.Index(1));
      const UOp*& index = computed.index[base.dim];
      const UOp* clamped = simplify_(b_.Alu(Op::kMin, {index, last}));
      if (clamped != index) unclamped_[clamped] = index;
      index = clamped;
      others &= ~analysis::LoopBit(i);
    }
    computed.valid = InStored(others);
  }
  if (shapes_.Of(store->src(1)).empty()) computed.index.clear();
  const UOp* value = Lower(store->src(1), Intern(std::move(computed)));
  if (!status_.ok()) return nullptr;
  if (blocks_ && value != blocks_) value = b_.Where(InLastBlock(), value, blocks_);
  // All work-items that share a reduce have its result; only one of them stores it.
  for (size_t i = 0; i < nest_.axes.size(); ++i) {
    if (nest_.axes[i].kind == AxisKind::kGroup && nest_.axes[i].HasItems()) {
      at.valid = analysis::Both(b_, at.valid, b_.Lt(where_.axis[i], b_.Index(1)));
    }
  }
  const UOp* address = Address(store->src(0), at);
  if (!address) return nullptr;
  if (!block_ranges_.empty()) address = InEachBlock(address);
  const UOp* token = b_.Store(address, value);
  body_.CarryOver(store, token);
  return token;
}

const UOp* IndexLowering::Address(const UOp* ptr, analysis::Position at, bool reads) {
  bool is_static = true;  // a buffer of symbolic size may be smaller than its type says
  while (ptr->op != Op::kDefineGlobal) {
    const UOp* src = ptr->src(0);
    is_static = is_static && IsStatic(shapes_.Of(ptr));
    at = ptr->op == Op::kView ? MapView(ptr, at, nullptr)
                              : analysis::MapThrough(b_, ptr, shapes_.Of(src), shapes_.Of(ptr), at,
                                                     nullptr, simplify_);
    ptr = src;
  }
  const UOp* element = analysis::Flatten(b_, shapes_.Of(ptr), at.index, simplify_);
  if (!nonempty_.empty() && at.valid && !ptr->dtype.is_image()) {
    // Whether the address depends on a loop is seen where all that is known has been used.
    const UOp* address = simplify_(b_.IndexPtr(ptr, element, at.valid));
    if (address->op == Op::kIndex) element = address->src(1);
  }
  const UOp* valid = ValidInLoops(element, at.valid);
  if (reads) {
    if (is_static) valid = WithoutReadablePadding(element, ptr, valid);
    FirstRowInPadding(element, valid);
  }
  if (!ptr->dtype.is_image()) return b_.IndexPtr(ptr, element, valid);
  // Images are addressed by element number here; devectorize turns that into texel coordinates.
  return valid ? b_.context().Make(Op::kIndex, ptr->dtype, {ptr, element, valid})
               : b_.context().Make(Op::kIndex, ptr->dtype, {ptr, element});
}

const UOp* IndexLowering::Lower(const UOp* u, PositionId at) {
  std::vector<Key> stack = {{u, at}};
  std::vector<Key> missing;
  while (!stack.empty() && status_.ok()) {
    const Key key = stack.back();
    if (values_.count(key.ids())) {
      stack.pop_back();
      continue;
    }
    missing.clear();
    if (const UOp* value = Step(key, missing)) {
      body_.CarryOver(key.node, value);
      values_[key.ids()] = value;
      stack.pop_back();
    } else {
      stack.insert(stack.end(), missing.begin(), missing.end());
    }
  }
  return status_.ok() ? values_.lookup(Key{u, at}.ids()) : nullptr;
}

const UOp* IndexLowering::Find(const UOp* u, PositionId at, std::vector<Key>& missing) {
  const Key key = {u, at};
  const UOp* value = values_.lookup(key.ids());
  if (!value) missing.push_back(key);
  return value;
}

const UOp* IndexLowering::Step(const Key& key, std::vector<Key>& missing) {
  const UOp* u = key.node;
  if (IsMovement(u->op)) return StepMovement(key, missing);
  if (u->op == Op::kStaged) return StepStaged(key, missing);
  if (u->op == Op::kPacked) return StepPacked(key, missing);
  if (IsElementwise(u->op)) {
    llvm::SmallVector<const UOp*, 4> srcs;
    for (const UOp* s : u->srcs()) {
      // A scalar source has one element, so its position has no indices.
      PositionId at = key.at;
      if (shapes_.Of(s).empty()) at = Intern({{}, positions_[key.at].valid});
      srcs.push_back(Find(s, at, missing));
    }
    if (!missing.empty()) return nullptr;
    if (IsIdentity(u->op)) return srcs[0];
    return b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
  }
  switch (u->op) {
    case Op::kConst:
    case Op::kVar:
      return u;
    case Op::kIota:
      return positions_[key.at].index[0];
    case Op::kLoad: {
      analysis::Position at = positions_[key.at];
      if (masks_) at = Unclamped(std::move(at), shapes_.Of(u->src(0)));
      at.valid = ValidToRead(at, &shapes_.Of(u->src(0)));
      const UOp* address = Address(u->src(0), std::move(at), /*reads=*/true);
      return address ? b_.Load(address) : nullptr;
    }
    case Op::kReduceAxis:
      return StepReduce(key, missing);
    case Op::kReduceTuple:
      return StepTuple(key, missing);
    default:
      status_ = absl::InternalError(
          absl::StrCat("lower: unexpected op ", std::string(Mnemonic(u->op)), " in a kernel"));
      return nullptr;
  }
}

analysis::Position IndexLowering::MapView(const UOp* u, const analysis::Position& at,
                                          const UOp** clause) {
  const analysis::ViewIndex found = analysis::IndexThroughView(b_, u, at.index);
  analysis::Position out;
  const UOp* own = found.valid ? simplify_(found.valid) : nullptr;
  if (own && IsConst(own) && own->word()) own = nullptr;
  if (clause) *clause = own;
  out.valid = own ? simplify_(analysis::Both(b_, at.valid, own)) : at.valid;
  out.index = analysis::Unflatten(b_, shapes_.Of(u->src(0)), simplify_(found.offset), simplify_);
  return out;
}

const UOp* IndexLowering::StepMovement(const Key& key, std::vector<Key>& missing) {
  const UOp* u = key.node;
  const UOp* src = u->src(0);
  const auto [it, fresh] = moved_.try_emplace(key.ids());
  if (fresh) {
    const analysis::Position& at = positions_[key.at];
    const UOp** clause = &it->second.clause;
    it->second.source =
        Intern(u->op == Op::kView ? MapView(u, at, clause)
                                  : analysis::MapThrough(b_, u, shapes_.Of(src), shapes_.Of(u), at,
                                                         clause, simplify_));
    if (*clause) {
      for (const UOp* part : PartsOf(*clause)) of_pads_.Insert(part);
    }
  }
  const auto [source, clamped_clause] = it->second;
  const UOp* value = Find(src, source, missing);
  if (!value) return nullptr;
  const UOp* clause = clamped_clause;
  if (clause && masks_) {
    NodeMap<const UOp*> changed = unclamped_;
    clause = Replaced(clause, changed);
  }
  // The copy of a packed value already has zeros wherever a predicate between it and this op is
  // false.
  const UOp* copied = value;
  while (copied->op == Op::kCast) copied = copied->src(0);
  if (!clause || packed_valid_.Get(copied) || ZeroOutside(value, clause, 4)) return value;
  return b_.Where(clause, value, b_.ConstInt(value->dtype, 0));
}

}  // namespace tg::indices
