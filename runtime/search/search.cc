#include "runtime/search/search.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/status.h"
#include "ir/kernel_calls.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/report/format.h"
#include "runtime/search/confirm.h"
#include "runtime/search/kernel_search.h"
#include "runtime/search/model_kernels.h"
#include "runtime/search/scratch_folder.h"
#include "runtime/search/search_workers.h"

namespace tg::search {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A kernel is visited again in turn with the others by what it may still gain. A visit that gained
// nothing leaves this part of the hope.
constexpr double kHopeLeft = 0.5;

// So many schedules of a kernel are compared in the model.
constexpr size_t kTries = 3;
// Comparing in the model takes about as long as opening it several times, and comparisons; at most
// this part of the time is set aside for that.
constexpr double kOpenings = 3, kComparisons = 2, kMostAside = 0.4;

using Kernels = std::vector<std::unique_ptr<KernelSearch>>;

// Compares the model with the best schedules and without, until all that are left gain there.
absl::Status ConfirmInModel(ModelKernels& model, const Kernels& kernels, const std::string& scratch,
                            const std::function<double()>& seconds_left,
                            const std::function<void(const std::string&)>& tell,
                            SearchResult& result) {
  std::unique_ptr<ModelTurns> turns;
  while (true) {
    std::vector<Winner> winners;
    std::vector<KernelSearch*> found;
    for (const auto& kernel : kernels) {
      const Measurement* best = kernel->Best();
      if (best == nullptr) continue;
      TG_ASSIGN_OR_RETURN(schedule::MeasuredSchedule schedule, ToSchedule(*best));
      winners.push_back({kernel->kernel(), std::move(schedule)});
      found.push_back(kernel.get());
    }
    if (winners.empty()) return absl::OkStatus();
    if (turns == nullptr) {
      TG_ASSIGN_OR_RETURN(turns, ModelTurns::Open(model, scratch));
    }
    RunPair pair;
    TG_ASSIGN_OR_RETURN(
        const std::vector<size_t> losers,
        FindLosers(
            winners, [&](std::vector<Winner>& some) { return turns->Compare(some); }, pair));
    for (const size_t i : losers) {
      KernelSearch& loser = *found[i];
      tell(Cat("@", loser.gain().name, ": no gain in the model with ", loser.gain().directives));
      TG_RETURN_IF_ERROR(loser.Drop());
      if (loser.gain().dropped >= kTries || seconds_left() <= 0) loser.GiveUp();
    }
    if (!losers.empty()) continue;
    for (size_t i = 0; i < winners.size(); ++i) {
      TG_RETURN_IF_ERROR(found[i]->Confirm(winners[i].share));
    }
    result.before_seconds = pair.before;
    result.after_seconds = pair.after;
    return absl::OkStatus();
  }
}

}  // namespace

double SearchResult::ExpectedSeconds() const {
  double seconds = run_seconds;
  for (const KernelGain& kernel : kernels) seconds -= kernel.seconds * (1 - kernel.share);
  return seconds;
}

absl::StatusOr<SearchResult> Search(const Module& module,
                                    const std::function<absl::Status(runtime::Session&)>& feed,
                                    const SearchOptions& options, Record& record) {
  const Clock::time_point start = Clock::now();
  const auto tell = [&](const std::string& line) {
    if (options.tell) options.tell(line);
  };
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<ModelKernels> model,
                      ModelKernels::Open(module, feed, options));
  TG_ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make());
  SearchResult result;
  for (const KernelGain& kernel : model->gains()) result.run_seconds += kernel.seconds;
  const KernelCalls calls(model->unscheduled());
  SearchWorkers workers(options.worker, options.workers, options.deadline);
  std::vector<std::unique_ptr<KernelSearch>> kernels;
  std::vector<double> hopes;
  for (size_t i = options.part; i < model->order().size(); i += options.parts) {
    auto& kernel = kernels.emplace_back(std::make_unique<KernelSearch>(
        *model, calls, model->order()[i], options, scratch.path(), workers, record));
    TG_RETURN_IF_ERROR(kernel->Resume());
    hopes.push_back(kernel->Hope());
  }
  const double comparison = ModelTurns::Seconds(result.run_seconds);
  const double aside =
      options.sample > 0 ? 0
                         : std::min(kMostAside * options.seconds,
                                    kOpenings * model->open_seconds() + kComparisons * comparison);
  const auto left = [&] { return options.seconds - aside - SecondsSince(start); };
  while (left() > 0) {
    const auto most = std::max_element(hopes.begin(), hopes.end());
    if (most == hopes.end() || *most <= 0) break;
    KernelSearch& kernel = *kernels[static_cast<size_t>(most - hopes.begin())];
    TG_ASSIGN_OR_RETURN(const KernelSearch::Visit visit, kernel.Measure(left));
    if (visit.is_exhausted) {
      *most = 0;
    } else if (options.sample == 0) {
      *most = visit.has_gained ? kernel.Hope() : *most * kHopeLeft;
    }
    double expected = result.run_seconds;
    for (const auto& k : kernels) expected -= k->gain().seconds * (1 - k->gain().share);
    if (!visit.has_gained) continue;
    tell(Cat(kernel.Line(), "; a run's kernels: ", runtime::FormatSeconds(result.run_seconds),
             " -> ", runtime::FormatSeconds(expected), ", after ",
             static_cast<int64_t>(SecondsSince(start)), " s"));
  }
  if (options.sample == 0) {
    TG_RETURN_IF_ERROR(ConfirmInModel(
        *model, kernels, scratch.path(), [&] { return options.seconds - SecondsSince(start); },
        tell, result));
  }
  for (const auto& kernel : kernels) result.kernels.push_back(kernel->gain());
  result.searched_seconds = SecondsSince(start);
  return result;
}

std::string GainTable(const SearchResult& result) {
  constexpr size_t kName = 0, kDirectives = 6;
  std::vector<std::vector<runtime::Cell>> rows;
  std::vector<runtime::Cell>& head = rows.emplace_back();
  for (const char* title :
       {"kernel", "calls", "time", "found", "share", "measured", "directives"}) {
    head.emplace_back(title);
  }
  size_t measured = 0, failed = 0, dropped = 0;
  for (const KernelGain& kernel : result.kernels) {
    measured += kernel.measured;
    failed += kernel.failed;
    dropped += kernel.dropped;
    if (kernel.directives.empty()) continue;
    rows.push_back({kernel.name, std::to_string(kernel.calls),
                    runtime::FormatSeconds(kernel.seconds),
                    runtime::FormatSeconds(kernel.seconds * kernel.share),
                    runtime::FormatNumber("%.2f", kernel.share), std::to_string(kernel.measured),
                    kernel.directives});
  }
  constexpr size_t kLeft[] = {kName, kDirectives};
  std::string text;
  if (rows.size() > 1) text = runtime::FormatTable(rows, kLeft);
  const size_t gained = rows.size() - 1;
  text +=
      Cat(gained, " of ", result.kernels.size(), " kernels gained, by ", measured, " schedules");
  if (failed > 0) text += Cat(", of which ", failed, " failed");
  if (dropped > 0) text += Cat(", and ", dropped, " did not gain in the model");
  text += Cat("; a run's kernels: ", runtime::FormatSeconds(result.run_seconds), " -> ",
              runtime::FormatSeconds(result.ExpectedSeconds()));
  if (result.before_seconds > 0) {
    text += Cat("; a run, by turns: ", runtime::FormatSeconds(result.before_seconds), " -> ",
                runtime::FormatSeconds(result.after_seconds));
  }
  return text + "\n";
}

}  // namespace tg::search
