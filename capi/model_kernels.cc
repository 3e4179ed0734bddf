// What was compiled, and how long it took.
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "capi/model.h"
#include "runtime/base/spans.h"
#include "runtime/report/kernel_table.h"
#include "runtime/report/run_report.h"
#include "tools/driver/listing.h"
#include "tools/run/session_report.h"

namespace tg::capi {

using runtime::DeviceCode;
using runtime::Executable;
using runtime::ScheduledGraph;
using runtime::ScheduledKernel;

void Model::ListKernels() {
  const Executable& executable = device_->executable();
  for (const ScheduledGraph& graph : executable.graphs) {
    std::vector<Launch>& launches = launches_[graph.name];
    for (const ScheduledKernel& step : graph.steps) {
      Launch& launch = launches.emplace_back();
      launch.info = {};
      launch.info.name = launch.info.source = launch.info.schedule = "";
      launch.info.is_copy = step.is_copy() ? 1 : 0;
      launch.info.depends_on_input = step.depends_on_input ? 1 : 0;
      launch.info.seconds = -1;
      size_t device = 0;
      if (!step.buffers.empty()) {
        const BufferDecl& first = executable.buffers[static_cast<size_t>(step.buffers[0].buffer)];
        for (size_t d = 0; d < executable.devices.size(); ++d) {
          const std::vector<std::string>& names = executable.devices[d].names;
          if (std::find(names.begin(), names.end(), first.device) != names.end()) device = d;
        }
      }
      launch.info.device = device_->devices()[device]->context()->name().c_str();
      if (step.is_copy()) {
        launch.info.name = "copy";
        continue;
      }
      for (const runtime::CompiledKernel& kernel : executable.devices[device].kernels) {
        if (kernel.kernel != step.kernel) continue;
        launch.info.name = kernel.name.c_str();
        launch.info.source = kernel.code.source.c_str();
        launch.info.schedule = kernel.schedule.c_str();
        launch.what = absl::StrJoin(kernel.metadata, ", ");
      }
    }
  }
  for (auto& [graph, launches] : launches_) {
    for (Launch& launch : launches) launch.info.what = launch.what.c_str();
  }
}

absl::StatusOr<std::string> Model::FindGraphName(const char* graph) const {
  if (device_ == nullptr) {
    return absl::FailedPreconditionError("the interpreter has no kernels and no times");
  }
  const Executable& executable = device_->executable();
  std::vector<std::string_view> names;
  for (const ScheduledGraph& g : executable.graphs) names.push_back(g.name);
  TG_ASSIGN_OR_RETURN(const size_t index, runtime::FindGraphToRun(executable.name, names,
                                                                  graph == nullptr ? "" : graph));
  return executable.graphs[index].name;
}

absl::StatusOr<size_t> Model::CountKernels(const char* graph) {
  const std::lock_guard lock(mutex_);
  TG_ASSIGN_OR_RETURN(const std::string name, FindGraphName(graph));
  return launches_.at(name).size();
}

absl::StatusOr<tg_kernel_info> Model::KernelAt(const char* graph, size_t index) {
  const std::lock_guard lock(mutex_);
  TG_ASSIGN_OR_RETURN(const std::string name, FindGraphName(graph));
  const std::vector<Launch>& launches = launches_.at(name);
  if (index >= launches.size()) {
    return NotFound("there is no kernel ", index, " of ", launches.size());
  }
  tg_kernel_info info = launches[index].info;
  const auto least = least_.find(name);
  if (least != least_.end() && index < least->second.kernels.size()) {
    info.seconds = least->second.kernels[index].seconds();
  }
  return info;
}

void Model::KeepLeast(const std::string& graph) {
  const runtime::RunTimes& times = device_->last_times();
  run_seconds_[graph].push_back(times.seconds());
  const auto [entry, is_first] = least_.try_emplace(graph, times);
  if (is_first) return;
  runtime::RunTimes& least = entry->second;
  if (times.seconds() < least.seconds()) {
    least.start = times.start;
    least.end = times.end;
  }
  for (size_t i = 0; i < std::min(least.kernels.size(), times.kernels.size()); ++i) {
    if (times.kernels[i].seconds() < least.kernels[i].seconds()) {
      least.kernels[i] = times.kernels[i];
    }
  }
}

absl::StatusOr<std::string> Model::Report(int form) {
  if (form < TG_REPORT_TABLE || form > TG_REPORT_HTML) {
    return InvalidArgument("there is no form ", form, " of a report");
  }
  const std::lock_guard lock(mutex_);
  if (device_ == nullptr) {
    return absl::FailedPreconditionError("the interpreter has no kernels and no times");
  }
  if (!is_profiled_) {
    return absl::FailedPreconditionError("the model was not opened with profile, which times it");
  }
  if (last_graph_.empty()) return absl::FailedPreconditionError("the model has not run");
  const runtime::RunTimes& least = least_.at(last_graph_);
  if (form == TG_REPORT_TABLE) {
    const std::span<const runtime::PlannedKernel> kernels = device_->last_plan()->kernels();
    return runtime::KernelTable(kernels, least.kernels, /*color=*/false) +
           runtime::RunSummary(kernels, least.kernels, least.seconds()) + "\n";
  }
  TG_ASSIGN_OR_RETURN(runtime::RunReport report,
                      run::ReportOf(*device_, last_graph_, least, run_seconds_.at(last_graph_),
                                    runtime::SpanLog()));
  report.tool = Cat("libtg ", driver::kVersion);
  report.model = file_name_;
  return form == TG_REPORT_JSON ? runtime::ReportToJson(report) : runtime::ReportToHtml(report);
}

}  // namespace tg::capi
