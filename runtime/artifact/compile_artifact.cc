#include "runtime/artifact/compile_artifact.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/artifact/fold_init.h"
#include "runtime/artifact/open_artifact.h"
#include "runtime/artifact/write_artifact.h"
#include "runtime/cpu/native_program.h"
#include "runtime/io/file.h"
#include "runtime/opencl/cl_context.h"
#include "runtime/opencl/cl_program.h"
#include "runtime/plan/init_constants.h"
#include "runtime/session/device_kernels.h"
#include "runtime/session/make_executable.h"
#include "runtime/session/params.h"

namespace tg::artifact {
namespace {

using runtime::CompiledKernel;
using runtime::Context;
using runtime::DeviceCode;
using runtime::Executable;
using runtime::ProgramSource;
using runtime::ScheduledGraph;
using runtime::ScheduledKernel;

// Compiles the kernels of one device, and keeps the code.
absl::Status AddCode(const std::shared_ptr<Context>& context, const runtime::BuildOptions& options,
                     bool native_source, DeviceCode& code) {
  if (context->info().is_native) {
    std::vector<cpu::NativeKernel> kernels;
    for (const CompiledKernel& k : code.kernels) kernels.push_back({&k.code, k.object});
    TG_ASSIGN_OR_RETURN(std::vector<std::string> objects,
                        cpu::CompileNative(kernels, options.cache, options.spans));
    for (size_t i = 0; i < objects.size(); ++i) {
      code.kernels[i].object = std::move(objects[i]);
      if (!native_source) code.kernels[i].code.source.clear();
    }
    return absl::OkStatus();
  }
  // The programs have the kernels' sources.
  for (CompiledKernel& k : code.kernels) k.code.source.clear();
  const auto cl = std::static_pointer_cast<runtime::OpenClContext>(context);
  runtime::DiskCache* cache = runtime::CachingPays(context->info()) ? options.cache : nullptr;
  for (ProgramSource& program : code.programs) {
    TG_ASSIGN_OR_RETURN(
        const auto built,
        runtime::BuildProgram(cl, program.source,
                              runtime::CompilerOptions(context->info(), options), cache));
    program.binary = runtime::BinaryOf(*built);
  }
  return absl::OkStatus();
}

// Drops kernels that no graph runs. Their functions stay in the programs.
void DropUnusedKernels(Executable& executable) {
  std::set<int> used;
  for (const ScheduledGraph& graph : executable.graphs) {
    for (const ScheduledKernel& step : graph.steps) used.insert(step.kernel);
  }
  for (DeviceCode& device : executable.devices) {
    std::vector<CompiledKernel> remaining;
    std::map<size_t, size_t> numbers;
    for (size_t i = 0; i < device.kernels.size(); ++i) {
      if (!used.contains(device.kernels[i].kernel)) continue;
      numbers[i] = remaining.size();
      remaining.push_back(std::move(device.kernels[i]));
    }
    device.kernels = std::move(remaining);
    for (ProgramSource& program : device.programs) {
      std::vector<size_t> members;
      for (const size_t k : program.kernels) {
        if (const auto number = numbers.find(k); number != numbers.end()) {
          members.push_back(number->second);
        }
      }
      program.kernels = std::move(members);
    }
    std::erase_if(device.programs, [](const ProgramSource& p) { return p.kernels.empty(); });
  }
}

class Compiler {
 public:
  Compiler(const Module& module, const runtime::DeviceSessionOptions& options)
      : module_(module), options_(options) {
    contexts_.push_back(options.context);
    for (const runtime::NamedDevice& other : options.others) contexts_.push_back(other.context);
  }

  absl::StatusOr<Artifact> Compile(const ArtifactSettings& settings, const std::string& path) {
    Artifact out;
    out.tool = settings.tool;
    out.model = settings.model;
    out.attachments = settings.attachments;
    Executable& e = out.executable;
    TG_ASSIGN_OR_RETURN(e, runtime::MakeExecutable(module_, options_));
    for (const ScheduledGraph& graph : e.graphs) TG_RETURN_IF_ERROR(graph.problem);
    for (size_t d = 0; d < contexts_.size(); ++d) {
      out.made_for.push_back(MadeForDevice(*contexts_[d], options_));
      TG_RETURN_IF_ERROR(AddCode(contexts_[d], options_, settings.native_source, e.devices[d]));
    }
    const ScheduledGraph* init = FindGraph(e, kInitGraph);
    const bool runs_others = e.graphs.size() > 1;
    if (init != nullptr && runs_others && runtime::IsInitKnown(e, *init)) {
      TG_RETURN_IF_ERROR(RunInit(e));
    }
    DropUnusedKernels(e);
    std::set<int> used;
    for (const ScheduledGraph& graph : e.graphs) {
      used.insert(graph.buffers.begin(), graph.buffers.end());
    }
    for (const int b : used) {
      const BufferDecl& decl = e.buffers[static_cast<size_t>(b)];
      if (computed_.contains(b) || runtime::HasContents(decl))
        out.contents.push_back({.buffer = b});
    }
    if (settings.external_weights) TG_RETURN_IF_ERROR(LeaveWeights(path, out));
    return out;
  }

  ReadContents Reader() {
    return [this, reader = std::make_shared<runtime::ParamReader>(module_)](
               int buffer) -> absl::StatusOr<std::span<const std::byte>> {
      const auto computed = computed_.find(buffer);
      if (computed != computed_.end()) return std::span<const std::byte>(computed->second.data);
      return reader->Read(module_.buffers[static_cast<size_t>(buffer)]);
    };
  }

 private:
  // Names the files of the contents that are there as the kernels need them.
  absl::Status LeaveWeights(const std::string& path, Artifact& out) const {
    runtime::ParamReader reader(module_);
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    for (Contents& c : out.contents) {
      if (computed_.contains(c.buffer)) continue;
      TG_ASSIGN_OR_RETURN(const auto place,
                          reader.Find(module_.buffers[static_cast<size_t>(c.buffer)]));
      if (!place) continue;
      TG_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::MappedFile::Open(place->path));
      const std::string name =
          std::filesystem::absolute(place->path).lexically_proximate(folder).string();
      auto known = std::find_if(out.files.begin(), out.files.end(),
                                [&](const WeightsFile& f) { return f.path == name; });
      if (known == out.files.end()) {
        known = out.files.insert(known, {name, file.bytes().size(), file.modified()});
      }
      c.file = static_cast<uint32_t>(known - out.files.begin()) + 1;
      c.offset = place->offset;
    }
    return absl::OkStatus();
  }

  // Replaces @init, or a part of it, by its results.
  absl::Status RunInit(Executable& e) {
    const Module& module = module_;
    TG_ASSIGN_OR_RETURN(
        const std::unique_ptr<runtime::DeviceSession> session,
        runtime::DeviceSession::Create(
            std::make_unique<const Executable>(e), contexts_,
            [&module] { return std::make_unique<runtime::ParamReader>(module); }, options_));
    TG_RETURN_IF_ERROR(session->Run(kInitGraph));
    for (const int b : FoldInit(e)) {
      TG_ASSIGN_OR_RETURN(computed_[b], session->Get(e.buffers[static_cast<size_t>(b)].name));
    }
    return absl::OkStatus();
  }

  const Module& module_;
  const runtime::DeviceSessionOptions& options_;
  std::vector<std::shared_ptr<Context>> contexts_;
  std::map<int, runtime::HostTensor> computed_;  // by buffer
};

}  // namespace

absl::Status CompileArtifact(std::unique_ptr<Module> module,
                             const runtime::DeviceSessionOptions& options,
                             const ArtifactSettings& settings, const std::string& path) {
  Compiler compiler(*module, options);
  TG_ASSIGN_OR_RETURN(Artifact artifact, compiler.Compile(settings, path));
  PackTexts(artifact);
  return WriteArtifact(path, std::move(artifact), compiler.Reader());
}

}  // namespace tg::artifact
