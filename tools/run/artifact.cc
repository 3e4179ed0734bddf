// Compiled models (.tgx).
#include <utility>

#include "base/status.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/run/model_run.h"

namespace tg::run {

using runtime::ScopedSpan;

absl::Status ModelRun::ReadArtifact(const std::string& path) {
  const ScopedSpan span(&spans_, "read");
  for (const auto& [flag, given] :
       {std::pair("--pass", flags_.pass != "default"),
        std::pair("--schedule", !flags_.schedule.empty()),
        std::pair("--schedules", !flags_.schedules.empty()),
        std::pair("--search", flags_.search.has_value()),
        std::pair("--target", !flags_.target.empty()), std::pair("--float16", flags_.float16),
        std::pair("--max", !flags_.max_sizes.empty()),
        std::pair("--max-kernels", flags_.gates.max_kernels.has_value()),
        std::pair("--max-memory", flags_.gates.max_memory_bytes.has_value()),
        std::pair("--check", flags_.check || flags_.check_kernels),
        std::pair("--device=reference", flags_.devices.plain == "reference")}) {
    if (given) return InvalidArgument(flag, " needs the model; ", path, " is compiled");
  }
  path_ = path;
  TG_ASSIGN_OR_RETURN(artifact_, artifact::ArtifactFile::Open(path));
  const runtime::Executable& executable = artifact_->artifact().executable;
  module_ = std::make_unique<Module>();
  static_cast<Declarations&>(*module_) = executable;
  for (const runtime::ScheduledGraph& graph : executable.graphs) {
    runtime::GraphNeeds& needs = graphs_.emplace_back();
    needs.name = graph.name;
    for (const int b : graph.buffers) {
      needs.needs.buffers.push_back(&module_->buffers[static_cast<size_t>(b)]);
    }
    for (const int v : graph.vars) {
      needs.needs.vars.push_back(&module_->vars[static_cast<size_t>(v)]);
    }
  }
  for (const auto& [name, value] : flags_.vars) vars_[SymbolOf(name)] = value;
  return FindGraph();
}

absl::Status ModelRun::UnpackAllSources() {
  artifact::Artifact& artifact = artifact_->artifact();
  for (size_t d = 0; d < artifact.executable.devices.size(); ++d) {
    if (const absl::Status status = UnpackSources(artifact, d); !status.ok()) {
      return InvalidArgument(path_, ": ", std::string(status.message()));
    }
    for (const runtime::CompiledKernel& kernel : artifact.executable.devices[d].kernels) {
      if (kernel.code.source.empty()) {
        return InvalidArgument("--dump-kernels: ", path_, " has no source of its kernels");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ModelRun::OpenArtifact() {
  if (!flags_.dump_kernels.empty()) TG_RETURN_IF_ERROR(UnpackAllSources());
  runtime::OpenOptions options = OpenOptionsOf(/*is_observed=*/false);
  options.verify = flags_.verify;
  options.note = [](const std::string& text) { llvm::errs() << "tg-run: " << text << "\n"; };
  TG_ASSIGN_OR_RETURN(std::unique_ptr<runtime::DeviceSession> session,
                      runtime::OpenDeviceSession(*std::move(artifact_), options));
  artifact_.reset();
  device_ = session.get();
  session_ = std::move(session);
  return absl::OkStatus();
}

}  // namespace tg::run
