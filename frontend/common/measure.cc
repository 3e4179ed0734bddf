// Sizes that depend on data: variables that a run measures (ir/measure.h).
#include "ir/measure.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"
#include "ir/value.h"

namespace tg::frontend {
namespace {

// Whether x is an integer tensor whose elements can be measured one by one.
bool IsFew(const UOp* x, const Shape& shape) {
  if (!x->dtype.is_int() || !IsStatic(shape)) return false;
  const int64_t n = NumElements(shape);
  return n > 0 && n <= GraphBuilder::kMostMeasured;
}

}  // namespace

Dim GraphBuilder::Measure(Value count, std::string_view name, int64_t least, int64_t most) {
  count = Cast(Reshape(count, {}), Scalar::kI64);
  if (!count) return 1;
  if (most < least) most = least;
  const std::string symbol = SymbolFrom(name);
  VarDecl var{symbol, least, most, {}};
  for (int i = 1; module_.FindVar(var.name) || !symbols_.insert(var.name).second; ++i) {
    var.name = absl::StrCat(symbol, ".", i);
  }
  BufferDecl decl;
  decl.dtype = Scalar::kI64;
  decl.role = Role::kTemp;
  const Value buffer = Declare(var.name + ".count", std::move(decl));
  if (!buffer) return 1;
  const UOp* n = ir_.Var(var.name);
  const UOp* stored = ir_.context().Make(Op::kAssign, kI64, {buffer, count});
  measures_.push_back({n, ir_.context().Make(Op::kBind, kIndex, {n, stored}), var.name});
  module_.vars.push_back(std::move(var));
  return Dim(n);
}

const UOp* GraphBuilder::CountOf(std::string_view var) const {
  for (const Measured& m : measures_) {
    if (m.name == var) return m.bind->src(1);
  }
  return nullptr;
}

std::vector<Value> GraphBuilder::MeasuresOf(std::span<const Value> roots) {
  std::vector<Value> binds;
  NodeSet seen, used;
  std::set<std::string> graphs;
  const auto use = [&](std::string_view var) { used.Insert(ir_.Var(var)); };
  const auto visit = [&](const Body& body, UOpSpan order) {
    std::vector<const Graph*> loops;
    for (const UOp* u : order) {
      const auto name = [&] { return body.context->String(static_cast<StringId>(u->word(0))); };
      if (u->op == Op::kVar) use(name());
      if (u->op == Op::kBuffer) {
        for (const DeclDim& d : module_.FindBuffer(name())->shape) {
          d.ForEachVar([&](const std::string& var) { use(var); });
        }
      }
      if (u->op == Op::kRepeat && graphs.insert(std::string(name())).second) {
        loops.push_back(module_.FindGraph(name()));
      }
    }
    return loops;
  };
  std::vector<const UOp*> next(roots.begin(), roots.end());
  while (!next.empty()) {
    std::vector<const UOp*> order;
    AppendPostOrder(std::exchange(next, {}), seen, order);
    std::vector<const Graph*> loops = visit(body_, order);
    while (!loops.empty()) {
      const Graph* loop = loops.back();
      loops.pop_back();
      const std::vector<const Graph*> inner = visit(loop->body, loop->body.Order());
      loops.insert(loops.end(), inner.begin(), inner.end());
    }
    for (const Measured& m : measures_) {
      if (!used.Contains(m.var) || std::find(binds.begin(), binds.end(), m.bind) != binds.end()) {
        continue;
      }
      binds.push_back(m.bind);
      next.push_back(m.bind);
    }
  }
  return binds;
}

int64_t GraphBuilder::LeastOf(Value x) {
  int64_t least = INT64_MIN;
  const UOp* u = x;
  while (true) {
    const bool passes = u->op == Op::kCast || u->op == Op::kContiguous || u->op == Op::kTrunc ||
                        (IsMovement(u->op) && u->op != Op::kPad && u->op != Op::kView) ||
                        (u->op == Op::kReduceAxis && static_cast<Op>(u->word()) == Op::kMax);
    if (u->op == Op::kMax) {
      for (const UOp* s : u->srcs()) {
        const UOp* c = s;
        while (IsMovement(c->op) && c->num_srcs > 0 && c->op != Op::kPad) c = c->src(0);
        if (!IsConst(c)) continue;
        const double v = DoubleFromBits(c->dtype.scalar(), c->word());
        if (v > -1e15 && v < 1e15) least = std::max(least, static_cast<int64_t>(v));
      }
      return least;
    }
    if (!passes) return least;
    u = u->src(0);
  }
}

std::vector<Value> GraphBuilder::MeasureSources(Value x, std::string_view name, const Bound& most,
                                                bool with_inputs) {
  // Down to the integers that data decides, by way of tensors of few elements.
  NodeSet seen;
  std::vector<const UOp*> stack = {x}, found;
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (!seen.Insert(u) || KnownDims(u, with_inputs)) continue;
    bool follows = IsElementwise(u->op) || IsMovement(u->op) || u->op == Op::kReduceAxis;
    std::vector<const UOp*> sources;
    for (const UOp* s : u->srcs()) {
      if (KnownDims(s, with_inputs) || s->dtype.is_bool()) continue;
      follows = follows && IsFew(s, ShapeOf(s));
      sources.push_back(s);
    }
    if (follows && !sources.empty()) {
      stack.insert(stack.end(), sources.begin(), sources.end());
    } else if (IsFew(u, ShapeOf(u))) {
      found.push_back(u);
    }
  }
  for (const UOp* u : found) MeasureElements(u, name, most);
  return found;
}

void GraphBuilder::MeasureElements(Value x, std::string_view name, const Bound& most) {
  const int64_t n = tg::NumElements(ShapeOf(x));
  const Value flat = Stored(Reshape(x, {Dim(n)}));
  const int64_t least = std::max<int64_t>(0, LeastOf(x));
  std::vector<KnownElement> elements;
  for (int64_t i = 0; i < n; ++i) {
    const std::string own = absl::StrCat(std::string(name), ".", i);
    const Dim d = Measure(Slice(flat, 0, i, i + 1), own, least, most(own));
    if (!d.is_symbolic()) return;
    elements.push_back({KnownElement::Kind::kSymbol, 0, d.symbol()});
  }
  known_.Set(x, elements);
  known_with_inputs_.Set(x, std::move(elements));
}

std::optional<std::vector<Dim>> GraphBuilder::MeasuredDims(Value x, std::string_view name,
                                                           const Bound& most, bool with_inputs) {
  if (auto known = KnownDims(x, with_inputs)) return known;
  if (!x || !IsFew(x, ShapeOf(x))) return std::nullopt;
  const size_t before = measures_.size();
  const std::vector<Value> sources = MeasureSources(x, name, most, with_inputs);
  if (auto known = KnownDims(x, with_inputs)) return known;
  // They do not help: x itself takes their names.
  for (const Value s : sources) {
    known_.Set(s, {});
    known_with_inputs_.Set(s, {});
  }
  for (; measures_.size() > before; measures_.pop_back()) {
    const std::string& own = measures_.back().name;
    std::erase_if(module_.vars, [&](const VarDecl& var) { return var.name == own; });
    symbols_.erase(own);
  }
  MeasureElements(x, name, most);
  return KnownDims(x, with_inputs);
}

Value GraphBuilder::TruePlaces(Value mask, std::string_view name, const Bound& most) {
  if (!mask) return nullptr;
  const Shape shape = ShapeOf(mask);
  if (shape.size() != 1 || !mask->dtype.is_bool()) return Fail("a mask " + Describe(mask));
  const std::optional<int64_t> extent = Greatest(shape[0]);
  if (!extent) return Fail("a mask whose length has no known bound");
  // In blocks, of which each element has the number of places up to it.
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (*extent + kBlock - 1) / kBlock;
  const Dim rest = SubDim(Dim(blocks * kBlock), shape[0]);
  const Value padded = Pad(Cast(mask, Scalar::kI32), {{Dim(0), rest}});
  const Value upto = Stored(CumulativeSum(padded, 0, /*exclusive=*/false, /*reverse=*/false));
  const Dim count = Measure(
      blocks > 0 ? Slice(upto, 0, blocks * kBlock - 1, blocks * kBlock) : ConstInt(Scalar::kI32, 0),
      name, 0, std::min(most(name), *extent));
  if (blocks == 0) return Full({Dim(0)}, ConstInt(Scalar::kI64, 0));
  // Place k is behind as many elements as have at most k places up to them: first the block is
  // found so, then the element of the block.
  const Value k = Unsqueeze(Arange(Scalar::kI32, count), 1);
  const Value rows = Reshape(upto, {Dim(blocks), Dim(kBlock)});
  const auto behind = [&](Value counts) { return Sum(Cast(Le(counts, k), Scalar::kI32), {-1}); };
  const Value ends = Reshape(Slice(rows, 1, kBlock - 1, kBlock), {Dim(1), Dim(blocks)});
  const Value block = Stored(behind(ends));
  const Value inside = behind(Gather(rows, block, 0));
  return Stored(Cast(Add(Mul(block, ConstInt(Scalar::kI32, kBlock)), inside), Scalar::kI64));
}

}  // namespace tg::frontend
