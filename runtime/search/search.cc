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
#include "runtime/search/kernel_search.h"
#include "runtime/search/model_kernels.h"
#include "runtime/search/scratch_folder.h"

namespace tg::search {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A kernel is visited again in turn with the others by what it may still gain. A visit that gained
// nothing leaves this part of the hope.
constexpr double kHopeLeft = 0.5;

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
  std::vector<std::unique_ptr<KernelSearch>> kernels;
  std::vector<double> hopes;
  for (size_t i = options.part; i < model->order().size(); i += options.parts) {
    auto& kernel = kernels.emplace_back(std::make_unique<KernelSearch>(
        *model, calls, model->order()[i], options, scratch.path(), record));
    TG_RETURN_IF_ERROR(kernel->Resume());
    hopes.push_back(kernel->Hope());
  }
  const auto left = [&] { return options.seconds - SecondsSince(start); };
  while (left() > 0) {
    const auto most = std::max_element(hopes.begin(), hopes.end());
    if (most == hopes.end() || *most <= 0) break;
    KernelSearch& kernel = *kernels[static_cast<size_t>(most - hopes.begin())];
    TG_ASSIGN_OR_RETURN(const KernelSearch::Visit visit, kernel.Measure(left));
    *most = visit.is_exhausted ? 0 : visit.has_gained ? kernel.Hope() : *most * kHopeLeft;
    double expected = result.run_seconds;
    for (const auto& k : kernels) expected -= k->gain().seconds * (1 - k->gain().share);
    if (!visit.has_gained) continue;
    tell(Cat(kernel.Line(), "; a run's kernels: ", runtime::FormatSeconds(result.run_seconds),
             " -> ", runtime::FormatSeconds(expected), ", after ",
             static_cast<int64_t>(SecondsSince(start)), " s"));
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
  size_t measured = 0, failed = 0;
  for (const KernelGain& kernel : result.kernels) {
    measured += kernel.measured;
    failed += kernel.failed;
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
  return Cat(text, "; a run's kernels: ", runtime::FormatSeconds(result.run_seconds), " -> ",
             runtime::FormatSeconds(result.ExpectedSeconds()), "\n");
}

}  // namespace tg::search
