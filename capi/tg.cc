// The functions of tg.h: they check arguments and handles, and keep what was wrong.
#include "include/tg/tg.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "capi/calls.h"
#include "capi/input.h"
#include "capi/load.h"
#include "capi/model.h"
#include "capi/opt.h"
#include "capi/structs.h"
#include "capi/task.h"
#include "capi/threads.h"
#include "model/source.h"
#include "runtime/device/device.h"
#include "runtime/devices/devices.h"
#include "tools/driver/listing.h"

namespace {

using tg::InvalidArgument;
using tg::capi::BadHandle;
using tg::capi::IsNull;
using tg::capi::LoadOptions;
using tg::capi::Model;
using tg::capi::Models;
using tg::capi::ReadStruct;
using tg::capi::Return;
using tg::capi::Store;
using tg::capi::StoreText;
using tg::capi::TensorView;
using tg::capi::Texts;
using tg::capi::WriteStruct;
using tg::model::Source;

// Calls f with the model behind a handle.
template <typename F>
tg_status With(tg_model handle, F&& f) {
  const std::shared_ptr<Model> model = Models().Find(handle.id);
  if (model == nullptr) return BadHandle("tg_model");
  return Return(f(*model));
}

absl::Status Open(absl::StatusOr<Source> source, const LoadOptions& options, tg_model* out) {
  if (!source.ok()) return source.status();
  TG_ASSIGN_OR_RETURN(std::shared_ptr<Model> model, Model::Open(*source, options));
  out->id = Models().Add(std::move(model));
  return absl::OkStatus();
}

absl::Status Compile(absl::StatusOr<Source> source, const LoadOptions& options,
                     const char* output) {
  if (!source.ok()) return source.status();
  if (output == nullptr || *output == '\0') return InvalidArgument("no output is given");
  return tg::capi::CompileToFile(*source, options, output);
}

absl::Status Opt(const char* text, size_t bytes, const tg_opt_options* given, tg_text* out) {
  if (out == nullptr) return IsNull("result");
  if (text == nullptr) return IsNull("text");
  tg_opt_options o;
  TG_RETURN_IF_ERROR(ReadStruct(given, "tg_opt_options", o));
  tg::capi::OptOptions options;
  for (const auto& [from, to] :
       {std::pair(o.passes, &options.passes), std::pair(o.emit, &options.emit),
        std::pair(o.format, &options.format), std::pair(o.target, &options.target),
        std::pair(o.path, &options.path)}) {
    if (from != nullptr && *from != '\0') *to = from;
  }
  return StoreText(tg::capi::Optimize({text, bytes}, options), out);
}

absl::Status CallModel(Model& model, const char* graph, const tg_tensor* inputs, size_t num_inputs,
                       tg_tensor* outputs, size_t num_outputs) {
  TG_ASSIGN_OR_RETURN(const std::vector<TensorView> views,
                      tg::capi::ReadTensors(inputs, num_inputs, "inputs"));
  return model.Call(graph, views, outputs, num_outputs);
}

}  // namespace

extern "C" {

uint32_t tg_api_version(void) { return TG_API_VERSION; }

const char* tg_version(void) { return tg::driver::kVersion.data(); }

const char* tg_error(void) { return tg::capi::LastError().c_str(); }

tg_status tg_devices(tg_text* text) {
  if (text == nullptr) return Return(IsNull("text"));
  const auto devices = tg::runtime::ListDevices();
  if (!devices.ok()) return Return(devices.status());
  return Return(StoreText(tg::runtime::DescribeDevices(*devices), text));
}

tg_status tg_set_threads(int32_t threads) { return Return(tg::capi::SetThreads(threads)); }

tg_status tg_text_get(tg_text handle, const char** data, size_t* size) {
  const std::shared_ptr<const std::string> text = Texts().Find(handle.id);
  if (text == nullptr) return BadHandle("tg_text");
  if (data != nullptr) *data = text->c_str();
  if (size != nullptr) *size = text->size();
  return Return(absl::OkStatus());
}

tg_status tg_text_close(tg_text handle) {
  if (Texts().Remove(handle.id) == nullptr) return BadHandle("tg_text");
  return Return(absl::OkStatus());
}

tg_status tg_load(const char* path, const tg_load_options* options, tg_model* model) {
  if (model == nullptr) return Return(IsNull("model"));
  const absl::StatusOr<LoadOptions> read = tg::capi::ReadOptions(options);
  if (!read.ok()) return Return(read.status());
  return Return(Open(tg::capi::OpenSource(path), *read, model));
}

tg_status tg_load_memory(const void* data, size_t bytes, const tg_load_options* options,
                         tg_model* model) {
  if (model == nullptr) return Return(IsNull("model"));
  const absl::StatusOr<LoadOptions> read = tg::capi::ReadOptions(options);
  if (!read.ok()) return Return(read.status());
  return Return(Open(tg::capi::OpenSource(data, bytes, *read), *read, model));
}

tg_status tg_close(tg_model handle) {
  if (Models().Remove(handle.id) == nullptr) return BadHandle("tg_model");
  return Return(absl::OkStatus());
}

tg_status tg_compile(const char* path, const tg_load_options* options, const char* output) {
  const absl::StatusOr<LoadOptions> read = tg::capi::ReadOptions(options);
  if (!read.ok()) return Return(read.status());
  return Return(Compile(tg::capi::OpenSource(path), *read, output));
}

tg_status tg_compile_memory(const void* data, size_t bytes, const tg_load_options* options,
                            const char* output) {
  const absl::StatusOr<LoadOptions> read = tg::capi::ReadOptions(options);
  if (!read.ok()) return Return(read.status());
  return Return(Compile(tg::capi::OpenSource(data, bytes, *read), *read, output));
}

tg_status tg_count(tg_model handle, int32_t role, size_t* count) {
  return With(handle, [&](Model& model) {
    return count == nullptr ? IsNull("count") : Store(model.Count(role), count);
  });
}

tg_status tg_info(tg_model handle, int32_t role, size_t index, tg_tensor_info* info) {
  return With(handle, [&](Model& model) {
    const absl::StatusOr<tg_tensor_info> read = model.Info(role, index);
    return read.ok() ? WriteStruct(*read, "tg_tensor_info", info) : read.status();
  });
}

tg_status tg_count_variables(tg_model handle, size_t* count) {
  return With(handle, [&](Model& model) {
    if (count == nullptr) return IsNull("count");
    *count = model.variables().size();
    return absl::OkStatus();
  });
}

tg_status tg_variable(tg_model handle, size_t index, tg_variable_info* info) {
  return With(handle, [&](Model& model) {
    if (index >= model.variables().size()) {
      return tg::NotFound("there is no variable ", index, " of ", model.variables().size());
    }
    const tg::VarDecl& var = model.variables()[index];
    return WriteStruct(tg_variable_info{0, var.name.c_str(), var.min, var.max}, "tg_variable_info",
                       info);
  });
}

tg_status tg_set_variable(tg_model handle, const char* name, int64_t value) {
  return With(handle, [&](Model& model) {
    return name == nullptr ? IsNull("name") : model.SetVariable(name, value);
  });
}

tg_status tg_count_graphs(tg_model handle, size_t* count) {
  return With(handle, [&](Model& model) {
    if (count == nullptr) return IsNull("count");
    *count = model.graphs().size();
    return absl::OkStatus();
  });
}

tg_status tg_graph(tg_model handle, size_t index, const char** name) {
  return With(handle, [&](Model& model) {
    if (name == nullptr) return IsNull("name");
    if (index >= model.graphs().size()) {
      return tg::NotFound("there is no graph ", index, " of ", model.graphs().size());
    }
    *name = model.graphs()[index].c_str();
    return absl::OkStatus();
  });
}

tg_status tg_set(tg_model handle, const tg_tensor* tensor) {
  return With(handle, [&](Model& model) {
    const absl::StatusOr<std::vector<TensorView>> views =
        tg::capi::ReadTensors(tensor, 1, "tensors");
    return views.ok() ? model.Set((*views)[0]) : views.status();
  });
}

tg_status tg_run(tg_model handle, const char* graph) {
  return With(handle, [&](Model& model) { return model.Run(graph); });
}

tg_status tg_get(tg_model handle, tg_tensor* tensor) {
  return With(handle, [&](Model& model) { return model.Get(tensor); });
}

tg_status tg_call(tg_model handle, const char* graph, const tg_tensor* inputs, size_t num_inputs,
                  tg_tensor* outputs, size_t num_outputs) {
  return With(handle, [&](Model& model) {
    return CallModel(model, graph, inputs, num_inputs, outputs, num_outputs);
  });
}

tg_status tg_call_async(tg_model handle, const char* graph, const tg_tensor* inputs,
                        size_t num_inputs, tg_tensor* outputs, size_t num_outputs, tg_task* task) {
  const std::shared_ptr<Model> model = Models().Find(handle.id);
  if (model == nullptr) return BadHandle("tg_model");
  if (task == nullptr) return Return(IsNull("task"));
  absl::StatusOr<std::shared_ptr<tg::capi::Task>> started =
      tg::capi::Task::Start([=, name = std::string(graph == nullptr ? "" : graph)] {
        return CallModel(*model, name.c_str(), inputs, num_inputs, outputs, num_outputs);
      });
  if (!started.ok()) return Return(started.status());
  task->id = tg::capi::Tasks().Add(*std::move(started));
  return Return(absl::OkStatus());
}

tg_status tg_wait(tg_task handle) {
  const std::shared_ptr<tg::capi::Task> task = tg::capi::Tasks().Remove(handle.id);
  if (task == nullptr) return BadHandle("tg_task");
  return Return(task->Wait());
}

tg_status tg_count_kernels(tg_model handle, const char* graph, size_t* count) {
  return With(handle, [&](Model& model) {
    return count == nullptr ? IsNull("count") : Store(model.CountKernels(graph), count);
  });
}

tg_status tg_kernel(tg_model handle, const char* graph, size_t index, tg_kernel_info* info) {
  return With(handle, [&](Model& model) {
    const absl::StatusOr<tg_kernel_info> read = model.KernelAt(graph, index);
    return read.ok() ? WriteStruct(*read, "tg_kernel_info", info) : read.status();
  });
}

tg_status tg_report(tg_model handle, int32_t form, tg_text* text) {
  return With(handle, [&](Model& model) {
    return text == nullptr ? IsNull("text") : StoreText(model.Report(form), text);
  });
}

tg_status tg_opt(const char* text, size_t bytes, const tg_opt_options* options, tg_text* result) {
  return Return(Opt(text, bytes, options, result));
}

}  // extern "C"
