// Reports about a run: kernels, times, sources, traces.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>

#include "base/status.h"
#include "ir/text/printer.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/write_file.h"
#include "runtime/report/kernel_table.h"
#include "runtime/report/run_report.h"
#include "runtime/report/trace.h"
#include "tools/run/model_run.h"
#include "tools/run/session_report.h"

namespace tg::run {

using runtime::FormatSeconds;

namespace {

constexpr size_t kSlowestNodes = 20, kSlowestCompiles = 10;
constexpr int kTable = 2, kSchedules = 3, kSources = 4, kForms = 5;

}  // namespace

absl::Status ModelRun::DumpKernels() const {
  for (size_t d = 0; d < device_->devices().size(); ++d) {
    // Kernels of different devices may have the same name.
    const std::string folder =
        d == 0 ? flags_.dump_kernels : Cat(flags_.dump_kernels, "/device", d);
    TG_RETURN_IF_ERROR(instrument::MakeFolder(folder));
    const bool native = device_->devices()[d]->context()->info().is_native;
    for (const runtime::CompiledKernel& compiled : device_->devices()[d]->kernels()) {
      const codegen::RenderedKernel& kernel = compiled.code;
      std::string file = kernel.name + (native ? ".ll" : ".cl");
      std::replace(file.begin(), file.end(), '/', '_');
      TG_RETURN_IF_ERROR(instrument::WriteFile(folder + "/" + file, kernel.source));
    }
  }
  return absl::OkStatus();
}

void ModelRun::ReportKernels() const {
  const runtime::Plan& plan = *device_->last_plan();
  if (flags_.verbose >= kSchedules) {
    const std::map<std::string, double> compile_seconds = CompileSeconds(spans_);
    for (size_t d = 0; d < device_->devices().size(); ++d) {
      for (const runtime::CompiledKernel& kernel : device_->devices()[d]->kernels()) {
        llvm::outs() << (color_ ? kernel.colored_name : kernel.name) << "  " << kernel.schedule;
        if (const auto compiled = compile_seconds.find(kernel.name);
            compiled != compile_seconds.end()) {
          llvm::outs() << "; compiled in " << FormatSeconds(compiled->second);
        }
        llvm::outs() << "\n";
        if (flags_.verbose >= kForms && !is_artifact_) {
          const auto& linear = device_->module(d).kernels[static_cast<size_t>(kernel.kernel)];
          llvm::outs() << PrintKernel(*linear);
        }
        if (flags_.verbose >= kSources) llvm::outs() << kernel.code.source << "\n";
      }
    }
  }
  if (flags_.verbose >= kTable) {
    const bool slowest_first = flags_.sort == "time";
    llvm::outs() << runtime::KernelTable(plan.kernels(), least_.kernels, color_, slowest_first)
                 << runtime::NodeTables(plan.kernels(), least_.kernels,
                                        slowest_first ? kSlowestNodes : 0);
  }
  const runtime::Plan* init = device_->init_plan();
  if (flags_.verbose >= kTable && init && init != &plan) {
    llvm::outs() << "run once:\n" << runtime::KernelTable(init->kernels(), {}, color_);
  }
  llvm::outs() << runtime::RunSummary(plan.kernels(), least_.kernels, least_.seconds()) << "\n"
               << runtime::DependenceSummary(plan.kernels(),
                                             init && init != &plan
                                                 ? init->kernels()
                                                 : std::span<const runtime::PlannedKernel>())
               << "\n";
  if (specializer_) {
    const specialize::SpecializeStats stats = specializer_->stats();
    llvm::outs() << stats.general_runs << " runs by the plan for all sizes, "
                 << stats.specialized_runs << " by plans for one size";
    if (!specializer_->last_size().empty()) {
      llvm::outs() << "; the last, and this table, for " << specializer_->last_size();
    }
    if (stats.compile_seconds > 0) {
      llvm::outs() << "; compiled in " << FormatSeconds(stats.compile_seconds);
    }
    if (stats.failed > 0) llvm::outs() << "; not specialized: " << stats.last_error;
    llvm::outs() << "\n";
  }
  llvm::outs() << "each kernel was timed, which costs time: without --verbose, --profile and "
                  "--report a run may be shorter\n";
  if (flags_.verbose < kSchedules) return;
  ReportCompileTimes();
  llvm::outs() << PredictionTable();
  const runtime::MemoryBytes& memory = plan.temporaries();
  const runtime::BufferPoolStats pool = device_->memory();
  const auto bytes = [](size_t n) { return runtime::FormatBytes(static_cast<double>(n)); };
  llvm::outs() << "temporaries take " << bytes(memory.planned_bytes) << "; "
               << bytes(memory.separate_bytes) << " without sharing, " << bytes(memory.live_bytes)
               << " at least; all buffers " << bytes(pool.peak_total_bytes) << "\n";
  for (const auto& [name, count, seconds] : runtime::SumByName(spans_)) {
    llvm::outs() << "  " << FormatSeconds(seconds) << "  " << name
                 << (name == "build" && device_->built_from_cache() ? " (cached)" : "") << "\n";
  }
}

void ModelRun::ReportCompileTimes() const {
  std::vector<std::pair<double, std::string>> slowest;
  for (const auto& [name, seconds] : CompileSeconds(spans_)) slowest.emplace_back(seconds, name);
  if (slowest.empty()) return;
  std::sort(slowest.begin(), slowest.end(), std::greater<>());
  llvm::outs() << "compiled " << slowest.size() << (slowest.size() == 1 ? " kernel" : " kernels")
               << "; the slowest:\n";
  for (size_t i = 0; i < std::min(slowest.size(), kSlowestCompiles); ++i) {
    llvm::outs() << "  " << FormatSeconds(slowest[i].first) << "  " << slowest[i].second << "\n";
  }
}

void ModelRun::Report() const {
  const std::vector<double>& seconds = run_seconds_;
  if (device_ && flags_.verbose >= 1) ReportKernels();
  if (!device_ && flags_.verbose >= 1) {
    llvm::outs() << "interpreted in " << FormatSeconds(seconds.back()) << "\n";
  }
  if (seconds.size() < 2) return;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const double mean =
      std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  llvm::outs() << sorted.size() << " runs: least " << FormatSeconds(sorted.front()) << ", median "
               << FormatSeconds(sorted[sorted.size() / 2]) << ", mean " << FormatSeconds(mean)
               << ", most " << FormatSeconds(sorted.back()) << "\n";
  if (enqueue_seconds_.empty()) return;
  std::vector<double> enqueued = enqueue_seconds_;
  std::sort(enqueued.begin(), enqueued.end());
  llvm::outs() << "until all was enqueued: least " << FormatSeconds(enqueued.front()) << ", median "
               << FormatSeconds(enqueued[enqueued.size() / 2]) << "\n";
}

absl::StatusOr<runtime::RunReport> ModelRun::MakeReport() const {
  TG_ASSIGN_OR_RETURN(runtime::RunReport report,
                      ReportOf(*device_, graph_->name, least_, run_seconds_, spans_));
  report.model = std::filesystem::path(path_).filename().string();
  return report;
}

absl::Status ModelRun::WriteTrace(const runtime::RunReport& report) const {
  runtime::Trace trace(report);
  trace.AddSpans(spans_);
  std::vector<std::string> rows;
  for (const auto& device : device_->devices()) {
    const std::string& name = device->context()->name();
    const bool several = device_->devices().size() > 1;
    rows.push_back(several ? Cat(name, " '", device->names()[0], "'") : name);
  }
  for (const runtime::RunTimes& times : runs_) {
    trace.AddRun(rows, times.kernels, times.start, times.end);
  }
  return instrument::WriteFile(flags_.profile, trace.ToJson());
}

absl::Status ModelRun::WriteReports(const runtime::RunReport& report) const {
  for (const std::string& file : flags_.reports) {
    TG_RETURN_IF_ERROR(instrument::WriteFile(file, file.ends_with(".json")
                                                       ? runtime::ReportToJson(report)
                                                       : runtime::ReportToHtml(report)));
  }
  return absl::OkStatus();
}

}  // namespace tg::run
