#include "runtime/session/session.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {

absl::StatusOr<size_t> FindGraphToRun(std::string_view module,
                                      std::span<const std::string_view> graphs,
                                      std::string_view name) {
  if (graphs.empty()) return NotFound("module @", module, " has no graph");
  if (name.empty()) {
    const auto is_other = [](std::string_view graph) { return graph != kInitGraph; };
    const auto other = std::find_if(graphs.begin(), graphs.end(), is_other);
    if (std::count_if(graphs.begin(), graphs.end(), is_other) == 1) {
      return static_cast<size_t>(other - graphs.begin());
    }
    name = "main";
  }
  const auto found = std::find(graphs.begin(), graphs.end(), name);
  if (found == graphs.end()) return NotFound("there is no graph @", name, OtherNames(name, graphs));
  return static_cast<size_t>(found - graphs.begin());
}

absl::StatusOr<const BufferDecl*> FindStored(const Declarations& decls, std::string_view name) {
  const BufferDecl* found = decls.FindBuffer(name);
  if (found != nullptr && found->role != Role::kTemp) return found;
  std::vector<std::string_view> names;
  for (const BufferDecl& buffer : decls.buffers) {
    if (buffer.role != Role::kTemp) names.push_back(buffer.name);
  }
  return NotFound("there is no buffer @", name, OtherNames(name, names));
}

Session::Session(const Declarations& declarations, std::vector<GraphNeeds> graphs,
                 OpenContents contents)
    : declarations_(&declarations), graphs_(std::move(graphs)), contents_(std::move(contents)) {
  for (const GraphNeeds& g : graphs_) graph_names_.push_back(g.name);
}

absl::Status Session::Set(std::string_view name, const HostTensor& tensor) {
  return Set(name, tensor.type, tensor.shape, tensor.data);
}

absl::Status Session::Set(std::string_view name, ElementType type, std::span<const int64_t> shape,
                          std::span<const std::byte> elements) {
  return SetOrLend(name, type, shape, {elements, {}}, /*lend=*/false);
}

absl::Status Session::Set(std::string_view name, ElementType type, std::span<const int64_t> shape,
                          DeviceHandle memory) {
  return SetOrLend(name, type, shape, {{}, memory}, /*lend=*/false);
}

absl::Status Session::SetOrLend(std::string_view name, ElementType type,
                                std::span<const int64_t> shape, const Given& elements, bool lend) {
  const BufferDecl* known = declarations_->FindBuffer(name);
  const auto last = shapes_.find(name);
  // What an input was given before, it can be given again.
  const bool is_as_before = known != nullptr && known->role == Role::kInput &&
                            last != shapes_.end() && ElementTypeOf(known->dtype.scalar()) == type &&
                            std::ranges::equal(last->second, shape);
  if (!is_as_before) TG_RETURN_IF_ERROR(CheckInput(*declarations_, name, type, shape));
  const BufferDecl& buffer = *declarations_->FindBuffer(name);
  const std::optional<size_t> bytes = NumBytes(type, shape);
  if (!bytes || (elements.device.handle == nullptr && *bytes != elements.host.size())) {
    return InvalidArgument("@", name, ": ", elements.host.size(), " bytes are given for ",
                           TypeAndShape(type, shape));
  }
  EndLoan(buffer);
  TG_RETURN_IF_ERROR(Take(buffer, shape, elements, *bytes, lend));
  std::erase(absent_, &buffer);
  if (is_as_before) return absl::OkStatus();
  shapes_[buffer.name].assign(shape.begin(), shape.end());
  ready_ = nullptr;
  if (buffer.role == Role::kParam) {
    if (InitReads(buffer)) is_initialized_ = false;
    ++params_set_;
  }
  return absl::OkStatus();
}

void Session::AdoptContents(const Session& from, std::span<const std::string> shared) {
  for (const std::string& name : shared) {
    const auto shape = from.shapes_.find(name);
    if (shape == from.shapes_.end()) continue;
    const auto [own, is_new] = shapes_.try_emplace(name, shape->second);
    if (!is_new && own->second == shape->second) continue;
    own->second = shape->second;
    ready_ = nullptr;
  }
  if (params_set_ == from.params_set_) return;
  params_set_ = from.params_set_;
  is_initialized_ = false;
  ready_ = nullptr;
}

void Session::AdoptInitialized(const Session& from, std::span<const std::string> shared) {
  AdoptContents(from, shared);
  is_initialized_ = true;
}

bool Session::InitReads(const BufferDecl& buffer) const {
  return std::any_of(graphs_.begin(), graphs_.end(), [&](const GraphNeeds& graph) {
    const std::vector<const BufferDecl*>& needed = graph.needs.buffers;
    return graph.name == kInitGraph &&
           std::find(needed.begin(), needed.end(), &buffer) != needed.end();
  });
}

absl::Status Session::SetVar(std::string_view name, int64_t value) {
  TG_ASSIGN_OR_RETURN(const VarDecl* var, CheckVar(*declarations_, name, value));
  const auto [given, is_new] = given_vars_.try_emplace(var->name, value);
  if (is_new || given->second != value) ready_ = nullptr;
  given->second = value;
  return absl::OkStatus();
}

absl::Status Session::LoadContents(std::span<const BufferDecl* const> buffers) {
  const std::unique_ptr<ContentsReader> reader = contents_();
  for (const BufferDecl* buffer : buffers) {
    if (!HasContents(*buffer)) continue;
    if (shapes_.contains(buffer->name)) continue;
    TG_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, reader->Read(*buffer));
    TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*buffer, {}));
    const std::shared_ptr<const void> owner = reader->owner();
    // Kernels rely on the alignment of buffers.
    constexpr uintptr_t kLine = 64;
    const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % kLine == 0;
    if (owner == nullptr || !is_aligned || !Adopt(*buffer, bytes, owner)) {
      TG_RETURN_IF_ERROR(Upload(*buffer, shape, bytes));
    }
    shapes_[buffer->name] = std::move(shape);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Session::LoadParams() {
  std::vector<const BufferDecl*> params;
  for (const GraphNeeds& graph : graphs_) {
    for (const BufferDecl* buffer : graph.needs.buffers) {
      if (buffer->role == Role::kParam && HasContents(*buffer)) params.push_back(buffer);
    }
  }
  TG_RETURN_IF_ERROR(LoadContents(params));
  std::vector<std::string> names;
  for (const BufferDecl* buffer : params) names.push_back(buffer->name);
  return names;
}

absl::Status Session::ClearStates(std::span<const BufferDecl* const> buffers) {
  for (const BufferDecl* buffer : buffers) {
    if (buffer->role != Role::kState || shapes_.contains(buffer->name)) continue;
    const std::optional<ElementType> type =
        buffer->dtype.is_value() ? ElementTypeOf(buffer->dtype.scalar()) : std::nullopt;
    if (!type) {
      return Unimplemented("state @", buffer->name, " is of type ", buffer->dtype.ToString());
    }
    // Initializes all of a symbolic state, so that later runs with other extents also find zeros.
    TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, GreatestShape(*declarations_, *buffer));
    TG_RETURN_IF_ERROR(Clear(*buffer, shape));
    shapes_[buffer->name] = std::move(shape);
  }
  return absl::OkStatus();
}

absl::Status Session::Clear(const BufferDecl& buffer, std::span<const int64_t> shape) {
  const std::optional<ElementType> type = ElementTypeOf(buffer.dtype.scalar());
  TG_ASSIGN_OR_RETURN(const HostTensor zeros,
                      MakeHostTensor(*type, std::vector<int64_t>(shape.begin(), shape.end())));
  return Upload(buffer, shape, zeros.data);
}

absl::Status Session::Run(std::string_view graph, int64_t times) {
  TG_RETURN_IF_ERROR(RunGraph(graph, times));
  return results_.empty() ? absl::OkStatus() : CopyResults(graph);
}

absl::Status Session::RunGraph(std::string_view graph_name, int64_t times) {
  if (times < 1) return InvalidArgument("a graph cannot run ", times, " times");
  const std::vector<std::string_view>& names = graph_names_;
  TG_ASSIGN_OR_RETURN(const size_t number, FindGraphToRun(declarations_->name, names, graph_name));
  const GraphNeeds* graph = &graphs_[number];
  if (graph == ready_ && absent_.empty()) return Execute(*graph, last_vars_, times);
  ready_ = nullptr;
  std::vector<const GraphNeeds*> graphs = {graph};
  const auto init = std::find(names.begin(), names.end(), kInitGraph);
  if (init != names.end() && graph->name != kInitGraph && !is_initialized_) {
    graphs.insert(graphs.begin(), &graphs_[static_cast<size_t>(init - names.begin())]);
  }
  TG_ASSIGN_OR_RETURN(const VarMap vars, ResolveVars(*declarations_, given_vars_, shapes_));
  std::vector<const Needs*> needs;
  for (const GraphNeeds* g : graphs) needs.push_back(&g->needs);
  // Contents stay given, so a graph that has run still has everything that it needs.
  const bool all_ran =
      absent_.empty() && std::all_of(graphs.begin(), graphs.end(),
                                     [&](const GraphNeeds* g) { return completed_.contains(g); });
  if (const Missing missing = all_ran ? Missing() : FindMissing(needs, vars, PresentShapes());
      missing.any()) {
    return absl::FailedPreconditionError(
        Cat("graph @", graph->name, " needs what is not given: ", missing.ToString()));
  }
  // Requirements on variables that no graph here uses are not checked: their values may be left
  // from runs of other graphs.
  const auto is_used = [&](std::string_view name) {
    return std::any_of(needs.begin(), needs.end(), [&](const Needs* n) { return n->Uses(name); });
  };
  const std::string broken =
      BrokenRequirement(*declarations_, [&](std::string_view name) -> std::optional<int64_t> {
        const auto value = vars.find(name);
        if (value == vars.end() || !is_used(name)) return std::nullopt;
        return value->second;
      });
  if (!broken.empty()) return absl::InvalidArgumentError(broken);
  for (const GraphNeeds* g : graphs) TG_RETURN_IF_ERROR(RunOne(*g, g == graph ? times : 1));
  if (graph->name != kInitGraph) ready_ = graph;
  return absl::OkStatus();
}

absl::Status Session::RunOne(const GraphNeeds& graph, int64_t times) {
  const std::vector<const BufferDecl*>& buffers = graph.needs.buffers;
  TG_ASSIGN_OR_RETURN(VarMap vars, ResolveVars(*declarations_, given_vars_, shapes_));
  if (!completed_.contains(&graph)) {
    TG_RETURN_IF_ERROR(LoadContents(buffers));
    TG_RETURN_IF_ERROR(ClearStates(buffers));
  }
  VarMap before = std::exchange(last_sizes_, vars);
  if (absl::Status status = Execute(graph, vars, times); !status.ok()) {
    last_sizes_ = std::move(before);
    return status;
  }
  std::erase_if(absent_, [&](const BufferDecl* buffer) {
    return buffer->role == Role::kOutput &&
           std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  });
  completed_.insert(&graph);
  if (graph.name == kInitGraph) {
    is_initialized_ = true;
    last_sizes_ = std::move(before);
    return absl::OkStatus();
  }
  last_vars_ = std::move(vars);
  has_run_ = true;
  return absl::OkStatus();
}

absl::StatusOr<HostTensor> Session::Get(std::string_view name) {
  HostTensor tensor;
  TG_RETURN_IF_ERROR(GetInto(name, tensor));
  return tensor;
}

absl::StatusOr<const BufferDecl*> Session::FindReadable(std::string_view name,
                                                        ElementType& type) const {
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, FindStored(*declarations_, name));
  if (!shapes_.contains(name) && (!has_run_ || buffer->role != Role::kOutput)) {
    return absl::FailedPreconditionError(Cat("@", name, " has no contents yet"));
  }
  if (IsAbsent(name)) {
    return absl::FailedPreconditionError(
        Cat("the contents of @", name, " were in memory that was lent for a call"));
  }
  const std::optional<ElementType> known =
      buffer->dtype.is_value() ? ElementTypeOf(buffer->dtype.scalar()) : std::nullopt;
  if (!known) return Unimplemented("@", name, " is of type ", buffer->dtype.ToString());
  type = *known;
  return buffer;
}

absl::StatusOr<TypeShape> Session::FormOf(std::string_view name) const {
  TypeShape form;
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, FindReadable(name, form.type));
  TG_ASSIGN_OR_RETURN(form.shape, ShapeOf(*buffer, last_sizes_));
  return form;
}

absl::Status Session::GetInto(std::string_view name, HostTensor& tensor) {
  ElementType type;
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, FindReadable(name, type));
  const bool fits = tensor.type == type && HasShape(*buffer, last_sizes_, tensor.shape) &&
                    NumBytes(type, tensor.shape) == tensor.data.size();
  if (!fits) {
    TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*buffer, last_sizes_));
    TG_ASSIGN_OR_RETURN(tensor, MakeHostTensor(type, std::move(shape)));
  }
  return Download(*buffer, tensor.data);
}

absl::Status Session::GetInto(std::string_view name, std::span<std::byte> elements) {
  ElementType type;
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, FindReadable(name, type));
  TG_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ShapeOf(*buffer, last_sizes_));
  if (NumBytes(type, shape) != elements.size()) {
    return InvalidArgument("@", name, " is ", TypeAndShape(type, shape), ", not of ",
                           elements.size(), " bytes");
  }
  return Download(*buffer, elements);
}

}  // namespace tg::runtime
