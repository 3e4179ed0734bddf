// RunReport: what a run of a graph did, as numbers for people and for programs.
//
// Fields() lists the members of each struct with their names in JSON. Writing, reading and
// comparing reports follow from it. Times are in seconds, sizes in bytes, rates in units per
// second.
#ifndef TG_RUNTIME_REPORT_RUN_REPORT_H_
#define TG_RUNTIME_REPORT_RUN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

struct DeviceReport {
  std::string name, driver;
  std::string target;                                 // the name of its target
  double flops_per_second = 0, bytes_per_second = 0;  // the target's, as cost models use them

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("name", self.name);
    f("driver", self.driver);
    f("target", self.target);
    f("flops_per_second", self.flops_per_second);
    f("bytes_per_second", self.bytes_per_second);
  }
};

// A step of the whole process: reading the model, the passes, building kernels, running.
struct StageReport {
  std::string name;
  int64_t count = 0;
  double seconds = 0;  // of all

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("name", self.name);
    f("count", self.count);
    f("seconds", self.seconds);
  }
};

struct BufferReport {
  std::string name, type;  // "f32[1, 3, 224, 224]"
  std::string role;        // "input", "output", "param", "state", "temp"
  std::string device;      // in the module; empty: the default device
  int64_t bytes = 0;
  int64_t first = 0, last = 0;    // the first and the last kernel that uses it
  std::optional<int64_t> offset;  // temporaries: in the arena, if one device has all of them

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("name", self.name);
    f("type", self.type);
    f("role", self.role);
    f("device", self.device);
    f("bytes", self.bytes);
    f("first", self.first);
    f("last", self.last);
    f("offset", self.offset);
  }
};

// A buffer that a kernel reads or writes, by its number in the report.
struct UseReport {
  int64_t buffer = 0;
  bool reads = false, writes = false;

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("buffer", self.buffer);
    f("reads", self.reads);
    f("writes", self.writes);
  }
};

// A launch of a kernel, or a copy between devices.
struct KernelReport {
  std::string name;  // "copy" for a copy
  bool is_copy = false;
  int64_t device = 0;  // its number in the report; the receiver of a copy
  std::vector<int64_t> global, local;
  std::vector<std::string> made_of;
  std::vector<std::string> nodes;    // of an imported model, the one with the most work first
  std::vector<std::string> tensors;  // that it stores, by their names in the model
  std::string schedule;
  std::optional<bool> depends_on_input;  // unset for a copy
  std::vector<UseReport> uses;
  double ops = 0;                          // arithmetic operations
  double load_bytes = 0, store_bytes = 0;  // accesses, including repeated ones
  double touched_bytes = 0;                // of its buffers, or of its accesses if that is less
  std::optional<double> seconds;           // the least of all runs
  std::optional<double> compile_seconds;   // if the kernel was compiled alone, in this process
  std::optional<double> share;             // of the time of all kernels
  std::optional<double> flops, bandwidth;  // ops and touched_bytes per second
  double limit_seconds = 0;                // the least time that the target's rates allow
  std::string limited_by;                  // "compute" or "memory": the rate that gives it
  std::optional<double> limit_share;       // limit_seconds / seconds
  std::optional<int64_t> source;           // its number in the report
  int64_t source_lines = 0;

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("name", self.name);
    f("is_copy", self.is_copy);
    f("device", self.device);
    f("global", self.global);
    f("local", self.local);
    f("made_of", self.made_of);
    f("nodes", self.nodes);
    f("tensors", self.tensors);
    f("schedule", self.schedule);
    f("depends_on_input", self.depends_on_input);
    f("uses", self.uses);
    f("ops", self.ops);
    f("load_bytes", self.load_bytes);
    f("store_bytes", self.store_bytes);
    f("touched_bytes", self.touched_bytes);
    f("seconds", self.seconds);
    f("compile_seconds", self.compile_seconds);
    f("share", self.share);
    f("flops", self.flops);
    f("bandwidth", self.bandwidth);
    f("limit_seconds", self.limit_seconds);
    f("limited_by", self.limited_by);
    f("limit_share", self.limit_share);
    f("source", self.source);
    f("source_lines", self.source_lines);
  }
};

struct MemoryReport {
  int64_t stored_bytes = 0;             // inputs, outputs, params and states
  int64_t temporary_bytes = 0;          // blocks of temporaries
  int64_t separate_bytes = 0;           // temporaries, if none shared memory
  int64_t live_bytes = 0;               // the most that is live at one kernel
  int64_t peak_bytes = 0;               // of all that was allocated on devices
  std::vector<int64_t> live_by_kernel;  // temporaries

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("stored_bytes", self.stored_bytes);
    f("temporary_bytes", self.temporary_bytes);
    f("separate_bytes", self.separate_bytes);
    f("live_bytes", self.live_bytes);
    f("peak_bytes", self.peak_bytes);
    f("live_by_kernel", self.live_by_kernel);
  }
};

struct TotalsReport {
  int64_t kernels = 0, copies = 0;
  int64_t sources = 0, source_lines = 0;  // of different kernels
  double ops = 0, touched_bytes = 0;
  double device_seconds = 0;  // the sum over kernels and copies
  double run_seconds = 0;     // the fastest run, from the first command to the end of the last
  double other_seconds = 0;   // of run_seconds: beyond kernels and copies
  double limit_seconds = 0;

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("kernels", self.kernels);
    f("copies", self.copies);
    f("sources", self.sources);
    f("source_lines", self.source_lines);
    f("ops", self.ops);
    f("touched_bytes", self.touched_bytes);
    f("device_seconds", self.device_seconds);
    f("run_seconds", self.run_seconds);
    f("other_seconds", self.other_seconds);
    f("limit_seconds", self.limit_seconds);
  }
};

// Tells a report from other JSON, and its version.
inline constexpr int64_t kReportVersion = 2;

struct RunReport {
  int64_t tg_report = kReportVersion;
  std::string tool, model, module, graph;
  std::vector<DeviceReport> devices;
  bool built_from_cache = false;
  int64_t init_kernels = 0;  // kernels of @init, which ran once before; not among `kernels`
  std::vector<StageReport> stages;
  std::vector<double> runs;  // seconds of each run
  TotalsReport totals;
  MemoryReport memory;
  std::vector<KernelReport> kernels;  // in launch order
  std::vector<BufferReport> buffers;
  std::vector<std::string> sources;  // OpenCL C; equal ones once

  template <typename Self, typename F>
  static void Fields(Self& self, F&& f) {
    f("tg_report", self.tg_report);
    f("tool", self.tool);
    f("model", self.model);
    f("module", self.module);
    f("graph", self.graph);
    f("devices", self.devices);
    f("built_from_cache", self.built_from_cache);
    f("init_kernels", self.init_kernels);
    f("stages", self.stages);
    f("runs", self.runs);
    f("totals", self.totals);
    f("memory", self.memory);
    f("kernels", self.kernels);
    f("buffers", self.buffers);
    f("sources", self.sources);
  }
};

// Sets rates, shares, limits and totals, which follow from the other fields.
void Summarize(RunReport& report);

// Text that is not UTF-8 gets replacement characters.
std::string ReportToJson(const RunReport& report);

// InvalidArgument if the text is no report; the message says why, and names the field.
absl::StatusOr<RunReport> ReportFromJson(std::string_view text);

// Returns an HTML page that contains the report and loads nothing from a network. If the page would
// be too long, it leaves out the sources of the kernels with the least time.
std::string ReportToHtml(const RunReport& report);

// Returns a table that compares two reports. Kernels correspond if they are in a longest common
// subsequence of the two lists of kernel names; between these, if they are in one of the lists of
// the kernels' operations.
std::string CompareReports(std::string_view name_a, const RunReport& a, std::string_view name_b,
                           const RunReport& b);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_RUN_REPORT_H_
