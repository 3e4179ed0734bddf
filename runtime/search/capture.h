// The contents that a kernel's buffers have in a run, as a module of that kernel alone.
#ifndef TG_RUNTIME_SEARCH_CAPTURE_H_
#define TG_RUNTIME_SEARCH_CAPTURE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/kernel_check/reproduction.h"
#include "runtime/search/reuse.h"
#include "runtime/session/device_session.h"

namespace tg::search {

struct CapturedKernel : kernel_check::Reproduction {
  std::vector<BufferReuse> reuse;  // of its buffers
};

// Watches runs of a session, and writes the module of one kernel before its first call.
class Capture final : public runtime::StepObserver {
 public:
  // `unscheduled`: the module before its kernels were scheduled; `compiled`: the session's. Both
  // outlive the object.
  Capture(const Module& unscheduled, const Module& compiled)
      : unscheduled_(unscheduled), compiled_(compiled) {}

  // The next run writes this kernel to PATH.uop and PATH.bin.
  void Want(size_t kernel, const std::string& path);
  // What it has written; NotFound if it did not run the kernel.
  absl::StatusOr<CapturedKernel> Take();

  absl::Status BeforeStep(const runtime::ScheduledGraph& graph, const runtime::Plan& plan,
                          size_t step) override;
  absl::Status AfterStep(const runtime::ScheduledGraph&, const runtime::Plan&, size_t) override {
    return absl::OkStatus();
  }

 private:
  const Module& unscheduled_;
  const Module& compiled_;
  size_t kernel_ = 0;
  std::string path_;  // empty: nothing is wanted
  absl::StatusOr<CapturedKernel> written_ = absl::NotFoundError("nothing is captured");
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_CAPTURE_H_
