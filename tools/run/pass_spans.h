// The spans of passes, for a trace.
#ifndef TG_TOOLS_RUN_PASS_SPANS_H_
#define TG_TOOLS_RUN_PASS_SPANS_H_

#include "passes/pass_manager.h"
#include "runtime/base/spans.h"

namespace tg::run {

// Adds a span for each pass with the verification of its result, as a detail. `next` is called
// after it, unless it is null.
class PassSpans final : public passes::PassObserver {
 public:
  PassSpans(runtime::SpanLog& log, passes::PassObserver* next) : log_(log), next_(next) {}

  absl::Status BeforePass(const passes::PassRun& run, const Module& module) override {
    if (next_ != nullptr) {
      if (absl::Status status = next_->BeforePass(run, module); !status.ok()) return status;
    }
    start_ = runtime::HostNanos();
    return absl::OkStatus();
  }
  absl::Status AfterPass(const passes::PassRun& run, const Module& module) override {
    log_.push_back({.name = passes::PrintStep(run.step()),
                    .start = start_,
                    .end = runtime::HostNanos(),
                    .is_detail = true});
    return next_ != nullptr ? next_->AfterPass(run, module) : absl::OkStatus();
  }

 private:
  runtime::SpanLog& log_;
  passes::PassObserver* next_;
  int64_t start_ = 0;
};

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_PASS_SPANS_H_
