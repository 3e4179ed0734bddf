#include "frontend/common/loop_builder.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tg::frontend {
namespace {

std::string StepName(std::string_view loop) { return std::string(loop) + ".step"; }

// Graphs, variables and buffers get different names, so that messages are clear.
std::string FreeName(const Module& module, std::string_view wanted) {
  const std::string symbol = SymbolFrom(wanted);
  std::string name = symbol;
  // The graph of a loop that is being built is not there yet, but its variable is.
  const auto is_taken = [&] {
    return module.FindGraph(name) || module.FindVar(name) || module.FindBuffer(name) ||
           module.FindVar(StepName(name));
  };
  for (int i = 1; is_taken(); ++i) name = absl::StrCat(symbol, ".", i);
  return name;
}

}  // namespace

LoopBuilder::LoopBuilder(GraphBuilder& g, std::string_view name, const Dim& trip)
    : g_(g), name_(FreeName(g.module(), name)), trip_(trip) {
  const std::optional<int64_t> most = g_.Greatest(trip);
  if (!most) {
    g_.Fail("a loop whose number of iterations has no bound");
    return;
  }
  g_.module().vars.push_back({StepName(name_), 0, std::max<int64_t>(0, *most - 1), {}});
  step_ = Dim(g_.ir().Var(StepName(name_)));
}

Value LoopBuilder::Temporary(DType type, const Shape& shape) {
  BufferDecl decl;
  decl.dtype = type;
  decl.role = Role::kTemp;
  for (const Dim& d : shape) {
    const std::optional<DeclDim> extent = DeclDim::From(g_.ir().context(), d);
    if (!extent) return g_.Fail("a value of a loop whose shape is no expression of variables");
    decl.shape.push_back(*extent);
  }
  return g_.Declare(absl::StrCat(name_, ".value"), std::move(decl));
}

Value LoopBuilder::Assign(Value target, Value value) {
  if (!target || !value) return nullptr;
  return g_.ir().context().Make(Op::kAssign, target->dtype, {target, value});
}

Value LoopBuilder::AddState(Value initial) {
  State state;
  if (initial) {
    state.first = Temporary(initial->dtype, g_.ShapeOf(initial));
    state.second = Temporary(initial->dtype, g_.ShapeOf(initial));
    state.initial = initial;
  }
  states_.push_back(state);
  return state.first;
}

size_t LoopBuilder::AddRows(Value value, const Dim& row) {
  Shape shape = g_.ShapeOf(value);
  shape.insert(shape.begin(), trip_);
  rows_.push_back({value, value ? Temporary(value->dtype, shape) : nullptr, nullptr, row});
  return rows_.size() - 1;
}

std::vector<Value> LoopBuilder::Writes() {
  std::vector<Value> writes;
  for (const State& state : states_) {
    if (!state.first || !state.next) return {};
    if (state.next->dtype != state.first->dtype ||
        g_.ShapeOf(state.next) != g_.ShapeOf(state.first)) {
      g_.Fail(absl::StrCat("a loop's value changes from ", g_.Describe(state.first), " to ",
                           g_.Describe(state.next)));
      return {};
    }
    if (state.next != state.first) writes.push_back(Assign(state.second, state.next));
  }
  for (const RowsOf& rows : rows_) {
    if (!rows.buffer) return {};
    const Value row = g_.Slice(rows.buffer, 0, rows.row, g_.AddDim(rows.row, 1));
    writes.push_back(Assign(g_.Reshape(row, g_.ShapeOf(rows.value)), rows.value));
  }
  return g_.ok() ? writes : std::vector<Value>();
}

void LoopBuilder::FindVarying(UOpSpan order) {
  varying_.Insert(step_.symbol());
  for (const State& state : states_) {
    varying_.Insert(state.first);
    varying_.Insert(state.second);
  }
  for (const RowsOf& rows : rows_) varying_.Insert(rows.buffer);
  for (const UOp* u : order) {
    const auto varies = [&](const UOp* s) { return varying_.Contains(s); };
    const bool is_inside = u->id >= inside_.first && u->id < inside_.second;
    if (!is_inside && !std::any_of(u->srcs().begin(), u->srcs().end(), varies)) continue;
    varying_.Insert(u);
    // A loop inside this one has its memory in the body, whatever it starts with.
    if (u->op != Op::kRepeat) continue;
    for (const UOp* s : u->srcs().subspan(2)) {
      const bool starts = s->op == Op::kAssign && !IsCall(s->src(1)->op);
      if (s->op == Op::kBuffer || starts) varying_.Insert(s);
      if (starts) varying_.Insert(s->src(0));
    }
  }
}

// Movement costs nothing inside a kernel. Arithmetic on weights is left to @init, which does not
// see it where it is stored for the loop.
void LoopBuilder::FindRepeatable(UOpSpan order) {
  NodeSet reads;  // what depends on an input
  for (const UOp* u : order) {
    if (varying_.Contains(u)) continue;
    bool repeatable = true, reads_input = false;
    for (const UOp* s : u->srcs()) {
      repeatable = repeatable && repeatable_.Contains(s);
      reads_input = reads_input || reads.Contains(s);
    }
    if (u->op == Op::kBuffer) {
      const BufferDecl* decl =
          g_.module().FindBuffer(g_.ir().context().String(static_cast<StringId>(u->word())));
      reads_input = decl->role != Role::kParam;
    } else if (IsElementwise(u->op)) {
      repeatable = repeatable && !reads_input;
    } else if (!IsMovement(u->op) && u->num_srcs > 0) {
      repeatable = false;
    }
    if (repeatable) repeatable_.Insert(u);
    if (reads_input) reads.Insert(u);
  }
}

const UOp* LoopBuilder::CopyNode(const UOp* u, UOpSpan srcs) {
  const Context& from = g_.ir().context();
  const UOp* copy = body_->context->Rebuild(u, from, srcs);
  g_.CopyNames(u, *body_, copy);
  return copies_[u] = copy;
}

const UOp* LoopBuilder::Capture(const UOp* root) {
  std::vector<const UOp*> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    if (copies_.Get(u)) {
      stack.pop_back();
      continue;
    }
    // Memory that is written before the loop is read where it is.
    const bool is_memory = u->op == Op::kBuffer || (u->op == Op::kAssign && IsCall(u->src(1)->op));
    if (is_memory) {
      const UOp* buffer = BufferOf(u);
      const std::string_view name = g_.ir().context().String(static_cast<StringId>(buffer->word()));
      const Role role = g_.module().FindBuffer(name)->role;
      copies_[u] = body_->context->Rebuild(buffer, g_.ir().context(), {});
      if (role == Role::kTemp) reads_.push_back(u);
      stack.pop_back();
      continue;
    }
    if (u->num_srcs > 0 && !repeatable_.Contains(u) && !IsMovement(u->op)) {
      const Value value = u->op == Op::kContiguous ? u->src(0) : u;
      const Value buffer = Temporary(u->dtype, g_.ShapeOf(u));
      if (!buffer) return nullptr;
      reads_.push_back(Assign(buffer, value));
      copies_[u] = body_->context->Rebuild(buffer, g_.ir().context(), {});
      stack.pop_back();
      continue;
    }
    const size_t before = stack.size();
    for (const UOp* s : u->srcs()) {
      if (!copies_.Get(s)) stack.push_back(s);
    }
    if (stack.size() != before) continue;
    stack.pop_back();
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(copies_.Get(s));
    CopyNode(u, srcs);
  }
  return copies_.Get(root);
}

void LoopBuilder::ReadMeasures(const Body& body) {
  std::set<std::string> vars;
  const auto add = [&](const std::string& var) { vars.insert(var); };
  for (const UOp* u : body.Order()) {
    if (u->op != Op::kVar && u->op != Op::kBuffer) continue;
    const std::string name(body.context->String(static_cast<StringId>(u->word())));
    if (u->op == Op::kVar) add(name);
    if (u->op != Op::kBuffer) continue;
    for (const DeclDim& d : g_.module().FindBuffer(name)->shape) d.ForEachVar(add);
  }
  if (const std::optional<DeclDim> trip = DeclDim::From(g_.ir().context(), trip_)) {
    trip->ForEachVar(add);
  }
  for (const std::string& var : vars) {
    const UOp* count = g_.CountOf(var);
    if (!count) continue;
    const std::vector<const UOp*> order = PostOrder(count);
    if (std::any_of(order.begin(), order.end(),
                    [&](const UOp* u) { return varying_.Contains(u); })) {
      g_.Fail("a size that depends on the data of an iteration");
    }
    reads_.push_back(count);
  }
}

bool LoopBuilder::Finish(std::string_view origin) {
  const std::vector<Value> writes = Writes();
  if (!g_.ok() || writes.empty()) {
    g_.Fail("a loop that computes nothing");
    return false;
  }
  auto graph = std::make_unique<Graph>();
  graph->name = name_;
  body_ = &graph->body;
  NodeSet listed;
  std::vector<const UOp*> order;
  AppendPostOrder(UOpSpan(writes.data(), writes.size()), listed, order);
  FindVarying(order);
  FindRepeatable(order);
  for (const UOp* u : order) {
    if (!varying_.Contains(u)) continue;
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) {
      const UOp* copy = copies_.Get(s);
      if (!copy && !(copy = Capture(s))) return false;
      srcs.push_back(copy);
    }
    CopyNode(u, srcs);
  }
  std::vector<const UOp*> roots;
  for (const Value w : writes) roots.push_back(copies_.Get(w));
  graph->body.root = Builder(*graph->body.context).Sink(roots);
  if (!origin.empty()) graph->body.SetOrigin(0, graph->body.context->Intern(origin));
  body_ = nullptr;
  ReadMeasures(graph->body);
  if (!g_.ok()) return false;
  g_.module().graphs.push_back(std::move(graph));

  Context& ctx = g_.ir().context();
  std::vector<const UOp*> srcs = {DimNode(ctx, trip_), step_.symbol()};
  std::vector<State*> changing;
  for (State& state : states_) {
    if (state.next != state.first) {
      changing.push_back(&state);
    } else {
      reads_.push_back(Assign(state.first, state.initial));
      state.last = state.initial;
    }
  }
  if (condition_) {
    const auto at = std::find(changing.begin(), changing.end(), &states_[*condition_]);
    if (at == changing.end()) {
      g_.Fail("a loop whose condition no iteration changes");
      return false;
    }
    std::rotate(changing.begin(), at, at + 1);
  }
  for (const State* state : changing) {
    srcs.push_back(Assign(state->first, state->initial));
    srcs.push_back(state->second);
  }
  for (const RowsOf& rows : rows_) srcs.push_back(rows.buffer);
  const auto pairs = static_cast<int64_t>(changing.size()),
             written = static_cast<int64_t>(rows_.size());
  srcs.insert(srcs.end(), reads_.begin(), reads_.end());
  const UOp* repeat = ctx.Make(
      Op::kRepeat, kVoid, srcs,
      ctx.MakeAttr(Op::kRepeat,
                   {int64_t{ctx.Intern(name_)}, pairs, written, int64_t{condition_.has_value()}}));
  for (size_t k = 0; k < changing.size(); ++k) {
    changing[k]->last = Assign(srcs[2 + 2 * k], repeat);
  }
  for (RowsOf& rows : rows_) rows.all = Assign(rows.buffer, repeat);
  return true;
}

}  // namespace tg::frontend
