// A trace of a run in the format that Perfetto (ui.perfetto.dev) and chrome://tracing open.
//
// The trace is one JSON object with "traceEvents": complete events ("ph": "X") with start and
// duration in microseconds, and metadata events that name the rows. Format: "Trace Event Format",
// the Catapult project.
#ifndef TG_RUNTIME_REPORT_TRACE_H_
#define TG_RUNTIME_REPORT_TRACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/spans.h"
#include "runtime/opencl/launch.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

class Trace {
 public:
  // Adds a row "host" with the host's spans.
  void AddHost(std::span<const Span> spans);

  // Adds a row `device` with the kernels and copies of one run that run on `context`. A device's
  // clock has an arbitrary origin, so its times are shifted: the first kernel is queued at the
  // host's start time of the run.
  void AddKernels(const std::string& device, const Context* context,
                  std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                  int64_t run_start);

  std::string ToJson() const;

 private:
  struct Event {
    std::string name;
    int row = 0;
    int64_t start = 0, end = 0;  // in HostNanos
    const PlannedKernel* kernel = nullptr;
  };
  int Row(const std::string& name);

  std::vector<std::string> rows_;
  std::vector<Event> events_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_TRACE_H_
