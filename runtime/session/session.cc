#include "runtime/session/session.h"

#include <set>
#include <utility>

#include "ir/text/diagnostic.h"
#include "ir/walk.h"
#include "runtime/base/status.h"
#include "runtime/session/params.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

// Whether somebody outside may give the buffer its contents.
bool IsSettable(const BufferDecl& buffer) {
  return buffer.role == Role::kInput || buffer.role == Role::kState ||
         (buffer.role == Role::kParam && !HasContents(buffer));
}

// ": there are a, b"; with a guess where a name is close.
std::string Names(std::string_view wrong, std::span<const std::string_view> names) {
  const std::string guess = DidYouMean(wrong, {names.begin(), names.end()});
  if (!guess.empty()) return guess;
  std::string list;
  for (const std::string_view name : names)
    list += Cat(list.empty() ? "; there are @" : ", @", name);
  return list;
}

}  // namespace

absl::StatusOr<const Graph*> FindGraphToRun(const Module& module, std::string_view name) {
  if (module.graphs.empty()) return NotFound("module @", module.name, " has no graph");
  if (name.empty()) {
    std::vector<const Graph*> graphs;
    for (const auto& graph : module.graphs) {
      if (graph->name != kInitGraph) graphs.push_back(graph.get());
    }
    if (graphs.size() == 1) return graphs[0];
    name = "main";
  }
  std::vector<std::string_view> names;
  for (const auto& graph : module.graphs) {
    if (graph->name == name) return graph.get();
    names.push_back(graph->name);
  }
  return NotFound("there is no graph @", name, Names(name, names));
}

std::vector<const BufferDecl*> BuffersOf(const Module& module, const Graph& graph) {
  std::set<std::string_view> used;
  const tg::Context& context = *graph.body.context;
  for (const UOp* u : PostOrder(graph.body.root)) {
    if (u->op == Op::kBuffer) used.insert(context.String(static_cast<StringId>(u->word())));
  }
  const auto targets = graph.body.root->words();
  for (size_t i = 1; i < targets.size(); ++i) {
    used.insert(context.String(static_cast<StringId>(targets[i])));
  }
  std::vector<const BufferDecl*> out;
  for (const BufferDecl& buffer : module.buffers) {
    if (used.contains(buffer.name)) out.push_back(&buffer);
  }
  return out;
}

absl::StatusOr<const BufferDecl*> FindStored(const Module& module, std::string_view name) {
  std::vector<std::string_view> names;
  for (const BufferDecl& buffer : module.buffers) {
    if (buffer.role == Role::kTemp) continue;
    if (buffer.name == name) return &buffer;
    names.push_back(buffer.name);
  }
  return NotFound("there is no buffer @", name, Names(name, names));
}

absl::Status CheckInput(const Module& module, std::string_view name, const HostTensor& tensor) {
  const BufferDecl* buffer = module.FindBuffer(name);
  if (buffer == nullptr || !IsSettable(*buffer)) {
    std::vector<std::string_view> names;
    for (const BufferDecl& b : module.buffers) {
      if (IsSettable(b)) names.push_back(b.name);
    }
    if (buffer == nullptr) return NotFound("there is no input @", name, Names(name, names));
    return InvalidArgument("@", name, " is no input but ", RoleName(buffer->role),
                           buffer->role == Role::kParam ? " with contents of its own" : "");
  }
  VarMap vars;
  return CheckTensor(module, *buffer, tensor.type, tensor.shape, vars);
}

absl::Status Session::Set(std::string_view name, const HostTensor& tensor) {
  TG_RETURN_IF_ERROR(CheckInput(*module_, name, tensor));
  const BufferDecl& buffer = *module_->FindBuffer(name);
  TG_RETURN_IF_ERROR(Upload(buffer, tensor.shape, tensor.data));
  shapes_[buffer.name] = tensor.shape;
  if (buffer.role == Role::kParam) is_initialized_ = false;
  return absl::OkStatus();
}

absl::Status Session::SetVar(std::string_view name, int64_t value) {
  const VarDecl* var = module_->FindVar(name);
  if (var == nullptr) {
    std::vector<std::string_view> names;
    for (const VarDecl& v : module_->vars) names.push_back(v.name);
    return NotFound("there is no variable @", name, Names(name, names));
  }
  if (value < var->min || value > var->max) {
    return InvalidArgument("variable @", name, " cannot be ", value, ": its bounds are [", var->min,
                           ", ", var->max, "]");
  }
  given_vars_[var->name] = value;
  return absl::OkStatus();
}

absl::StatusOr<VarMap> Session::ResolveVars() const {
  VarMap vars = given_vars_;
  for (const BufferDecl& buffer : module_->buffers) {
    const auto shape = shapes_.find(buffer.name);
    if (shape == shapes_.end() || buffer.role != Role::kInput) continue;
    const std::optional<ElementType> type = ElementTypeOf(buffer.dtype.scalar());
    TG_RETURN_IF_ERROR(CheckTensor(*module_, buffer, *type, shape->second, vars));
  }
  // A variable that can only have one value has it.
  for (const VarDecl& var : module_->vars) {
    if (var.min == var.max) vars.try_emplace(var.name, var.min);
  }
  return vars;
}

absl::Status Session::LoadContents(std::span<const BufferDecl* const> buffers) {
  ParamReader reader(*module_);
  for (const BufferDecl* buffer : buffers) {
    if (!HasContents(*buffer)) continue;
    if (shapes_.contains(buffer->name)) continue;
    TG_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, reader.Read(*buffer));
    TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*buffer, {}));
    TG_RETURN_IF_ERROR(Upload(*buffer, shape, bytes));
    shapes_[buffer->name] = std::move(shape);
  }
  return absl::OkStatus();
}

absl::Status Session::ClearStates(std::span<const BufferDecl* const> buffers, const VarMap& vars) {
  for (const BufferDecl* buffer : buffers) {
    if (buffer->role != Role::kState || shapes_.contains(buffer->name)) continue;
    const std::optional<ElementType> type =
        buffer->dtype.is_value() ? ElementTypeOf(buffer->dtype.scalar()) : std::nullopt;
    if (!type) {
      return Unimplemented("state @", buffer->name, " is of type ", buffer->dtype.ToString());
    }
    // The whole of a symbolic state, so that later runs with other extents find zeros too.
    VarMap largest = vars;
    for (const VarDecl& var : module_->vars) largest[var.name] = var.max;
    TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*buffer, largest));
    TG_ASSIGN_OR_RETURN(const HostTensor zeros, MakeHostTensor(*type, shape));
    TG_RETURN_IF_ERROR(Upload(*buffer, shape, zeros.data));
    shapes_[buffer->name] = std::move(shape);
  }
  return absl::OkStatus();
}

const std::vector<const BufferDecl*>& Session::BuffersIn(const Graph& graph) {
  const auto [cached, is_new] = buffers_of_.try_emplace(graph.name);
  if (is_new) cached->second = BuffersOf(*module_, graph);
  return cached->second;
}

absl::Status Session::Run(std::string_view graph_name) {
  TG_ASSIGN_OR_RETURN(const Graph* graph, FindGraphToRun(*module_, graph_name));
  std::vector<const Graph*> graphs = {graph};
  const Graph* init = module_->FindGraph(kInitGraph);
  if (init && init != graph && !is_initialized_) graphs.insert(graphs.begin(), init);
  std::string missing;
  std::set<const BufferDecl*> asked;
  for (const Graph* g : graphs) {
    for (const BufferDecl* buffer : BuffersIn(*g)) {
      if (!IsSettable(*buffer) || buffer->role == Role::kState) continue;
      if (shapes_.contains(buffer->name) || !asked.insert(buffer).second) continue;
      missing += Cat(missing.empty() ? "" : ", ", RoleName(buffer->role), " @", buffer->name, " (",
                     DeclaredType(*buffer), ")");
    }
  }
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        Cat("graph @", graph->name, " needs what is not given: ", missing));
  }
  for (const Graph* g : graphs) TG_RETURN_IF_ERROR(RunOne(*g));
  return absl::OkStatus();
}

absl::Status Session::RunOne(const Graph& graph) {
  const std::vector<const BufferDecl*>& buffers = BuffersIn(graph);
  TG_ASSIGN_OR_RETURN(VarMap vars, ResolveVars());
  TG_RETURN_IF_ERROR(LoadContents(buffers));
  TG_RETURN_IF_ERROR(ClearStates(buffers, vars));
  TG_RETURN_IF_ERROR(Execute(graph, buffers, vars));
  if (graph.name == kInitGraph) {
    is_initialized_ = true;
    return absl::OkStatus();
  }
  last_vars_ = std::move(vars);
  has_run_ = true;
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> Session::Get(std::string_view name) {
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, FindStored(*module_, name));
  if (!shapes_.contains(name) && (!has_run_ || buffer->role != Role::kOutput)) {
    return absl::FailedPreconditionError(Cat("@", name, " has no contents yet"));
  }
  const std::optional<ElementType> type =
      buffer->dtype.is_value() ? ElementTypeOf(buffer->dtype.scalar()) : std::nullopt;
  if (!type) return Unimplemented("@", name, " is of type ", buffer->dtype.ToString());
  TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*buffer, last_vars_));
  TG_ASSIGN_OR_RETURN(HostTensor tensor, MakeHostTensor(*type, std::move(shape)));
  TG_RETURN_IF_ERROR(Download(*buffer, tensor));
  return tensor;
}

}  // namespace tg::runtime
