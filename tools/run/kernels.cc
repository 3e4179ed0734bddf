// --check=kernels: each kernel against the interpreter.
#include <filesystem>
#include <set>
#include <utility>

#include "base/status.h"
#include "codegen/opencl/renderer.h"
#include "codegen/renderer.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/pass_manager.h"
#include "runtime/kernel_check/reproduction.h"
#include "tools/run/model_run.h"
#include "tools/run/progress.h"
#include "tools/run/shell.h"

namespace tg::run {

using kernel_check::Finding;

namespace {

// The source without the kernel's name, which depends on the names of others.
std::string WithoutName(std::string source, const std::string& name) {
  for (size_t at = source.find(name); at != std::string::npos; at = source.find(name, at)) {
    source.erase(at, name.size());
  }
  return source;
}

}  // namespace

void ModelRun::CheckKernelsOf(const Module& compiled, runtime::DeviceSessionOptions& options) {
  kernel_check::CheckOptions check;
  const auto progress = std::make_shared<CompileProgress>("checking", "kernels");
  check.progress = [progress](size_t done, size_t total) {
    if (done == total) {
      progress->Clear();
    } else {
      progress->Show(done, total);
    }
  };
  checker_ = std::make_unique<kernel_check::KernelChecker>(*unscheduled_, compiled, check);
  options.observer = checker_.get();
}

absl::Status ModelRun::ReportKernelCheck(const absl::Status& ran) {
  if (checker_->finding()) {
    TG_RETURN_IF_ERROR(ReportFinding(*checker_->finding()));
    return ran;
  }
  TG_RETURN_IF_ERROR(ran);
  llvm::outs() << checker_->Summary();
  return absl::OkStatus();
}

bool ModelRun::HasSameSource(const Finding& finding, std::unique_ptr<Module> module) const {
  const codegen::RenderedKernel& kernel = finding.compiled->code;
  for (size_t d = 0; d < device_->devices().size(); ++d) {
    if (device_->devices()[d]->context().get() != finding.device) continue;
    passes::PassManagerOptions options;
    options.target = &targets_[d];
    if (!passes::PassManager(pipeline_, options).Run(*module).ok()) return false;
    const auto rendered = opencl::RenderModule(*module, targets_[d]);
    if (!rendered.ok() || rendered->kernels.empty()) return false;
    return WithoutName(rendered->kernels[0].source, rendered->kernels[0].name) ==
           WithoutName(kernel.source, kernel.name);
  }
  return false;
}

absl::Status ModelRun::ReportFinding(const Finding& finding) const {
  const std::string stem = std::filesystem::path(path_).stem().string();
  const std::string path = Cat(stem.empty() ? "module" : stem, "-kernel-", finding.step + 1);
  llvm::outs() << checker_->Summary();
  if (finding.compiled == nullptr) return absl::OkStatus();
  llvm::outs() << "the source of @" << finding.compiled->name << ", which differs:\n"
               << finding.compiled->code.source << "\n";
  const Module& compiled = device_->module();
  const absl::StatusOr<kernel_check::Reproduction> written =
      kernel_check::WriteReproduction(finding, *unscheduled_, compiled, path);
  if (!written.ok()) {
    llvm::outs() << "it is not written as a module: " << std::string(written.status().message())
                 << "\n";
    return absl::OkStatus();
  }
  std::string command = "tg-run --check=kernels";
  for (const std::string& device : flags_.device_texts)
    command += " " + ShellQuoted("--device=" + device);
  if (!flags_.target.empty()) command += " " + ShellQuoted("--target=" + flags_.target);
  if (flags_.pass != "default") command += " " + ShellQuoted("--pass=" + flags_.pass);
  if (!flags_.schedule.empty()) command += " " + ShellQuoted("--schedule=" + flags_.schedule);
  for (const std::string& argument : written->arguments) command += " " + ShellQuoted(argument);
  llvm::outs() << "written as a module with its inputs: " << written->files[0] << " and "
               << written->files[1] << "; run it by\n  " << command << "\n";
  if (!HasSameSource(finding,
                     kernel_check::MakeReproduction(finding, *unscheduled_, compiled, ""))) {
    llvm::outs() << "note: alone, the kernel is compiled to another source\n";
  }
  return absl::OkStatus();
}

}  // namespace tg::run
