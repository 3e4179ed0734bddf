#include "ir/interpret/graph.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/deferred.h"
#include "ir/interpret/graph_run.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/memory_bound.h"
#include "ir/interpret/reduce_tuple.h"
#include "ir/measure.h"
#include "ir/tuple.h"

namespace tg::interpret {

// All results of one loop come from one run of it.
absl::Status GraphRun::Loop(const UOp* u, GraphValue& v) {
  const std::string_view name = ctx_.String(static_cast<StringId>(u->word(0)));
  const Graph* body = p_.module.FindGraph(name);
  if (!body)
    return absl::InvalidArgumentError(absl::StrCat("there is no graph @", std::string(name)));
  if (depth_ > 50)
    return absl::InvalidArgumentError("loops are nested too deeply (does a body run itself?)");
  auto trip = Number(u, 0);
  if (!trip.ok()) return trip.status();
  std::vector<Tensor> carried;
  for (size_t i = 1; i < u->num_srcs; ++i) {
    auto t = Operand(u, i);
    if (!t.ok()) return t.status();
    carried.push_back(*t);
  }
  const int64_t result = u->word(1);
  if (result < 0 || result >= static_cast<int64_t>(carried.size())) {
    return absl::InvalidArgumentError(absl::StrCat("there is no carried value ", result));
  }
  std::vector<const UOp*> srcs(u->srcs().begin(), u->srcs().end());
  const auto [cached, is_new] = loops_.try_emplace({u->word(0), std::move(srcs)});
  for (int64_t i = 0; is_new && i < *trip; ++i) {
    GraphRun run(p_, *body, carried, depth_ + 1);
    auto next = run.Run();
    if (!next.ok()) return next.status();
    if (!next->buffers.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the loop's body @", std::string(name), " writes a buffer"));
    }
    if (next->values.size() != carried.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the body gives ", next->values.size(), " values for ", carried.size(), " carried ones"));
    }
    for (size_t k = 0; k < carried.size(); ++k) {
      if (next->values[k].shape != carried[k].shape ||
          next->values[k].scalar != carried[k].scalar) {
        return absl::InvalidArgumentError(
            absl::StrCat("carried value ", k, " changes its type or shape"));
      }
    }
    carried = std::move(next->values);
  }
  if (is_new) cached->second = std::move(carried);
  v.tensor = cached->second[static_cast<size_t>(result)];
  return absl::OkStatus();
}

absl::Status GraphRun::Eval(const UOp* u) {
  GraphValue& v = *(values_[u] = std::make_shared<GraphValue>());
  if (IsMovement(u->op)) return Move(u, v);
  if (IsElementwise(u->op)) {
    std::vector<Tensor> srcs;
    for (size_t i = 0; i < u->num_srcs; ++i) {
      auto t = Operand(u, i);
      if (!t.ok()) return t.status();
      srcs.push_back(*t);
    }
    auto t = Elementwise(u, srcs, p_.options);
    if (!t.ok()) return t.status();
    v.tensor = *t;
    return absl::OkStatus();
  }
  switch (u->op) {
    case Op::kConst:
      v.tensor = ScalarTensor(u->dtype.scalar(), u->word());
      return absl::OkStatus();
    case Op::kIota: {
      auto t = IotaTensor(u->dtype.scalar(), u->word());
      if (!t.ok()) return t.status();
      v.tensor = *t;
      return absl::OkStatus();
    }
    case Op::kVar: {
      const auto it = p_.vars.find(ctx_.String(static_cast<StringId>(u->word())));
      if (measured_.Contains(u)) return absl::OkStatus();  // its bind comes later
      if (it == p_.vars.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("variable @", Text(u->word()), " has no value"));
      }
      v.tensor = ScalarTensor(u->dtype.scalar(), it->second);
      return absl::OkStatus();
    }
    case Op::kBuffer:
      return Buffer(u, v);
    case Op::kBind:
      return Bind(u, v);
    case Op::kReduceAxis: {
      auto x = Operand(u, 0);
      if (!x.ok()) return x.status();
      auto t = ReduceAxis(u, *x, p_.options);
      if (!t.ok()) return t.status();
      v.tensor = *t;
      return absl::OkStatus();
    }
    case Op::kReduceTuple: {
      std::vector<Tensor> values;
      for (size_t i = 0; i < TupleSize(u); ++i) {
        auto t = Operand(u, i);
        if (!t.ok()) return t.status();
        values.push_back(*t);
      }
      auto t = ReduceTuple(u, values, p_.options);
      if (!t.ok()) return t.status();
      v.tensor = *t;
      return absl::OkStatus();
    }
    case Op::kCopy:
      // A copy also copies undefined elements, which stay undefined.
      v.tensor = values_[u->src(0)]->tensor;
      return absl::OkStatus();
    case Op::kContiguous: {
      auto x = Operand(u, 0);
      if (!x.ok()) return x.status();
      v.tensor = *x;
      return absl::OkStatus();
    }
    case Op::kBufferView:
      return BufferView(u, v);
    case Op::kAssign:
      return Assign(u, v);
    case Op::kAfter:
      return After(u, v);
    case Op::kNoop:
      if (u->num_srcs > 0) v = *values_[u->src(0)];
      return absl::OkStatus();
    case Op::kKernel:
      return RunKernelNode(u, v);
    case Op::kLoop:
      return Loop(u, v);
    case Op::kRepeat:
      return Repeat(u, v);
    case Op::kCarried: {
      const auto i = static_cast<uint64_t>(u->word(0));
      if (i >= carried_.size()) return absl::InvalidArgumentError("there is no such carried value");
      v.tensor = carried_[i];
      const auto shape = u->list(1);
      if (!std::equal(shape.begin(), shape.end(), v.tensor.shape.begin(), v.tensor.shape.end())) {
        return absl::InvalidArgumentError(
            absl::StrCat("the carried value has shape ", ShapeText(v.tensor.shape)));
      }
      return absl::OkStatus();
    }
    default:
      return absl::InvalidArgumentError("has no meaning in a graph");
  }
}

absl::StatusOr<GraphResult> GraphRun::Commit(const UOp* sink) {
  GraphResult result;
  const auto targets = sink->list();
  std::vector<std::pair<std::string, Tensor>> stores;
  std::map<std::string, std::vector<VersionPtr>> versions;
  for (size_t i = 0; i < sink->num_srcs; ++i) {
    const GraphValue& v = *values_[sink->src(i)];
    const bool to_buffer = i < targets.size() && targets[i] != 0;
    if (to_buffer) {
      auto t = Operand(sink, i);
      if (!t.ok()) return t.status();
      stores.emplace_back(Text(targets[i]), *t);
    }
    if (!v.tensor.ok()) continue;
    auto held = Hold(v.tensor);
    if (!held.ok()) return held.status();
    result.values.push_back(*std::move(held));
  }
  // Every write that the sink reaches is committed, also one that only a value depends on.
  for (const UOp* u : PostOrder(sink)) {
    if (u->op != Op::kAssign && !IsCall(u->op)) continue;
    const GraphValue& v = *values_[u];
    if (v.version) versions[v.version->name].push_back(v.version);
    for (const VersionPtr& w : v.written) versions[w->name].push_back(w);
  }
  for (auto& [name, list] : versions) {
    auto entry = Entry(name);
    if (!entry.ok()) return entry.status();
    result.buffers[name] = *Join(list, *entry)->contents;
  }
  for (auto& [name, t] : stores) {
    auto entry = Entry(name);
    if (!entry.ok()) return entry.status();
    if ((*entry)->contents->data.size() != t.size()) {
      return absl::InvalidArgumentError(absl::StrCat("sink: @", name, " has shape ",
                                                     ShapeText((*entry)->contents->shape),
                                                     ", its value ", ShapeText(t.shape)));
    }
    auto written = Write(*entry, nullptr, t);
    if (!written.ok()) return written.status();
    result.buffers[name] = *(*written)->contents;
  }
  // An output without elements needs no write.
  for (const BufferDecl& decl : p_.module.buffers) {
    if (decl.role != Role::kOutput || result.buffers.contains(decl.name)) continue;
    auto entry = Entry(decl.name);
    if (entry.ok() && (*entry)->contents->data.empty()) {
      result.buffers[decl.name] = *(*entry)->contents;
    }
  }
  for (auto& [name, b] : result.buffers) {
    const BufferDecl* decl = p_.module.FindBuffer(name);
    const auto hole = std::find(b.defined.begin(), b.defined.end(), 0);
    if (hole == b.defined.end()) {
      b.defined.clear();
    } else if (p_.options.check_undefined && decl->role == Role::kOutput) {
      return absl::FailedPreconditionError(absl::StrCat("element ", hole - b.defined.begin(),
                                                        " of output @", name, " is never written"));
    }
  }
  return result;
}

std::vector<const UOp*> GraphRun::MeasuredFirst(std::vector<const UOp*> order) {
  NodeMap<uint32_t> place;  // 1 + the number of the bind that needs the node first; 0: none does
  uint32_t binds = 0;
  for (const UOp* bind : order) {
    if (!IsMeasure(bind)) continue;
    measured_.Insert(bind->src(0));
    ++binds;
    std::vector<const UOp*> stack = {bind};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      stack.pop_back();
      if (place.Get(u) != 0) continue;
      place[u] = binds;
      const UOpSpan sources = SourcesInBody(u);
      stack.insert(stack.end(), sources.begin(), sources.end());
    }
  }
  if (binds == 0) return order;
  std::stable_sort(order.begin(), order.end(), [&](const UOp* a, const UOp* b) {
    return place.Get(a) - 1 < place.Get(b) - 1;  // 0 - 1 is the greatest number
  });
  return order;
}

absl::StatusOr<GraphResult> GraphRun::Run() {
  const std::string what = "graph @" + graph_.name;
  const UOp* root = graph_.body.root;
  if (!root) return absl::InvalidArgumentError(what + " has no body");
  const std::vector<const UOp*> order = MeasuredFirst(OrderOutsideTuples(root));
  NodeMap<int> uses;
  for (const UOp* u : order) {
    for (const UOp* s : SourcesInBody(u)) ++uses[s];
    // Only the body reads the number of an iteration.
    if (u->op == Op::kRepeat) p_.vars.try_emplace(Text(u->src(1)->word()), 0);
  }
  // Sources have smaller ids: going down from the root, a target's own view comes after it.
  for (size_t i = order.size(); i-- > 0;) {
    const UOp* u = order[i];
    const bool memory = u->op == Op::kAssign || IsCall(u->op) || u->op == Op::kAfter ||
                        u->op == Op::kBufferView || (IsMovement(u->op) && is_target_.Contains(u));
    if (!memory) continue;
    const size_t n = IsCall(u->op) ? u->num_srcs : 1;
    for (size_t k = 0; k < n; ++k) is_target_.Insert(u->src(k));
  }
  for (const UOp* u : order) {
    if (u == root) break;
    if (absl::Status s = Eval(u); !s.ok()) {
      return absl::Status(s.code(), NodeLabel(graph_.body, what, u) + std::string(s.message()));
    }
    for (const UOp* s : SourcesInBody(u)) {
      // Writes are kept for the commit.
      if (--uses[s] == 0 && s->op != Op::kAssign && !IsCall(s->op)) values_[s] = nullptr;
    }
  }
  auto result = Commit(root);
  if (!result.ok()) {
    return absl::Status(result.status().code(),
                        absl::StrCat(what, ": ", result.status().message()));
  }
  return result;
}

namespace {

// Adds the values that the graph binds to variables.
void TakeBoundVars(const Graph& graph, VarValues& vars) {
  if (!graph.body.root) return;
  for (const UOp* u : PostOrder(graph.body.root)) {
    if (u->op != Op::kBind || u->src(0)->op != Op::kVar || !IsConst(u->src(1))) continue;
    const auto name = graph.body.context->String(static_cast<StringId>(u->src(0)->word()));
    vars.emplace(std::string(name), u->src(1)->word());
  }
}

}  // namespace

absl::StatusOr<GraphResult> InterpretGraph(const Module& module, const Graph& graph,
                                           const HostBuffers& inputs, const VarValues& vars,
                                           const InterpretOptions& options) {
  GraphProgram program{module, inputs, vars, options, {}};
  TakeBoundVars(graph, program.vars);
  for (const VarDecl& decl : module.vars) {
    const auto it = program.vars.find(decl.name);
    if (it != program.vars.end() && (it->second < decl.min || it->second > decl.max)) {
      return absl::InvalidArgumentError(absl::StrCat("variable @", decl.name, " = ", it->second,
                                                     " is outside [", decl.min, ", ", decl.max,
                                                     "]"));
    }
  }
  if (absl::Status s = CheckMemory(module, graph, program.vars, options); !s.ok()) return s;
  return GraphRun(program, graph, {}, 0).Run();
}

}  // namespace tg::interpret
