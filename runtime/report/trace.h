// A trace of a process in the format that Perfetto (ui.perfetto.dev) and chrome://tracing open.
//
// The trace is one JSON object with "traceEvents". Complete events ("ph": "X") are slices with a
// start and a duration in microseconds, counter events ("C") give the memory over time, and
// metadata events ("M") name the process and its rows. Format: "Trace Event Format", the Catapult
// project.
#ifndef TG_RUNTIME_REPORT_TRACE_H_
#define TG_RUNTIME_REPORT_TRACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/spans.h"
#include "runtime/device/launch.h"
#include "runtime/report/run_report.h"

namespace tg::runtime {

class Trace {
 public:
  // The report describes the kernels and the buffers of the runs.
  explicit Trace(const RunReport& report) : report_(&report) {}

  // Adds spans. Those without a row are in the row "host".
  void AddSpans(std::span<const Span> spans);

  // Adds one run, from `start` to `end` in HostNanos. `rows` has the name of a row for each device
  // of the report; its slices are the kernels and copies that run there. `times` are those of the
  // report's kernels; kernels that were not launched have zeros. A device's clock has an arbitrary
  // origin, so its times are shifted: its first command is queued at `start`.
  void AddRun(std::span<const std::string> rows, std::span<const LaunchTimes> times, int64_t start,
              int64_t end);

  std::string ToJson() const;

 private:
  struct Event {
    int row = 0;
    int64_t start = 0, end = 0;  // in HostNanos
    const KernelReport* kernel = nullptr;
    Span span;  // if there is no kernel
  };
  // The memory of temporaries that are live from `time` on.
  struct Memory {
    int64_t time = 0;
    int64_t temporary_bytes = 0;
  };

  int Row(const std::string& name);

  const RunReport* report_;
  std::vector<std::string> rows_;
  std::vector<Event> events_;
  std::vector<Memory> memory_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_TRACE_H_
