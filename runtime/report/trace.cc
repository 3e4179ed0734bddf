#include "runtime/report/trace.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::runtime {
namespace {

using Json = llvm::json::OStream;

constexpr int64_t kProcess = 1;

// A time in microseconds, with the digits of its nanoseconds and no others: viewers would cut off a
// rounding error, and let slices overlap by a nanosecond.
void WriteMicros(Json& json, const char* key, int64_t nanos) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanos / 1000),
                static_cast<int>(nanos % 1000));
  json.attributeBegin(key);
  json.rawValue(text);
  json.attributeEnd();
}

template <typename Value>
void WriteMetadata(Json& json, int row, const char* what, const char* key, const Value& value) {
  json.object([&] {
    json.attribute("name", what);
    json.attribute("ph", "M");
    json.attribute("pid", kProcess);
    json.attribute("tid", row);
    json.attributeObject("args", [&] { json.attribute(key, value); });
  });
}

void WriteSpanArgs(Json& json, const Span& span) {
  if (span.buffer.empty()) return;
  json.attributeObject("args", [&] {
    json.attribute("buffer", Cat("@", span.buffer));
    json.attribute("bytes", span.bytes);
  });
}

void WriteKernelArgs(Json& json, const KernelReport& kernel, const RunReport& report) {
  const auto sizes = [&](const char* key, const std::vector<int64_t>& values) {
    json.attributeArray(key, [&] {
      for (const int64_t v : values) json.value(v);
    });
  };
  const auto buffers = [&](const char* key, bool UseReport::*is_used) {
    json.attributeArray(key, [&] {
      for (const UseReport& use : kernel.uses) {
        if (!(use.*is_used)) continue;
        const BufferReport& buffer = report.buffers[static_cast<size_t>(use.buffer)];
        json.value(Cat("@", buffer.name, " ", buffer.type));
      }
    });
  };
  json.attributeObject("args", [&] {
    json.attribute("number", &kernel - report.kernels.data() + 1);
    if (!kernel.is_copy) {
      sizes("global", kernel.global);
      sizes("local", kernel.local);
      json.attribute("ops", kernel.ops);
    }
    json.attribute("load_bytes", kernel.load_bytes);
    json.attribute("store_bytes", kernel.store_bytes);
    json.attribute("touched_bytes", kernel.touched_bytes);
    buffers("reads", &UseReport::reads);
    buffers("writes", &UseReport::writes);
    const auto texts = [&](const char* key, const std::vector<std::string>& list) {
      if (list.empty()) return;
      json.attributeArray(key, [&] {
        for (const std::string& text : list) json.value(text);
      });
    };
    texts("made_of", kernel.made_of);
    texts("nodes", kernel.nodes);
    texts("tensors", kernel.tensors);
    if (!kernel.schedule.empty()) json.attribute("schedule", kernel.schedule);
  });
}

const char* CategoryOf(const Span& span) {
  if (!span.buffer.empty()) return "transfer";
  return span.row.empty() ? "host" : "compile";
}

}  // namespace

int Trace::Row(const std::string& name) {
  const auto found = std::find(rows_.begin(), rows_.end(), name);
  const auto row = static_cast<int>(found - rows_.begin());
  if (found == rows_.end()) rows_.push_back(name);
  return row + 1;
}

void Trace::AddSpans(std::span<const Span> spans) {
  std::set<std::pair<size_t, std::string>> names;  // "compiler 2" before "compiler 10"
  for (const Span& span : spans) names.emplace(span.row.size(), span.row);
  for (const auto& [size, name] : names) Row(name.empty() ? "host" : name);
  for (const Span& span : spans) {
    const int row = Row(span.row.empty() ? "host" : span.row);
    events_.push_back({row, span.start, span.end, nullptr, span});
  }
}

void Trace::AddRun(std::span<const std::string> rows, std::span<const LaunchTimes> times,
                   int64_t start, int64_t end) {
  const size_t count = std::min(report_->kernels.size(), times.size());
  std::vector<uint64_t> origins(rows.size(), UINT64_MAX);  // by device, on its clock
  const auto device = [&](size_t i) { return static_cast<size_t>(report_->kernels[i].device); };
  for (size_t i = 0; i < count; ++i) {
    if (times[i].queued == 0) continue;
    origins[device(i)] = std::min(origins[device(i)], times[i].queued);
  }
  for (size_t i = 0; i < count; ++i) {
    if (times[i].ended == 0) continue;
    const auto from = static_cast<int64_t>(times[i].started - origins[device(i)]) + start;
    const auto length = static_cast<int64_t>(times[i].ended - times[i].started);
    events_.push_back({Row(rows[device(i)]), from, from + length, &report_->kernels[i], {}});
    memory_.push_back({from, report_->memory.live_by_kernel[i]});
    end = std::max(end, from + length);
  }
  memory_.push_back({end, 0});
}

std::string Trace::ToJson() const {
  // An outer slice comes before an inner one that starts at the same time.
  std::vector<const Event*> events;
  for (const Event& event : events_) events.push_back(&event);
  std::stable_sort(events.begin(), events.end(), [](const Event* a, const Event* b) {
    return std::tuple(a->row, a->start, -a->end) < std::tuple(b->row, b->start, -b->end);
  });
  std::vector<Memory> memory = memory_;
  std::stable_sort(memory.begin(), memory.end(),
                   [](const Memory& a, const Memory& b) { return a.time < b.time; });
  int64_t origin = INT64_MAX;
  for (const Event* event : events) origin = std::min(origin, event->start);

  std::string text;
  llvm::raw_string_ostream stream(text);
  Json json(stream, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      WriteMetadata(json, 0, "process_name", "name", Cat(report_->tool, " ", report_->model));
      for (int row = 1; row <= static_cast<int>(rows_.size()); ++row) {
        WriteMetadata(json, row, "thread_name", "name", rows_[static_cast<size_t>(row) - 1]);
        WriteMetadata(json, row, "thread_sort_index", "sort_index", row);
      }
      for (const Event* event : events) {
        const KernelReport* kernel = event->kernel;
        json.object([&] {
          json.attribute("name", kernel ? kernel->name : event->span.name);
          json.attribute("cat", !kernel           ? CategoryOf(event->span)
                                : kernel->is_copy ? "transfer"
                                                  : "kernel");
          json.attribute("ph", "X");
          json.attribute("pid", kProcess);
          json.attribute("tid", event->row);
          WriteMicros(json, "ts", event->start - origin);
          WriteMicros(json, "dur", event->end - event->start);
          kernel ? WriteKernelArgs(json, *kernel, *report_) : WriteSpanArgs(json, event->span);
        });
      }
      for (const Memory& at : memory) {
        json.object([&] {
          json.attribute("name", "memory");
          json.attribute("ph", "C");
          json.attribute("pid", kProcess);
          WriteMicros(json, "ts", at.time - origin);
          json.attributeObject("args", [&] {
            json.attribute("inputs, outputs, params, states", report_->memory.stored_bytes);
            json.attribute("temporaries", at.temporary_bytes);
          });
        });
      }
    });
  });
  stream.flush();
  return text + "\n";
}

}  // namespace tg::runtime
