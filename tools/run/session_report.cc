#include "tools/run/session_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "runtime/plan/temporaries.h"
#include "runtime/report/kernel_table.h"
#include "runtime/session/tensors.h"
#include "tools/driver/listing.h"

namespace tg::run {
namespace {

using runtime::BufferReport;
using runtime::DeviceKernels;
using runtime::DeviceSession;
using runtime::KernelReport;
using runtime::Lifetime;
using runtime::PlannedKernel;
using runtime::RunReport;
using runtime::ScheduledKernel;

int64_t Signed(size_t n) { return static_cast<int64_t>(n); }

// Adds what the graph's kernels use, and the numbers of its buffers in the report.
absl::StatusOr<std::map<int, int64_t>> AddBuffers(const Declarations& module,
                                                  std::span<const ScheduledKernel> schedule,
                                                  RunReport& report) {
  TG_ASSIGN_OR_RETURN(auto lives, runtime::StoredBuffers(module, schedule));
  for (const auto& [buffer, life] : lives) report.memory.stored_bytes += Signed(life.bytes);
  TG_ASSIGN_OR_RETURN(const auto by_device, runtime::PlanTemporaries(module, schedule));
  std::map<int, int64_t> offsets;  // of temporaries, if one device has all of them
  for (const auto& [device, temporaries] : by_device) {
    const runtime::MemoryPlan& plan = temporaries.plan;
    report.memory.temporary_bytes += Signed(plan.planned_bytes);
    report.memory.separate_bytes += Signed(plan.separate_bytes);
    report.memory.live_bytes += Signed(plan.live_bytes);
    std::vector<int64_t> begins = {0};  // by arena
    for (const size_t bytes : plan.arena_bytes) begins.push_back(begins.back() + Signed(bytes));
    for (size_t i = 0; i < temporaries.buffers.size(); ++i) {
      lives[temporaries.buffers[i]] = temporaries.lives[i];
      if (by_device.size() > 1) continue;
      const runtime::MemoryPlan::Place& place = plan.places[i];
      offsets[temporaries.buffers[i]] = begins[place.arena] + Signed(place.offset);
    }
  }
  std::map<int, int64_t> numbers;
  for (const auto& [buffer, life] : lives) {
    const BufferDecl& decl = module.buffers[static_cast<size_t>(buffer)];
    numbers[buffer] = Signed(report.buffers.size());
    BufferReport& added = report.buffers.emplace_back();
    added.name = decl.name;
    added.type = runtime::DeclaredType(decl);
    added.role = RoleName(decl.role);
    added.device = decl.device;
    added.bytes = Signed(life.bytes);
    added.first = life.first;
    added.last = life.last;
    if (const auto at = offsets.find(buffer); at != offsets.end()) added.offset = at->second;
  }
  return numbers;
}

// The buffers behind the parameters of a kernel, each once.
std::vector<runtime::UseReport> UsesOf(const codegen::RenderedKernel& rendered,
                                       const ScheduledKernel& item,
                                       const std::map<int, int64_t>& numbers) {
  std::vector<runtime::UseReport> uses;
  for (const codegen::KernelParam& param : rendered.params) {
    if (param.is_var) continue;
    const int64_t number = numbers.at(item.buffers[static_cast<size_t>(param.slot)].buffer);
    const auto same = std::find_if(uses.begin(), uses.end(),
                                   [&](const auto& use) { return use.buffer == number; });
    runtime::UseReport& use = same == uses.end() ? uses.emplace_back() : *same;
    use.buffer = number;
    use.reads |= param.reads;
    use.writes |= param.writes;
  }
  return uses;
}

class KernelReports {
 public:
  KernelReports(const DeviceSession& session, const std::map<int, int64_t>& numbers,
                const runtime::SpanLog& spans, RunReport& report)
      : session_(session), numbers_(numbers), report_(report) {
    compile_seconds_ = CompileSeconds(spans);
  }

  void Add(const ScheduledKernel& item, const PlannedKernel& planned, double seconds) {
    KernelReport& kernel = report_.kernels.emplace_back();
    while (kernel.device + 1 < Signed(session_.devices().size()) &&
           DeviceOf(kernel).context().get() != planned.context) {
      ++kernel.device;
    }
    for (size_t d = 0; d < 3; ++d) {
      kernel.global.push_back(Signed(planned.range.global[d]));
      kernel.local.push_back(Signed(planned.range.local[d]));
    }
    if (!planned.empty) {
      kernel.ops = planned.work.ops;
      kernel.load_bytes = planned.work.load_bytes;
      kernel.store_bytes = planned.work.store_bytes;
      kernel.touched_bytes = runtime::TouchedBytes(planned);
      if (seconds > 0) kernel.seconds = seconds;
    }
    if (item.is_copy()) {
      kernel.name = "copy";
      kernel.is_copy = true;
      kernel.uses = {{numbers_.at(item.buffers[0].buffer), false, true},
                     {numbers_.at(item.buffers[1].buffer), true, false}};
      return;
    }
    kernel.name = planned.kernel->name;
    kernel.made_of = planned.kernel->metadata;
    if (planned.trips != 1) {
      kernel.made_of.insert(kernel.made_of.begin(), Cat(planned.trips, " times"));
    }
    kernel.nodes = planned.nodes;
    kernel.tensors = planned.tensors;
    if (const auto compiled = compile_seconds_.find(kernel.name);
        compiled != compile_seconds_.end()) {
      kernel.compile_seconds = compiled->second;
    }
    kernel.depends_on_input = planned.depends_on_input;
    kernel.schedule = planned.kernel->schedule;
    const codegen::RenderedKernel& rendered = planned.kernel->code;
    kernel.uses = UsesOf(rendered, item, numbers_);
    const auto [source, is_new] =
        sources_.try_emplace(rendered.source, Signed(report_.sources.size()));
    if (is_new) report_.sources.push_back(rendered.source);
    kernel.source = source->second;
    kernel.source_lines = std::count(rendered.source.begin(), rendered.source.end(), '\n');
  }

 private:
  const DeviceKernels& DeviceOf(const KernelReport& kernel) const {
    return *session_.devices()[static_cast<size_t>(kernel.device)];
  }

  const DeviceSession& session_;
  const std::map<int, int64_t>& numbers_;  // of buffers, by index in the module
  RunReport& report_;
  std::map<std::string, double> compile_seconds_;  // by kernel
  std::map<std::string_view, int64_t> sources_;    // numbers in the report
};

}  // namespace

std::map<std::string, double> CompileSeconds(const runtime::SpanLog& spans) {
  std::map<std::string, double> seconds;
  for (const runtime::Span& span : spans) {
    if (!span.row.empty() && span.name != "parse") seconds[span.name] += span.seconds();
  }
  return seconds;
}

absl::StatusOr<RunReport> ReportOf(const DeviceSession& session, const std::string& graph_name,
                                   const runtime::RunTimes& times, const std::vector<double>& runs,
                                   const runtime::SpanLog& spans) {
  const runtime::Executable& module = session.executable();
  const runtime::ScheduledGraph& graph = *FindGraph(module, graph_name);
  RunReport report;
  report.tool = Cat("tg-run ", driver::kVersion);
  report.module = module.name;
  report.graph = graph.name;
  for (const auto& device : session.devices()) {
    const runtime::DeviceInfo& info = device->context()->info();
    const runtime::DeviceCode& code = device->code();
    report.devices.push_back({info.name, Cat(info.platform, " ", info.driver_version), code.target,
                              code.flops_per_second, code.bytes_per_second});
  }
  report.built_from_cache = session.built_from_cache();
  for (const runtime::SpanSum& sum : runtime::SumByName(spans)) {
    report.stages.push_back({sum.name, sum.count, sum.seconds});
  }
  if (const runtime::Plan* init = session.init_plan();
      init != nullptr && graph.name != kInitGraph) {
    const std::span<const PlannedKernel> steps = init->kernels();
    report.init_kernels = std::count_if(steps.begin(), steps.end(),
                                        [](const PlannedKernel& k) { return k.kernel != nullptr; });
  }
  report.runs = runs;
  report.totals.run_seconds = times.seconds();
  const std::vector<ScheduledKernel>& schedule = graph.steps;
  TG_ASSIGN_OR_RETURN(const auto numbers, AddBuffers(module, schedule, report));
  report.memory.peak_bytes = Signed(session.memory().peak_total_bytes);
  const std::span<const PlannedKernel> planned = session.last_plan()->kernels();
  KernelReports kernels(session, numbers, spans, report);
  for (size_t i = 0; i < schedule.size(); ++i) {
    kernels.Add(schedule[i], planned[i], i < times.kernels.size() ? times.kernels[i].seconds() : 0);
  }
  Summarize(report);
  return report;
}

}  // namespace tg::run
