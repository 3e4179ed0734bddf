#include "ir/interpret/graph.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/interpret/graph_state.h"
#include "ir/interpret/kernel.h"
#include "ir/shape.h"
#include "ir/value.h"
#include "ir/walk.h"

namespace tg {
namespace {

absl::Status Bad(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

// What a node is while the graph runs: a tensor, memory (a version of a buffer seen through `map`),
// both, or, for a kernel, the versions of all buffers that it wrote.
struct Value {
  Tensor tensor;
  VersionPtr version;
  std::shared_ptr<const std::vector<int64_t>> map;  // null: the whole buffer
  std::vector<VersionPtr> written;
};

// What the graph of a run and the bodies of its loops share.
struct Program {
  const Module& module;
  const HostBuffers& inputs;
  VarValues vars;
  const InterpretOptions& options;
  std::map<std::string, VersionPtr, std::less<>> entries;
};

class GraphRun {
 public:
  GraphRun(Program& program, const Graph& graph, std::span<const Tensor> carried, int depth)
      : p_(program), graph_(graph), ctx_(*graph.body.context), carried_(carried), depth_(depth) {}

  absl::StatusOr<GraphResult> Run();

 private:
  absl::Status Eval(const UOp* u);
  absl::StatusOr<VersionPtr> Entry(std::string_view name);
  absl::Status Buffer(const UOp* u, Value& v);
  absl::Status Bind(const UOp* u, Value& v);
  absl::Status Move(const UOp* u, Value& v);
  absl::Status BufferView(const UOp* u, Value& v);
  absl::Status Assign(const UOp* u, Value& v);
  absl::Status After(const UOp* u, Value& v);
  absl::Status RunKernelNode(const UOp* u, Value& v);
  absl::Status Loop(const UOp* u, Value& v);
  absl::StatusOr<VersionPtr> JoinAll(std::vector<VersionPtr> versions, size_t first_token,
                                     const UOp* u);
  absl::StatusOr<GraphResult> Commit(const UOp* sink);
  // The value of source i as a tensor all of whose elements are defined.
  absl::StatusOr<Tensor> Operand(const UOp* u, size_t i);
  absl::StatusOr<int64_t> Number(const UOp* u, size_t i);
  // Records a write of `values` to elements `map` (null: all) of `base`.
  VersionPtr Write(const VersionPtr& base, const std::vector<int64_t>* map, const Tensor& values);

  std::string Text(int64_t id) { return std::string(ctx_.String(static_cast<StringId>(id))); }

  Program& p_;
  const Graph& graph_;
  const Context& ctx_;
  std::span<const Tensor> carried_;
  int depth_;
  NodeMap<std::shared_ptr<Value>> values_;
  NodeSet is_target_;  // memory whose map is needed
  std::map<std::pair<int64_t, std::vector<const UOp*>>, std::vector<Tensor>> loops_;
  int next_write_ = 0;
};

absl::StatusOr<std::vector<int64_t>> ConcreteShape(const BufferDecl& decl, const VarValues& vars) {
  std::vector<int64_t> shape;
  for (const DeclDim& d : decl.shape) {
    if (d.var.empty()) {
      shape.push_back(d.size);
      continue;
    }
    const auto it = vars.find(d.var);
    if (it == vars.end()) return Bad(absl::StrCat("variable @", d.var, " has no value"));
    shape.push_back(it->second);
  }
  return shape;
}

// The elements that a declared buffer's memory holds: symbolic extents at their greatest.
int64_t AllocatedElements(const Module& module, const BufferDecl& decl) {
  int64_t n = 1;
  for (const DeclDim& d : decl.shape) {
    const VarDecl* var = d.var.empty() ? nullptr : module.FindVar(d.var);
    n *= var ? var->max : d.size;
  }
  return n;
}

absl::StatusOr<VersionPtr> GraphRun::Entry(std::string_view name) {
  if (const auto it = p_.entries.find(name); it != p_.entries.end()) return it->second;
  const std::string label = absl::StrCat("buffer @", std::string(name));
  const BufferDecl* decl = p_.module.FindBuffer(name);
  if (!decl) return Bad(label + " is not declared");
  auto shape = ConcreteShape(*decl, p_.vars);
  if (!shape.ok()) return Bad(absl::StrCat(label, ": ", shape.status().message()));
  auto contents = std::make_shared<HostBuffer>();
  if (const auto given = p_.inputs.find(name); given != p_.inputs.end()) {
    const HostBuffer& b = given->second;
    if (b.dtype != decl->dtype || b.shape != *shape ||
        b.data.size() != static_cast<size_t>(NumElements(*shape))) {
      return Bad(absl::StrCat(label, " was given ", b.dtype.ToString(), ShapeText(b.shape), " (",
                              b.data.size(), " elements), is declared ", decl->dtype.ToString(),
                              ShapeText(*shape)));
    }
    *contents = b;
  } else if (decl->values) {
    *contents = HostBuffer{decl->dtype, *shape, *decl->values, {}, {}, {}};
    if (contents->data.size() != static_cast<size_t>(NumElements(*shape))) {
      return Bad(label + ": its declaration has another number of values than elements");
    }
  } else {
    *contents = UndefinedBuffer(decl->dtype, *shape);
  }
  auto version =
      std::make_shared<const Version>(Version{std::string(name), std::move(contents), {}});
  p_.entries.emplace(std::string(name), version);
  return version;
}

absl::StatusOr<Tensor> GraphRun::Operand(const UOp* u, size_t i) {
  const Tensor& t = values_[u->src(i)]->tensor;
  if (!t.ok()) return Bad(absl::StrCat("source ", i, " has no value"));
  if (t.defined && p_.options.check_undefined) {
    const auto at = std::find(t.defined->begin(), t.defined->end(), 0) - t.defined->begin();
    if (at != static_cast<std::ptrdiff_t>(t.defined->size())) {
      const VersionPtr& v = values_[u->src(i)]->version;
      return absl::FailedPreconditionError(
          absl::StrCat("element ", at, " of source ", i, " was never given a value",
                       v ? absl::StrCat(" (buffer @", v->name, ")") : ""));
    }
  }
  return t;
}

absl::StatusOr<int64_t> GraphRun::Number(const UOp* u, size_t i) {
  auto t = Operand(u, i);
  if (!t.ok()) return t.status();
  if (t->size() != 1) return Bad(absl::StrCat("source ", i, " is not one number"));
  return (*t->data)[0];
}

absl::Status GraphRun::Buffer(const UOp* u, Value& v) {
  auto entry = Entry(ctx_.String(static_cast<StringId>(u->word())));
  if (!entry.ok()) return entry.status();
  v.version = *entry;
  Extents shape = v.version->contents->shape;
  v.tensor = Read(v.version, nullptr, std::move(shape));
  return absl::OkStatus();
}

absl::Status GraphRun::Bind(const UOp* u, Value& v) {
  auto value = Number(u, 1);
  if (!value.ok()) return value.status();
  v.tensor = ScalarTensor(u->dtype.scalar(), *value);
  return absl::OkStatus();
}

absl::Status GraphRun::Move(const UOp* u, Value& v) {
  const Value& from = *values_[u->src(0)];
  if (!from.tensor.ok()) return Bad("its source has no value");
  std::vector<int64_t> symbols;
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) {
    auto n = Number(u, i);
    if (!n.ok()) return n.status();
    symbols.push_back(*n);
  }
  auto movement = MovementOf(u, from.tensor.shape, symbols);
  if (!movement.ok()) return movement.status();
  v.tensor = Gather(from.tensor, *movement);
  if (!from.version || !is_target_.Contains(u)) return absl::OkStatus();
  v.version = from.version;
  if (from.map) {
    for (int64_t& i : movement->map) {
      if (i >= 0) i = (*from.map)[static_cast<size_t>(i)];
    }
  }
  v.map = std::make_shared<const std::vector<int64_t>>(std::move(movement->map));
  return absl::OkStatus();
}

absl::Status GraphRun::BufferView(const UOp* u, Value& v) {
  const Value& from = *values_[u->src(0)];
  const int64_t offset = u->word(0), size = u->word(1);
  if (!from.version) return Bad("its source is not a buffer");
  const auto n = static_cast<int64_t>(from.tensor.size());
  if (offset < 0 || size < 0 || offset + size > n) {
    return Bad(absl::StrCat("[", offset, ", ", offset + size, ") is outside a buffer of ", n));
  }
  std::vector<int64_t> map(static_cast<size_t>(size));
  for (size_t i = 0; i < map.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) + offset;
    map[i] = from.map ? (*from.map)[static_cast<size_t>(at)] : at;
  }
  v.version = from.version;
  v.tensor = Read(v.version, &map, {size});
  v.map = std::make_shared<const std::vector<int64_t>>(std::move(map));
  return absl::OkStatus();
}

VersionPtr GraphRun::Write(const VersionPtr& base, const std::vector<int64_t>* map,
                           const Tensor& values) {
  auto record = std::make_shared<WriteRecord>();
  record->order = next_write_++;
  const Scalar storage = base->contents->dtype.scalar();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = map ? (*map)[i] : static_cast<int64_t>(i);
    if (at < 0) continue;  // what a pad adds is not there
    record->indices.push_back(at);
    record->values.push_back(CastBits(values.scalar, storage, (*values.data)[i]));
    if (values.error) record->errors.push_back(values.ErrorAt(i));
  }
  return Apply(base, std::move(record));
}

// Joins `versions` with those of the same buffer that sources `first_token`.. of `u` hold.
absl::StatusOr<VersionPtr> GraphRun::JoinAll(std::vector<VersionPtr> versions, size_t first_token,
                                             const UOp* u) {
  const std::string& name = versions[0]->name;
  const auto add = [&](const VersionPtr& v) {
    if (v && v->name == name) versions.push_back(v);
  };
  for (size_t i = first_token; i < u->num_srcs; ++i) {
    const Value& token = *values_[u->src(i)];
    add(token.version);
    for (const VersionPtr& v : token.written) add(v);
  }
  if (versions.size() == 1) return versions[0];
  auto entry = Entry(name);
  if (!entry.ok()) return entry.status();
  return Join(versions, *entry);
}

absl::Status GraphRun::Assign(const UOp* u, Value& v) {
  const Value& target = *values_[u->src(0)];
  if (!target.version) return Bad("its target is not a buffer or a view of one");
  v.map = target.map;
  VersionPtr version;
  if (u->src(1)->op == Op::kKernel) {
    for (const VersionPtr& w : values_[u->src(1)]->written) {
      if (w->name == target.version->name) version = w;
    }
    if (!version) return Bad(absl::StrCat("the kernel does not write @", target.version->name));
  } else {
    auto value = Operand(u, 1);
    if (!value.ok()) return value.status();
    if (value->size() != target.tensor.size() && value->size() != 1) {
      return Bad(absl::StrCat("the target has shape ", ShapeText(target.tensor.shape),
                              ", the value ", ShapeText(value->shape)));
    }
    Tensor full = *value;
    if (full.size() != target.tensor.size()) {
      full = Gather(full, Movement{target.tensor.shape,
                                   std::vector<int64_t>(target.tensor.size(), int64_t{0})});
    }
    version = Write(target.version, target.map.get(), full);
  }
  auto joined = JoinAll({version}, 2, u);
  if (!joined.ok()) return joined.status();
  v.version = *joined;
  v.tensor = Read(v.version, v.map.get(), target.tensor.shape);
  return absl::OkStatus();
}

absl::Status GraphRun::After(const UOp* u, Value& v) {
  const Value& from = *values_[u->src(0)];
  if (!from.version) {
    v = from;
    return absl::OkStatus();
  }
  auto joined = JoinAll({from.version}, 1, u);
  if (!joined.ok()) return joined.status();
  v.version = *joined;
  v.map = from.map;
  v.tensor = Read(v.version, v.map.get(), from.tensor.shape);
  return absl::OkStatus();
}

// The elements of a buffer that an operand of a kernel stands for: [first, first + n).
absl::StatusOr<std::pair<int64_t, int64_t>> Window(const Value& v) {
  const auto all = static_cast<int64_t>(v.version->contents->data.size());
  if (!v.map) return std::pair<int64_t, int64_t>{0, all};
  if (v.map->empty()) return std::pair<int64_t, int64_t>{0, 0};
  const int64_t first = (*v.map)[0];
  for (size_t i = 0; i < v.map->size(); ++i) {
    if ((*v.map)[i] != first + static_cast<int64_t>(i)) {
      return Bad("a kernel's operand is not a run of a buffer's elements");
    }
  }
  return std::pair<int64_t, int64_t>{first, static_cast<int64_t>(v.map->size())};
}

absl::Status GraphRun::RunKernelNode(const UOp* u, Value& result) {
  const std::string_view name = ctx_.String(static_cast<StringId>(u->word()));
  const Kernel* kernel = p_.module.FindKernel(name);
  if (!kernel) return Bad(absl::StrCat("there is no kernel @", std::string(name)));
  // The memory of one buffer, which may stand behind several operands.
  struct Memory {
    VersionPtr version;
    HostBuffer contents;
    bool stored = false;
  };
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Memory*> of_slot;
  std::vector<KernelArg> args;
  VarValues vars = p_.vars;
  for (size_t i = 0; i < u->num_srcs; ++i) {
    const UOp* operand = u->src(i);
    const Value& v = *values_[operand];
    const UOp* var = operand->op == Op::kBind ? operand->src(0) : operand;
    if (var->op == Op::kVar) {
      vars[Text(var->word())] = (*v.tensor.data)[0];
      continue;
    }
    if (!v.version) return Bad(absl::StrCat("operand ", i, " is neither a buffer nor a variable"));
    auto window = Window(v);
    if (!window.ok()) return window.status();
    Memory* memory = nullptr;
    for (const auto& m : memories) {
      if (m->version->name == v.version->name) memory = m.get();
    }
    if (memory && memory->version->writes != v.version->writes) {
      return Bad(absl::StrCat("operand ", i, " reads @", v.version->name,
                              " as it was at another time than another operand sees it"));
    }
    if (!memory) {
      memory = memories.emplace_back(std::make_unique<Memory>()).get();
      memory->version = v.version;
      HostBuffer& b = memory->contents;
      b = *v.version->contents;
      // A buffer of symbolic shape has memory for its greatest.
      const BufferDecl* decl = p_.module.FindBuffer(v.version->name);
      const auto room = static_cast<size_t>(AllocatedElements(p_.module, *decl));
      if (room > b.data.size()) {
        if (b.defined.empty()) b.defined.assign(b.data.size(), 1);
        b.defined.resize(room, 0);
        b.data.resize(room, 0);
        if (!b.error.empty()) b.error.resize(room, 0);
        if (!v.map) window->second = static_cast<int64_t>(room);
      }
      b.written.assign(b.data.size(), 0);
    } else if (!v.map) {
      window->second = static_cast<int64_t>(memory->contents.data.size());
    }
    args.push_back({&memory->contents, window->first, window->second});
    of_slot.push_back(memory);
  }
  const std::vector<bool> stored = StoredSlots(*kernel, args.size());
  for (size_t i = 0; i < stored.size(); ++i) of_slot[i]->stored |= stored[i];
  if (absl::Status s = RunKernel(*kernel, args, vars, p_.options); !s.ok()) return s;

  for (const auto& m : memories) {
    if (!m->stored) continue;
    auto record = std::make_shared<WriteRecord>();
    record->order = next_write_++;
    const size_t n = m->version->contents->data.size();
    for (size_t i = 0; i < n; ++i) {
      if (!m->contents.written[i]) continue;
      record->indices.push_back(static_cast<int64_t>(i));
      record->values.push_back(m->contents.data[i]);
      if (!m->contents.error.empty()) record->errors.push_back(m->contents.error[i]);
    }
    result.written.push_back(Apply(m->version, std::move(record)));
  }
  return absl::OkStatus();
}

// All results of one loop come from one run of it.
absl::Status GraphRun::Loop(const UOp* u, Value& v) {
  const std::string_view name = ctx_.String(static_cast<StringId>(u->word(0)));
  const Graph* body = p_.module.FindGraph(name);
  if (!body) return Bad(absl::StrCat("there is no graph @", std::string(name)));
  if (depth_ > 50) return Bad("loops are nested too deeply (does a body run itself?)");
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
    return Bad(absl::StrCat("there is no carried value ", result));
  }
  std::vector<const UOp*> srcs(u->srcs().begin(), u->srcs().end());
  const auto [cached, is_new] = loops_.try_emplace({u->word(0), std::move(srcs)});
  for (int64_t i = 0; is_new && i < *trip; ++i) {
    GraphRun run(p_, *body, carried, depth_ + 1);
    auto next = run.Run();
    if (!next.ok()) return next.status();
    if (!next->buffers.empty()) {
      return Bad(absl::StrCat("the loop's body @", std::string(name), " writes a buffer"));
    }
    if (next->values.size() != carried.size()) {
      return Bad(absl::StrCat("the body gives ", next->values.size(), " values for ",
                              carried.size(), " carried ones"));
    }
    for (size_t k = 0; k < carried.size(); ++k) {
      if (next->values[k].shape != carried[k].shape ||
          next->values[k].scalar != carried[k].scalar) {
        return Bad(absl::StrCat("carried value ", k, " changes its type or shape"));
      }
    }
    carried = std::move(next->values);
  }
  if (is_new) cached->second = std::move(carried);
  v.tensor = cached->second[static_cast<size_t>(result)];
  return absl::OkStatus();
}

absl::Status GraphRun::Eval(const UOp* u) {
  Value& v = *(values_[u] = std::make_shared<Value>());
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
    case Op::kVar: {
      const auto it = p_.vars.find(ctx_.String(static_cast<StringId>(u->word())));
      if (it == p_.vars.end()) {
        return Bad(absl::StrCat("variable @", Text(u->word()), " has no value"));
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
    case Op::kContiguous:
    case Op::kCopy: {
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
    case Op::kCarried: {
      const auto i = static_cast<uint64_t>(u->word(0));
      if (i >= carried_.size()) return Bad("there is no such carried value");
      v.tensor = carried_[i];
      const auto shape = u->list(1);
      if (!std::equal(shape.begin(), shape.end(), v.tensor.shape.begin(), v.tensor.shape.end())) {
        return Bad(absl::StrCat("the carried value has shape ", ShapeText(v.tensor.shape)));
      }
      return absl::OkStatus();
    }
    default:
      return Bad("has no meaning in a graph");
  }
}

absl::StatusOr<GraphResult> GraphRun::Commit(const UOp* sink) {
  GraphResult result;
  const auto targets = sink->list();
  std::vector<std::pair<std::string, Tensor>> stores;
  std::map<std::string, std::vector<VersionPtr>> versions;
  for (size_t i = 0; i < sink->num_srcs; ++i) {
    const Value& v = *values_[sink->src(i)];
    const bool to_buffer = i < targets.size() && targets[i] != 0;
    if (to_buffer) {
      auto t = Operand(sink, i);
      if (!t.ok()) return t.status();
      stores.emplace_back(Text(targets[i]), *t);
    }
    if (v.tensor.ok()) result.values.push_back(v.tensor);
  }
  // Every write that the sink reaches is committed, also one that only a value depends on.
  for (const UOp* u : PostOrder(sink)) {
    if (u->op != Op::kAssign && u->op != Op::kKernel) continue;
    const Value& v = *values_[u];
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
      return Bad(absl::StrCat("sink: @", name, " has shape ",
                              ShapeText((*entry)->contents->shape), ", its value ",
                              ShapeText(t.shape)));
    }
    result.buffers[name] = *Write(*entry, nullptr, t)->contents;
  }
  for (auto& [name, b] : result.buffers) {
    const BufferDecl* decl = p_.module.FindBuffer(name);
    const auto hole = std::find(b.defined.begin(), b.defined.end(), 0);
    if (hole == b.defined.end()) {
      b.defined.clear();
    } else if (p_.options.check_undefined && decl->role == Role::kOutput) {
      return absl::FailedPreconditionError(absl::StrCat(
          "element ", hole - b.defined.begin(), " of output @", name, " is never written"));
    }
  }
  return result;
}

absl::StatusOr<GraphResult> GraphRun::Run() {
  const std::string what = "graph @" + graph_.name;
  const UOp* root = graph_.body.root;
  if (!root) return Bad(what + " has no body");
  const std::vector<const UOp*> order = PostOrder(root);
  NodeMap<int> uses;
  for (const UOp* u : order) {
    for (const UOp* s : u->srcs()) ++uses[s];
  }
  // Sources have smaller ids: going down from the root, a target's own view comes after it.
  for (size_t i = order.size(); i-- > 0;) {
    const UOp* u = order[i];
    const bool memory = u->op == Op::kAssign || u->op == Op::kKernel || u->op == Op::kAfter ||
                        u->op == Op::kBufferView || (IsMovement(u->op) && is_target_.Contains(u));
    if (!memory) continue;
    const size_t n = u->op == Op::kKernel ? u->num_srcs : 1;
    for (size_t k = 0; k < n; ++k) is_target_.Insert(u->src(k));
  }
  for (const UOp* u : order) {
    if (u == root) break;
    if (absl::Status s = Eval(u); !s.ok()) {
      return absl::Status(s.code(), NodeLabel(graph_.body, what, u) + std::string(s.message()));
    }
    for (const UOp* s : u->srcs()) {
      // Writes are kept for the commit.
      if (--uses[s] == 0 && s->op != Op::kAssign && s->op != Op::kKernel) values_[s] = nullptr;
    }
  }
  auto result = Commit(root);
  if (!result.ok()) {
    return absl::Status(result.status().code(),
                        absl::StrCat(what, ": ", result.status().message()));
  }
  return result;
}

// The values that the graph itself binds variables to.
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
  Program program{module, inputs, vars, options, {}};
  TakeBoundVars(graph, program.vars);
  for (const VarDecl& decl : module.vars) {
    const auto it = program.vars.find(decl.name);
    if (it != program.vars.end() && (it->second < decl.min || it->second > decl.max)) {
      return Bad(absl::StrCat("variable @", decl.name, " = ", it->second, " is outside [",
                              decl.min, ", ", decl.max, "]"));
    }
  }
  return GraphRun(program, graph, {}, 0).Run();
}

}  // namespace tg
