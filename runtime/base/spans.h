// Named time intervals of the host's work, for traces and summaries.
#ifndef TG_RUNTIME_BASE_SPANS_H_
#define TG_RUNTIME_BASE_SPANS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tg::runtime {

// Returns the time of the host's monotonic clock in nanoseconds.
inline int64_t HostNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Span {
  std::string name;
  int64_t start = 0, end = 0;  // in HostNanos
  // Part of another span. A trace shows it; sums leave it out.
  bool is_detail = false;
  std::string row = {};     // in a trace; empty: that of this process
  std::string buffer = {};  // whose contents are moved, if any
  int64_t bytes = 0;        // of the moved contents
  double seconds() const { return static_cast<double>(end - start) * 1e-9; }
};

using SpanLog = std::vector<Span>;

// The spans of one name.
struct SpanSum {
  std::string name;
  int64_t count = 0;
  double seconds = 0;
};

// Leaves out details. In the order of the first span of each name.
inline std::vector<SpanSum> SumByName(const SpanLog& spans) {
  std::vector<SpanSum> sums;
  for (const Span& span : spans) {
    if (span.is_detail) continue;
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const SpanSum& s) { return s.name == span.name; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {span.name, 0, 0});
    ++sum->count;
    sum->seconds += span.seconds();
  }
  return sums;
}

// Adds a span from the object's construction to its destruction. If `log` is null, nothing is
// recorded.
class ScopedSpan {
 public:
  ScopedSpan(SpanLog* log, std::string name) : ScopedSpan(log, Span{.name = std::move(name)}) {}
  // Sets the start and the end of `span`.
  ScopedSpan(SpanLog* log, Span span) : log_(log), span_(std::move(span)) {
    span_.start = HostNanos();
  }
  ~ScopedSpan() {
    if (log_ == nullptr) return;
    span_.end = HostNanos();
    log_->push_back(std::move(span_));
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

 private:
  SpanLog* log_;
  Span span_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_BASE_SPANS_H_
