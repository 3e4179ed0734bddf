// Compiles the model of an input for the devices that its options name.
#ifndef TG_CAPI_COMPILE_H_
#define TG_CAPI_COMPILE_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "capi/input.h"
#include "ir/module.h"
#include "passes/pipeline_text.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/session/device_session_options.h"

namespace tg::capi {

// The cache of compiled kernels that all models of the process share; null if it has no folder.
runtime::DiskCache* ProcessCache();

// The default pipeline, with the pass for halves if the options ask for it.
absl::StatusOr<passes::Pipeline> PipelineFor(const LoadOptions& options);

// Opens the devices and runs the pipeline on the module.
absl::Status CompileModule(Module& module, const LoadOptions& options,
                           const passes::Pipeline& pipeline,
                           runtime::DeviceSessionOptions& devices);

// Writes a .tgx file.
absl::Status CompileToFile(const Input& input, const LoadOptions& options,
                           const std::string& output);

}  // namespace tg::capi

#endif  // TG_CAPI_COMPILE_H_
