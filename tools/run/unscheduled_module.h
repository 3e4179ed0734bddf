// The kernels of a module as they are before they are scheduled: what the device's kernels are
// compared with.
#ifndef TG_TOOLS_RUN_UNSCHEDULED_MODULE_H_
#define TG_TOOLS_RUN_UNSCHEDULED_MODULE_H_

#include <memory>
#include <utility>

#include "passes/lower/lower.h"
#include "passes/pass_manager.h"
#include "passes/schedule/schedule.h"

namespace tg {

class UnscheduledModule final : public PassObserver {
 public:
  // `next` is called after it, unless it is null.
  explicit UnscheduledModule(PassObserver* next) : next_(next) {}

  absl::Status BeforePass(const PassRun& run, const Module& module) override {
    const Pass* pass = run.step().pass;
    if (module_ == nullptr && (pass == &kSchedulePass || pass == &kLowerPass)) {
      module_ = Clone(module);
    }
    return next_ != nullptr ? next_->BeforePass(run, module) : absl::OkStatus();
  }
  absl::Status AfterPass(const PassRun& run, const Module& module) override {
    return next_ != nullptr ? next_->AfterPass(run, module) : absl::OkStatus();
  }

  // The module before the first pass that schedules or lowers; a copy of `compiled` if the pipeline
  // has none.
  std::unique_ptr<Module> Take(const Module& compiled) {
    return module_ != nullptr ? std::move(module_) : Clone(compiled);
  }

 private:
  PassObserver* next_;
  std::unique_ptr<Module> module_;
};

}  // namespace tg

#endif  // TG_TOOLS_RUN_UNSCHEDULED_MODULE_H_
