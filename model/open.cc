#include "model/open.h"

#include <utility>

#include "base/status.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/artifact/compile_artifact.h"

namespace tg::model {
namespace {

bool GivesSizes(const onnx::OnnxImportOptions& onnx) {
  return !(onnx.sizes.empty() && onnx.max_sizes.empty() && onnx.input_shapes.empty() &&
           onnx.input_values.empty());
}

absl::StatusOr<OpenModel> OpenCompiled(const Source& source, const OpenOptions& options) {
  if (GivesSizes(options.read.onnx)) {
    return InvalidArgument(source.path, " is compiled; sizes need the model");
  }
  TG_ASSIGN_OR_RETURN(artifact::ArtifactFile file,
                      artifact::ArtifactFile::Read(source.mapped, source.bytes(), source.path));
  OpenModel open;
  TG_ASSIGN_OR_RETURN(std::unique_ptr<runtime::DeviceSession> session,
                      runtime::OpenDeviceSession(std::move(file), options));
  open.declarations = session->executable();
  for (const runtime::ScheduledGraph& graph : session->executable().graphs) {
    if (graph.name != kInitGraph) open.graphs.push_back(graph.name);
  }
  open.device = session.get();
  open.session = std::move(session);
  return open;
}

}  // namespace

bool IsCompiled(const Source& source, std::string_view format) {
  return format == "tgx" || (format == "auto" && artifact::IsArtifact(source.bytes(), source.path));
}

absl::StatusOr<OpenModel> Open(const Source& source, const OpenOptions& options) {
  if (IsCompiled(source, options.read.format)) return OpenCompiled(source, options);
  TG_ASSIGN_OR_RETURN(ReadModel read, Read(source, options.read));
  OpenModel open;
  open.declarations = *read.module;
  for (const auto& graph : read.module->graphs) {
    if (graph->name != kInitGraph) open.graphs.push_back(graph->name);
  }
  open.names = std::move(read.names);
  const bool is_reference = options.devices.plain == "reference";
  TG_ASSIGN_OR_RETURN(open.session, runtime::OpenSession(std::move(read.module), options));
  if (!is_reference) open.device = static_cast<runtime::DeviceSession*>(open.session.get());
  return open;
}

absl::StatusOr<std::unique_ptr<runtime::Session>> OpenSession(const std::string& path,
                                                              const OpenOptions& options) {
  TG_ASSIGN_OR_RETURN(const Source source, Source::File(path));
  TG_ASSIGN_OR_RETURN(OpenModel open, Open(source, options));
  return std::move(open.session);
}

absl::StatusOr<std::unique_ptr<runtime::Session>> OpenSession(const std::string& path,
                                                              std::string_view device) {
  return OpenSession(path, OpenOptions(device));
}

absl::Status Compile(const Source& source, const OpenOptions& options, const std::string& tool,
                     const std::string& output) {
  if (IsCompiled(source, options.read.format)) {
    return InvalidArgument(source.path, " is compiled already");
  }
  if (options.devices.plain == "reference") {
    return InvalidArgument("the interpreter runs models as they are; a device is needed");
  }
  TG_ASSIGN_OR_RETURN(ReadModel read, Read(source, options.read));
  TG_ASSIGN_OR_RETURN(const runtime::DeviceSessionOptions devices,
                      runtime::CompileModule(*read.module, options));
  return artifact::CompileArtifact(std::move(read.module), devices, {tool, source.file_name()},
                                   output);
}

}  // namespace tg::model
