#include "capi/model.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "capi/load.h"
#include "capi/structs.h"
#include "model/open.h"
#include "runtime/session/tensors.h"

namespace tg::capi {

absl::StatusOr<std::shared_ptr<Model>> Model::Open(const model::Source& source,
                                                   const LoadOptions& options) {
  TG_RETURN_IF_ERROR(options.progress("read", 0));
  PassProgress progress(options);
  TG_ASSIGN_OR_RETURN(const model::OpenOptions how, OpenOptionsFor(source, options, progress));
  TG_ASSIGN_OR_RETURN(model::OpenModel open, model::Open(source, how));
  std::shared_ptr<Model> model(new Model);
  model->memory_ = source.memory;
  model->file_name_ = source.file_name();
  model->is_profiled_ = options.profile;
  for (const auto& [symbol, name] : open.names) model->symbols_[name] = symbol;
  model->Declare(open.declarations);
  model->graphs_ = std::move(open.graphs);
  model->session_ = std::move(open.session);
  model->device_ = open.device;
  if (model->device_ != nullptr) model->ListKernels();
  TG_RETURN_IF_ERROR(options.progress("open", 1));
  return model;
}

void Model::Declare(const Declarations& declarations) {
  variables_ = declarations.vars;
  for (const BufferDecl& buffer : declarations.buffers) {
    int role = TG_PARAM;
    switch (buffer.role) {
      case Role::kInput:
        role = TG_INPUT;
        break;
      case Role::kOutput:
        role = TG_OUTPUT;
        break;
      case Role::kState:
        role = TG_STATE;
        break;
      case Role::kParam:
        break;
      case Role::kTemp:
        continue;
    }
    Tensor tensor;
    tensor.symbol = tensor.name = buffer.name;
    for (const auto& [name, symbol] : symbols_) {
      if (symbol == buffer.name) tensor.name = name;
    }
    tensor.text = runtime::DeclaredType(buffer);
    tensor.info = {};
    const std::optional<runtime::ElementType> type =
        buffer.dtype.is_value() ? runtime::ElementTypeOf(buffer.dtype.scalar()) : std::nullopt;
    tensor.info.type = type ? TypeOf(*type) : TG_TYPE_NONE;
    tensor.info.role = role;
    tensor.info.rank = static_cast<uint32_t>(buffer.shape.size());
    tensor.info.has_contents = runtime::HasContents(buffer) ? 1 : 0;
    for (size_t i = 0; i < std::min<size_t>(buffer.shape.size(), TG_MAX_RANK); ++i) {
      const std::optional<DimExpr::Range> bounds = BoundsOf(declarations, buffer.shape[i]);
      tensor.info.min_shape[i] = bounds ? bounds->first : 0;
      tensor.info.max_shape[i] = bounds ? bounds->second : INT64_MAX;
    }
    tensors_[role].push_back(std::move(tensor));
  }
  for (std::vector<Tensor>& list : tensors_) {
    for (Tensor& tensor : list) {
      tensor.info.name = tensor.name.c_str();
      tensor.info.text = tensor.text.c_str();
    }
  }
}

absl::StatusOr<size_t> Model::Count(int role) const {
  if (role < TG_INPUT || role > TG_PARAM) return InvalidArgument("there is no role ", role);
  return tensors_[role].size();
}

absl::StatusOr<tg_tensor_info> Model::Info(int role, size_t index) const {
  TG_ASSIGN_OR_RETURN(const size_t count, Count(role));
  if (index >= count) return NotFound("there is no tensor ", index, " of ", count);
  return tensors_[role][index].info;
}

std::string_view Model::SymbolOf(std::string_view name) const {
  const auto symbol = symbols_.find(name);
  return symbol == symbols_.end() ? name : std::string_view(symbol->second);
}

absl::Status Model::SetVariable(std::string_view name, int64_t value) {
  const std::lock_guard lock(mutex_);
  return session_->SetVar(name, value);
}

absl::Status Model::Set(const TensorView& tensor) {
  const std::lock_guard lock(mutex_);
  return SetLocked(tensor, /*lend=*/false);
}

absl::Status Model::SetLocked(const TensorView& tensor, bool lend) {
  TG_RETURN_IF_ERROR(tensor.Check());
  if (tensor.cl_mem != nullptr) {
    const std::string_view symbol = SymbolOf(tensor.name);
    return lend ? session_->Lend(symbol, tensor.type, tensor.shape(), tensor.device())
                : session_->Set(symbol, tensor.type, tensor.shape(), tensor.device());
  }
  const std::span<const std::byte> elements(tensor.data, tensor.bytes);
  if (tensor.type != runtime::ElementType::kBool) {
    const std::string_view symbol = SymbolOf(tensor.name);
    return lend ? session_->Lend(symbol, tensor.type, tensor.shape(), elements)
                : session_->Set(symbol, tensor.type, tensor.shape(), elements);
  }
  // A caller's bool may be any byte.
  TG_ASSIGN_OR_RETURN(const runtime::HostTensor copy, tensor.Copy());
  return session_->Set(SymbolOf(tensor.name), copy);
}

absl::Status Model::Run(const char* graph) {
  const std::lock_guard lock(mutex_);
  return RunLocked(graph);
}

absl::Status Model::RunLocked(const char* graph) {
  TG_RETURN_IF_ERROR(session_->Run(graph == nullptr ? "" : graph));
  if (device_ == nullptr || !is_profiled_) return absl::OkStatus();
  TG_ASSIGN_OR_RETURN(last_graph_, FindGraphName(graph));
  KeepLeast(last_graph_);
  return absl::OkStatus();
}

absl::Status Model::Get(tg_tensor* tensor) {
  const std::lock_guard lock(mutex_);
  return GetLocked(tensor, /*is_there=*/false);
}

absl::Status Model::GetLocked(tg_tensor* out, bool is_there) {
  if (out == nullptr) return InvalidArgument("the pointer to tg_tensor is null");
  tg_tensor tensor;
  TG_RETURN_IF_ERROR(ReadStruct(out, "tg_tensor", tensor));
  if (tensor.name == nullptr) return InvalidArgument("the name of a tensor is null");
  const std::string_view symbol = SymbolOf(tensor.name);
  TG_ASSIGN_OR_RETURN(const runtime::TypeShape form, session_->FormOf(symbol));
  const std::optional<size_t> bytes = runtime::NumBytes(form.type, form.shape);
  if (!bytes || form.shape.size() > TG_MAX_RANK) {
    return Unimplemented("@", tensor.name, ": its rank is ", form.shape.size(), ", above ",
                         TG_MAX_RANK);
  }
  if (tensor.data != nullptr && tensor.cl_mem != nullptr) {
    return InvalidArgument("@", tensor.name, ": both data and cl_mem are given");
  }
  if (tensor.cl_mem != nullptr && !is_there) {
    TG_RETURN_IF_ERROR(session_->GetInto(symbol, runtime::DeviceHandle{tensor.cl_mem}));
  }
  if (tensor.data != nullptr && tensor.bytes < *bytes) {
    return InvalidArgument("@", tensor.name, " is ", runtime::TypeAndShape(form.type, form.shape),
                           ", of ", *bytes, " bytes; the memory for it has ", tensor.bytes);
  }
  if (tensor.data != nullptr) {
    TG_RETURN_IF_ERROR(
        session_->GetInto(symbol, std::span(static_cast<std::byte*>(tensor.data), *bytes)));
  }
  tensor.type = TypeOf(form.type);
  tensor.rank = static_cast<uint32_t>(form.shape.size());
  std::fill(std::begin(tensor.shape), std::end(tensor.shape), 0);
  std::copy(form.shape.begin(), form.shape.end(), tensor.shape);
  tensor.bytes = *bytes;
  return WriteStruct(tensor, "tg_tensor", out);
}

absl::Status Model::Call(const char* graph, std::span<const TensorView> inputs, tg_tensor* outputs,
                         size_t num_outputs) {
  if (num_outputs > 0 && outputs == nullptr) {
    return InvalidArgument("the list of outputs is null");
  }
  const size_t stride = num_outputs > 0 ? outputs->size : 0;
  if (num_outputs > 0) TG_RETURN_IF_ERROR(CheckSize(stride, "tg_tensor"));
  const std::lock_guard lock(mutex_);
  const absl::Status status = CallLocked(graph, inputs, outputs, num_outputs, stride);
  session_->EndLoans();
  return status;
}

absl::Status Model::CallLocked(const char* graph, std::span<const TensorView> inputs,
                               tg_tensor* outputs, size_t num_outputs, size_t stride) {
  const auto output = [&](size_t i) {
    return reinterpret_cast<tg_tensor*>(reinterpret_cast<char*>(outputs) + i * stride);
  };
  for (const TensorView& input : inputs) {
    TG_RETURN_IF_ERROR(SetLocked(input, input.lend || input.cl_mem != nullptr));
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    tg_tensor tensor;
    TG_RETURN_IF_ERROR(ReadStruct(output(i), "tg_tensor", tensor));
    if (tensor.cl_mem != nullptr && tensor.name != nullptr && tensor.data == nullptr) {
      TG_RETURN_IF_ERROR(session_->LendOutput(graph == nullptr ? "" : graph, SymbolOf(tensor.name),
                                              runtime::DeviceHandle{tensor.cl_mem}));
    }
    if (tensor.lend == 0 || tensor.name == nullptr || tensor.data == nullptr) continue;
    session_->LendOutput(graph == nullptr ? "" : graph, SymbolOf(tensor.name),
                         std::span(static_cast<std::byte*>(tensor.data), tensor.bytes));
  }
  TG_RETURN_IF_ERROR(RunLocked(graph));
  for (size_t i = 0; i < num_outputs; ++i) {
    TG_RETURN_IF_ERROR(GetLocked(output(i), /*is_there=*/true));
  }
  return absl::OkStatus();
}

}  // namespace tg::capi
