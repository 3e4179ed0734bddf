// LoweredTranslator: coordinates, loops, accumulators and the order of effects.
#include <iterator>

#include "frontend/tinygrad/lowered_translator.h"
#include "ir/walk.h"

namespace tg::tinygrad {

// An integer coordinate with the type in the text: i32.
const UOp* LoweredTranslator::Coordinate(const Node& n, const UOp* u, DType t) {
  if (body_.side.loc(u).line == 0) body_.side.SetLoc(u, n.loc);
  return t.is_index() ? u : Emit(n, Op::kCast, t, {u});
}

const UOp* LoweredTranslator::Special(const Node& n, DType t) {
  // In newer versions arg is 'gidx0', and the size is a source.
  const auto items = n.arg.list();
  const bool is_pair = items.size() == 2 && items[1].value.kind == Kind::kInt;
  const Value& text = is_pair ? items[0].value : n.arg;
  if (text.kind != Kind::kString || (is_pair ? items[1].value.number < 1 : n.num_srcs != 1)) {
    return Fail(n, "expected arg=('gidx0', size), or a name and a source");
  }
  const UOp* size = is_pair ? b_.Index(items[1].value.number) : Source(n, 0, kIndex);
  if (!size) return nullptr;
  const std::string name = Unquote(text.text());
  const bool local = name.starts_with("lidx");
  const size_t digit = name.starts_with("idx") ? 3 : 4;
  if (name.size() != digit + 1 || name[digit] < '0' || name[digit] > '2' ||
      !(local || name.starts_with("gidx") || name.starts_with("idx"))) {
    return Fail(n, "a coordinate '" + name + "'");
  }
  const int axis = name[digit] - '0';
  const SpecialName special = static_cast<SpecialName>(
      axis + static_cast<int>(local ? SpecialName::kLocal0 : SpecialName::kGrid0));
  return Coordinate(n, b_.Special(special, AsIndex(size)), t);
}

const UOp* LoweredTranslator::Range(const Node& n, DType t) {
  const UOp* end = Source(n, 0, t);
  if (!end) return nullptr;
  const UOp*& range = ranges_[&n];
  if (!range) {
    const Attr id = ctx_.MakeAttr(Op::kRange, {range_ids_.lookup(&n)});
    range = ctx_.Make(Op::kRange, kIndex, {AsIndex(end)}, id);
  }
  return Coordinate(n, range, t);
}

LoweredTranslator::Nodes LoweredTranslator::RangeNodes(const OpenScopes::Scopes& scopes) {
  Nodes nodes;
  for (const Node* n : scopes) {
    if (n->op == "RANGE") nodes.push_back(ranges_.lookup(n));
  }
  return nodes;
}

bool LoweredTranslator::RangeSources(const Node& n, size_t first, Nodes* nodes) {
  for (size_t i = first; i < n.num_srcs; ++i) {
    if (n.src(i)->op != "RANGE") return Refuse(n, "a source that is no RANGE");
    nodes->push_back(ranges_.lookup(n.src(i)));
  }
  return true;
}

// The text may print the loops around the ASSIGN of an accumulator after its DEFINE_ACC, which
// initializes the accumulator in each of their iterations.
std::vector<const Node*> LoweredTranslator::Prerequisites(const Node& n) const {
  const Node* assign = n.op == "DEFINE_ACC" ? open_.AssignOf(&n) : nullptr;
  std::vector<const Node*> ranges;
  if (!assign) return ranges;
  llvm::copy_if(open_.Of(assign), std::back_inserter(ranges),
                [](const Node* s) { return s->op == "RANGE"; });
  return ranges;
}

// DEFINE_ACC(initial value, ranges...) is an element of memory, initialized once per iteration of
// the enclosing loops. Its value is the element's content in an iteration of `ranges`.
const UOp* LoweredTranslator::DefineAcc(const Node& n, DType t) {
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

const UOp* LoweredTranslator::Assign(const Node& n, DType t) {
  const UOp* value = Source(n, 1, t);
  if (!value) return nullptr;
  const auto it = accumulators_.find(n.src(0));
  if (it == accumulators_.end()) return Fail(n, "its target is no DEFINE_ACC");
  const Accumulator& acc = it->second;
  const UOp* step = Emit(n, Op::kStore, kVoid, {acc.place, value});
  const UOp* end = b_.End(step, {acc.ranges.data(), acc.ranges.size()});
  return Emit(n, Op::kLoad, t, {b_.IndexPtr(b_.After(acc.memory, {&end, 1}), b_.Index(0))});
}

const UOp* LoweredTranslator::Reduce(const Node& n, DType t) {
  // In newer versions the argument is (op, number of axes); the number is 0 in a lowered kernel.
  const auto items = n.arg.list();
  const bool is_pair =
      items.size() == 2 && items[1].value.kind == Kind::kInt && items[1].value.number == 0;
  const auto op = ReduceOpOf(is_pair ? items[0].value : n.arg);
  if (!op) return Fail(n, "expected the op of a reduction");
  return Reduced(n, *op, t, DefinedForReduce(n, *op, Source(n, 0, t)));
}

const UOp* LoweredTranslator::Reduced(const Node& n, Op op, DType t, const UOp* x) {
  Nodes srcs{x};
  if (!x || !RangeSources(n, 1, &srcs)) return nullptr;
  const Attr attr = ctx_.MakeAttr(Op::kReduce, {static_cast<int64_t>(op)});
  // Reduces over lanes first.
  if (srcs[0]->dtype != t && srcs.size() > 1) {
    srcs[0] = Emit(n, Op::kReduce, t, {srcs[0]}, attr);
  }
  return Emit(n, Op::kReduce, t, {srcs.data(), srcs.size()}, attr);
}

void LoweredTranslator::LoopsOf(const Node& n, size_t i, Nodes* nodes) {
  std::vector<const Node*> stack{n.src(i)};
  while (!stack.empty()) {
    const Node* s = stack.back();
    stack.pop_back();
    if (s->op == "RANGE") {
      const UOp* range = ranges_.lookup(s);
      if (range && !llvm::is_contained(*nodes, range)) nodes->push_back(range);
      continue;
    }
    const OpClass cls = demand_.OpOf(s).cls;
    if (cls == OpClass::kElementwise || cls == OpClass::kCast || cls == OpClass::kStack) {
      for (size_t k = 0; k < s->num_srcs; ++k) stack.push_back(s->src(k));
    }
  }
}

LoweredTranslator::Nodes LoweredTranslator::TokensOf(const Node* n) const {
  if (const auto it = tokens_.find(n); it != tokens_.end()) return it->second;
  const UOp* u = ValueOf(n, kVoid);
  return u && u->dtype.is_void() ? Nodes{u} : Nodes();
}

bool LoweredTranslator::TokenSources(const Node& n, size_t first, Nodes* tokens) {
  for (size_t i = first; i < n.num_srcs; ++i) {
    for (const UOp* t : TokensOf(n.src(i))) {
      if (!llvm::is_contained(*tokens, t)) tokens->push_back(t);
    }
  }
  return !tokens->empty() || Refuse(n, "none of its sources has an effect");
}

const UOp* LoweredTranslator::Keep(const Node& n, Nodes tokens) {
  if (tokens.size() == 1) return tokens[0];
  tokens_[&n] = std::move(tokens);
  return nullptr;
}

namespace {

bool IsLocal(const UOp* access) { return access->src(0)->dtype.space() == AddrSpace::kLocal; }

}  // namespace

bool LoweredTranslator::StoresToLocal(const Nodes& tokens) const {
  if (!has_local_) return false;
  Nodes stack = tokens;
  NodeSet seen;
  while (!stack.empty()) {
    const UOp* u = stack.pop_back_val();
    if (u->op == Op::kBarrier || !seen.Insert(u)) continue;
    if (u->op == Op::kStore && IsLocal(u)) return true;
    stack.append(u->srcs().begin(), u->srcs().end());
  }
  return false;
}

bool LoweredTranslator::NeedsBarrierAtEnd(const Nodes& effects, const Nodes& ranges) const {
  if (!has_local_ || ranges.empty() || effects.empty()) return false;
  if (effects.size() == 1 && effects[0]->op == Op::kBarrier) return false;
  // The nodes that are computed in the loop.
  NodeSet inside, stored, seen;
  std::vector<const UOp*> slice;
  AppendPostOrder({effects.data(), effects.size()}, seen, slice);
  for (const UOp* u : slice) {
    const bool in_loop = llvm::is_contained(ranges, u) ||
                         llvm::any_of(u->srcs(), [&](const UOp* s) { return inside.Contains(s); });
    if (in_loop) inside.Insert(u);
    if (in_loop && u->op == Op::kStore && IsLocal(u)) stored.Insert(MemoryOf(u->src(0)));
  }
  return llvm::any_of(slice, [&](const UOp* u) {
    return u->op == Op::kLoad && IsLocal(u) && stored.Contains(MemoryOf(u->src(0)));
  });
}

// END(effect, loops...). In the second-to-last stage the loops may have become work-item numbers,
// which close nothing.
const UOp* LoweredTranslator::End(const Node& n) {
  Nodes ranges, ends;
  for (size_t i = 1; i < n.num_srcs; ++i) {
    if (demand_.TypeOf(n.src(i)).type == kBool || demand_.TypeOf(n.src(i)).type.is_void()) {
      return Fail(n, "a loop that ends on a condition is not read");
    }
    LoopsOf(n, i, &ranges);
  }
  Nodes effects = n.num_srcs > 0 ? TokensOf(n.src(0)) : Nodes();
  if (NeedsBarrierAtEnd(effects, ranges)) {
    effects = {Emit(n, Op::kBarrier, kVoid, {effects.data(), effects.size()})};
  }
  for (const UOp* t : effects) {
    ends.push_back(b_.End(t, {ranges.data(), ranges.size()}));
    if (body_.side.loc(ends.back()).line == 0) body_.side.SetLoc(ends.back(), n.loc);
  }
  if (ends.empty()) return Fail(n, "its source has no effect");
  return Keep(n, std::move(ends));
}

const UOp* LoweredTranslator::Group(const Node& n) {
  Nodes tokens;
  return TokenSources(n, 0, &tokens) ? Keep(n, std::move(tokens)) : nullptr;
}

// In newer versions a BARRIER also waits for loads. The other effects that it waits for use their
// values.
const UOp* LoweredTranslator::Barrier(const Node& n) {
  Nodes tokens;
  if (n.num_srcs > 0 && !TokenSources(n, 0, &tokens)) return nullptr;
  return Emit(n, Op::kBarrier, kVoid, {tokens.data(), tokens.size()});
}

}  // namespace tg::tinygrad
