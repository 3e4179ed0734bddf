// The memory of a step, and steps that compute values again so as to need less.
#ifndef TG_TOOLS_TRAIN_MEMORY_BUDGET_H_
#define TG_TOOLS_TRAIN_MEMORY_BUDGET_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/session/open.h"
#include "tools/train/step.h"

namespace tg::train {

// The bytes of all buffers that a step needs at once on the devices of `open`: inputs, weights,
// states, and temporaries, which share memory.
absl::StatusOr<int64_t> BytesOfStep(const Module& training, const runtime::OpenOptions& open);

// The result of `make` for the fewest segments that are computed again, among those tried, whose
// step needs at most `budget` bytes. `log` gets a line about it. InvalidArgument if none needs so
// little; it says what they need.
absl::StatusOr<TrainingModule> MakeWithinBudget(
    int64_t budget, const runtime::OpenOptions& open,
    const std::function<absl::StatusOr<TrainingModule>(const Checkpoints&)>& make,
    const std::function<void(const std::string&)>& log);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_MEMORY_BUDGET_H_
