// Inputs of a run: read and checked before anything is compiled.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "ir/module.h"
#include "runtime/io/file.h"
#include "runtime/io/npy.h"
#include "runtime/media/tensors.h"
#include "runtime/session/given.h"
#include "runtime/session/session.h"
#include "runtime/session/tensors.h"
#include "tools/run/model_run.h"
#include "tools/run/random_inputs.h"

namespace tg::run {

using runtime::HostTensor;
using runtime::NpyFile;
using runtime::ScopedSpan;

absl::Status ModelRun::ReadInputs() {
  const ScopedSpan span(&spans_, "read inputs");
  // Inputs of an ONNX model have already been read.
  for (const auto& [name, tensor] : inputs_) {
    TG_RETURN_IF_ERROR(runtime::CheckInput(*module_, name, tensor.type, tensor.shape));
  }
  const auto add = [&](const std::string& name, HostTensor tensor) -> absl::Status {
    if (inputs_.emplace(name, std::move(tensor)).second) return absl::OkStatus();
    return InvalidArgument("input @", name, " is given twice");
  };
  for (const NamedFile& input : flags_.inputs) {
    if (is_onnx_) break;
    const auto of_input = [&](const absl::Status& status) {
      return absl::Status(status.code(),
                          Cat("input @", input.name, ": ", std::string(status.message())));
    };
    if (input.media.kind != runtime::MediaKind::kNone) {
      TG_ASSIGN_OR_RETURN(const runtime::TensorForm form, FormOf(input.name));
      absl::StatusOr<HostTensor> tensor = runtime::ReadMedia(input.media, form);
      if (!tensor.ok()) return of_input(tensor.status());
      TG_RETURN_IF_ERROR(runtime::CheckInput(*module_, input.name, tensor->type, tensor->shape));
      TG_RETURN_IF_ERROR(add(input.name, *std::move(tensor)));
      continue;
    }
    const absl::StatusOr<NpyFile> file = NpyFile::Open(input.file);
    if (!file.ok()) return of_input(file.status());
    // Refuses a file of another type or shape before its data is read.
    TG_RETURN_IF_ERROR(runtime::CheckInput(*module_, input.name, file->type(), file->shape()));
    absl::StatusOr<HostTensor> tensor = file->Read();
    if (!tensor.ok()) return of_input(tensor.status());
    TG_RETURN_IF_ERROR(add(input.name, *std::move(tensor)));
  }
  TG_RETURN_IF_ERROR(ReadLabels());
  if (!flags_.random_inputs) return absl::OkStatus();
  std::vector<const BufferDecl*> buffers = graph_->needs.buffers;
  // Includes the buffers of all graphs, since @init may read them.
  for (const BufferDecl& buffer : module_->buffers) {
    if (buffer.role == Role::kParam) buffers.push_back(&buffer);
  }
  std::erase_if(buffers, [&](const BufferDecl* buffer) {
    const bool is_open = buffer->role == Role::kInput ||
                         (buffer->role == Role::kParam && !buffer->values && buffer->file.empty());
    return !is_open || inputs_.count(buffer->name);
  });
  TG_RETURN_IF_ERROR(CheckRandomInputs(*module_, buffers, vars_, SizeOptionsOf()));
  for (const BufferDecl* buffer : buffers) {
    if (inputs_.count(buffer->name)) continue;
    TG_ASSIGN_OR_RETURN(inputs_[buffer->name],
                        RandomTensor(*module_, *buffer, vars_, *flags_.random_inputs));
  }
  return absl::OkStatus();
}

absl::StatusOr<runtime::TensorForm> ModelRun::FormOf(const std::string& name) const {
  TG_ASSIGN_OR_RETURN(const BufferDecl* buffer, runtime::FindStored(*module_, name));
  const std::optional<runtime::ElementType> type = runtime::ElementTypeOf(buffer->dtype.scalar());
  if (!buffer->dtype.is_value() || !type) {
    return Unimplemented("@", name, " of type ", buffer->dtype.ToString(),
                         " takes no picture and no sound");
  }
  runtime::TensorForm form{*type, {}};
  form.shape.emplace();
  for (const DeclDim& dim : buffer->shape) {
    const std::optional<int64_t> extent =
        dim.Evaluate([&](std::string_view var) -> std::optional<int64_t> {
          const auto value = vars_.find(var);
          return value == vars_.end() ? std::nullopt : std::optional(value->second);
        });
    form.shape->push_back(extent.value_or(runtime::TensorForm::kOpen));
  }
  return form;
}

absl::Status ModelRun::ReadLabels() {
  if (!flags_.labels.empty()) {
    TG_ASSIGN_OR_RETURN(labels_, runtime::ReadNpy(flags_.labels));
  }
  class_names_ = flags_.class_names;
  if (flags_.class_name_file.empty()) return absl::OkStatus();
  TG_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(flags_.class_name_file));
  if (text.find('\0') != std::string::npos) {
    return InvalidArgument(flags_.class_name_file, ": this is no text with a class in each line");
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const bool has_return = end > begin && text[end - 1] == '\r';
    class_names_.push_back(text.substr(begin, end - begin - (has_return ? 1 : 0)));
    begin = end + 1;
  }
  return absl::OkStatus();
}

void ModelRun::JoinNames(std::vector<std::string>& names) const {
  // From the end: the best way to read the names from each one on; none if there is no way.
  std::vector<std::optional<std::vector<std::string>>> best(names.size() + 1);
  best.back().emplace();
  for (size_t i = names.size(); i-- > 0;) {
    std::string name;
    for (size_t end = i; end < names.size(); ++end) {
      name += (end > i ? "," : "") + names[end];
      const auto& rest = best[end + 1];
      if (!rest || (best[i] && best[i]->size() > rest->size())) continue;
      if (!runtime::FindStored(*module_, SymbolOf(name)).ok()) continue;
      best[i] = {name};
      best[i]->insert(best[i]->end(), rest->begin(), rest->end());
    }
  }
  if (best[0]) names = *best[0];
}

// Reports a misspelt name before the run.
absl::Status ModelRun::CheckNames() const {
  std::vector<std::string> names;
  for (const auto* list : {&flags_.print, &flags_.show, &flags_.classify}) {
    names.insert(names.end(), list->begin(), list->end());
  }
  for (const NamedFile& output : flags_.outputs) names.push_back(output.name);
  for (const Expectation& expectation : flags_.expectations) names.push_back(expectation.name);
  for (const std::string& name : names) {
    const absl::StatusOr<const BufferDecl*> buffer = runtime::FindStored(*module_, SymbolOf(name));
    if (!buffer.ok()) return buffer.status();
  }
  return absl::OkStatus();
}

// Reports missing inputs before the run.
absl::Status ModelRun::CheckGiven() const {
  runtime::ShapesByName shapes;
  for (const auto& [name, tensor] : inputs_) shapes[name] = tensor.shape;
  for (const auto& [name, value] : vars_) {
    TG_RETURN_IF_ERROR(runtime::CheckVar(*module_, name, value).status());
  }
  TG_ASSIGN_OR_RETURN(const runtime::VarMap vars, runtime::ResolveVars(*module_, vars_, shapes));
  std::vector<runtime::Needs> needs = {graph_->needs};
  for (const runtime::GraphNeeds& graph : graphs_) {
    if (graph.name == kInitGraph && &graph != graph_) needs.push_back(graph.needs);
  }
  std::vector<const runtime::Needs*> all;
  for (const runtime::Needs& n : needs) all.push_back(&n);
  const runtime::Missing missing = runtime::FindMissing(all, vars, shapes);
  if (!missing.any()) return absl::OkStatus();
  if (WantsList()) ListModule(needs);
  std::string text = Cat("graph @", graph_->name, " needs what is not given: ", missing.ToString());
  for (const VarDecl* var : missing.vars) {
    text += Cat(var == missing.vars.front() ? "; give " : " and ", "--var=", var->name, "=NUMBER");
  }
  return absl::FailedPreconditionError(text);
}

}  // namespace tg::run
