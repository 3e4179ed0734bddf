#include "runtime/report/trace.h"

#include <algorithm>

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::runtime {
namespace {

constexpr int64_t kProcess = 1;

void WriteRowName(llvm::json::OStream& json, int row, const std::string& name) {
  json.object([&] {
    json.attribute("name", "thread_name");
    json.attribute("ph", "M");
    json.attribute("pid", kProcess);
    json.attribute("tid", row);
    json.attributeObject("args", [&] { json.attribute("name", name); });
  });
}

void WriteKernelArgs(llvm::json::OStream& json, const PlannedKernel& kernel) {
  const auto sizes = [&](const char* key, const std::array<size_t, 3>& values) {
    json.attributeArray(key, [&] {
      for (const size_t v : values) json.value(static_cast<int64_t>(v));
    });
  };
  json.attributeObject("args", [&] {
    sizes("global", kernel.range.global);
    sizes("local", kernel.range.local);
    json.attribute("ops", kernel.work.ops);
    json.attribute("load_bytes", kernel.work.load_bytes);
    json.attribute("store_bytes", kernel.work.store_bytes);
    json.attribute("buffer_bytes", static_cast<int64_t>(kernel.buffer_bytes));
  });
}

}  // namespace

int Trace::Row(const std::string& name) {
  const auto found = std::find(rows_.begin(), rows_.end(), name);
  const auto row = static_cast<int>(found - rows_.begin());
  if (found == rows_.end()) rows_.push_back(name);
  return row + 1;
}

void Trace::AddHost(std::span<const Span> spans) {
  const int row = Row("host");
  for (const Span& span : spans) events_.push_back({span.name, row, span.start, span.end, nullptr});
}

void Trace::AddKernels(const std::string& device, const Context* context,
                       std::span<const PlannedKernel> kernels, std::span<const LaunchTimes> times,
                       int64_t run_start) {
  const int row = Row(device);
  uint64_t origin = UINT64_MAX;
  const size_t count = std::min(kernels.size(), times.size());
  for (size_t i = 0; i < count; ++i) {
    if (kernels[i].context != context || times[i].queued == 0) continue;
    origin = std::min(origin, times[i].queued);
  }
  for (size_t i = 0; i < count; ++i) {
    if (kernels[i].empty || kernels[i].context != context) continue;
    const auto start = static_cast<int64_t>(times[i].started - origin) + run_start;
    const auto length = static_cast<int64_t>(times[i].ended - times[i].started);
    const std::string name = kernels[i].kernel ? kernels[i].kernel->name : "copy";
    events_.push_back({name, row, start, start + length, &kernels[i]});
  }
}

std::string Trace::ToJson() const {
  int64_t origin = INT64_MAX;
  for (const Event& event : events_) origin = std::min(origin, event.start);
  const auto micros = [](int64_t nanos) { return static_cast<double>(nanos) * 1e-3; };
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      for (size_t i = 0; i < rows_.size(); ++i) {
        WriteRowName(json, static_cast<int>(i) + 1, rows_[i]);
      }
      for (const Event& event : events_) {
        json.object([&] {
          json.attribute("name", event.name);
          json.attribute("cat", event.kernel ? "kernel" : "host");
          json.attribute("ph", "X");
          json.attribute("pid", kProcess);
          json.attribute("tid", event.row);
          json.attribute("ts", micros(event.start - origin));
          json.attribute("dur", micros(event.end - event.start));
          if (event.kernel) WriteKernelArgs(json, *event.kernel);
        });
      }
    });
  });
  stream.flush();
  return text + "\n";
}

}  // namespace tg::runtime
