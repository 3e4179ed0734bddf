#include "tools/train/memory_budget.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "passes/kernelize/kernelize.h"
#include "passes/pipeline_text.h"
#include "runtime/plan/launch_order.h"
#include "runtime/plan/temporaries.h"

namespace tg::train {
namespace {

// Segments of the forward computation, at most.
constexpr size_t kMaxSegments = 64;

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

struct Attempt {
  TrainingModule training;
  int64_t bytes = 0;
};

}  // namespace

absl::StatusOr<int64_t> BytesOfStep(const Module& training, const runtime::OpenOptions& open) {
  const std::unique_ptr<Module> copy = Clone(training);
  std::erase_if(copy->graphs, [](const auto& graph) { return graph->name == kEvalGraph; });
  runtime::OpenOptions options = open;
  const passes::Pass* const kernelize = &kernelize::kKernelizePass;
  options.pipeline = passes::MakePipeline(std::span(&kernelize, 1));
  TG_RETURN_IF_ERROR(runtime::CompileModule(*copy, options).status());
  TG_ASSIGN_OR_RETURN(const std::vector<runtime::ScheduledGraph> graphs,
                      runtime::ScheduleRun(*copy, *copy->FindGraph(kTrainGraph)));
  TG_ASSIGN_OR_RETURN(const auto memory, runtime::MemoryOf(*copy, runtime::AddressesOf(graphs)));
  size_t bytes = 0;
  for (const auto& [device, use] : memory) bytes += use.stored_bytes + use.temporary_bytes;
  return static_cast<int64_t>(bytes);
}

absl::StatusOr<TrainingModule> MakeWithinBudget(
    int64_t budget, const runtime::OpenOptions& open,
    const std::function<absl::StatusOr<TrainingModule>(const Checkpoints&)>& make,
    const std::function<void(const std::string&)>& log) {
  const auto attempt = [&](const Checkpoints& checkpoints) -> absl::StatusOr<Attempt> {
    Attempt result;
    TG_ASSIGN_OR_RETURN(result.training, make(checkpoints));
    TG_ASSIGN_OR_RETURN(result.bytes, BytesOfStep(*result.training.module, open));
    return result;
  };
  TG_ASSIGN_OR_RETURN(Attempt plain, attempt({}));
  const int64_t whole = plain.bytes;
  if (whole <= budget) return std::move(plain.training);
  int64_t least = whole;
  for (size_t segments = 4; segments <= kMaxSegments; segments *= 2) {
    TG_ASSIGN_OR_RETURN(Attempt best, attempt({segments, segments - 1}));
    least = std::min(least, best.bytes);
    if (best.bytes > budget) {
      // The graph has no more places for checkpoints.
      if (best.training.checkpoints + 1 < segments / 2) break;
      continue;
    }
    size_t low = 1, high = segments - 1;  // checkpoints: too few, and enough
    while (low + 1 < high) {
      const size_t middle = (low + high) / 2;
      TG_ASSIGN_OR_RETURN(Attempt fewer, attempt({segments, middle}));
      if (fewer.bytes <= budget) {
        high = middle;
        best = std::move(fewer);
      } else {
        low = middle;
      }
    }
    log(absl::StrFormat(
        "a step needs %.1f MB instead of %.1f MB: %d of %d segments are computed "
        "again",
        Megabytes(best.bytes), Megabytes(whole), best.training.checkpoints - 1, segments));
    return std::move(best.training);
  }
  return InvalidArgument("--memory-budget: a step needs at least ", least,
                         " bytes with values computed again, ", whole, " without");
}

}  // namespace tg::train
