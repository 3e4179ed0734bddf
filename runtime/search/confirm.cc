#include "runtime/search/confirm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status.h"

namespace tg::search {
namespace {

// A turn is several short runs, so that the first refills the caches; one run if it is long, as it
// refills them itself. Turns go on for kTurnSeconds, within these limits.
constexpr int kTurnRuns = 3, kLeastTurns = 3, kMostTurns = 100;
constexpr double kShortRun = 0.02, kTurnSeconds = 2;
// A kernel gains in the model if it takes less than this share of its time.
constexpr double kModelGain = 0.99;

// The least times of a session's runs.
struct LeastTimes {
  double run = HUGE_VAL;
  std::vector<double> kernels;  // by number in the module; 0: not in a run
};

absl::StatusOr<double> TakeTurn(runtime::DeviceSession& session, const std::string& graph,
                                LeastTimes& least) {
  double sum = 0;
  for (int i = 0; i < kTurnRuns && (i == 0 || sum < i * kShortRun); ++i) {
    TG_RETURN_IF_ERROR(session.Run(graph));
    const runtime::RunTimes& times = session.last_times();
    const runtime::Plan& plan = *session.last_plan();
    sum += times.seconds();
    least.run = std::min(least.run, times.seconds());
    std::vector<double> kernels;
    for (size_t step = 0; step < times.kernels.size(); ++step) {
      if (plan.step(step).is_copy()) continue;
      const auto kernel = static_cast<size_t>(plan.step(step).kernel);
      if (kernels.size() <= kernel) kernels.resize(kernel + 1);
      kernels[kernel] += times.kernels[step].seconds();
    }
    if (least.kernels.size() < kernels.size()) least.kernels.resize(kernels.size(), HUGE_VAL);
    for (size_t k = 0; k < kernels.size(); ++k) {
      least.kernels[k] = std::min(least.kernels[k], kernels[k]);
    }
  }
  return sum;
}

absl::StatusOr<std::vector<size_t>> Bisect(
    const std::vector<Winner>& winners, const std::vector<size_t>& numbers,
    const std::function<absl::StatusOr<RunPair>(std::vector<Winner>&)>& compare) {
  std::vector<Winner> some;
  for (const size_t i : numbers) some.push_back(winners[i]);
  TG_ASSIGN_OR_RETURN(const RunPair pair, compare(some));
  if (pair.share() < 1) return std::vector<size_t>();
  if (numbers.size() == 1) return numbers;
  std::vector<size_t> losers;
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  for (const auto& half :
       {std::vector<size_t>(numbers.begin(), middle), std::vector<size_t>(middle, numbers.end())}) {
    TG_ASSIGN_OR_RETURN(const std::vector<size_t> found, Bisect(winners, half, compare));
    losers.insert(losers.end(), found.begin(), found.end());
  }
  return losers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelTurns>> ModelTurns::Open(ModelKernels& model,
                                                             const std::string& scratch) {
  std::unique_ptr<ModelTurns> turns(new ModelTurns(model, scratch));
  TG_ASSIGN_OR_RETURN(turns->before_, model.OpenWith({}, scratch));
  return turns;
}

double ModelTurns::Seconds(double run_seconds) {
  return std::max(kTurnSeconds, 2 * kLeastTurns * run_seconds);
}

absl::StatusOr<RunPair> ModelTurns::Compare(std::vector<Winner>& winners) {
  std::vector<schedule::MeasuredSchedule> schedules;
  for (const Winner& winner : winners) schedules.push_back(winner.schedule);
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::DeviceSession> session,
                      model_.OpenWith(schedules, scratch_));
  LeastTimes before, after;
  double sum = 0;
  for (int turn = 0; turn < kMostTurns && (turn < kLeastTurns || sum < kTurnSeconds); ++turn) {
    // The first turn loads the kernels.
    if (turn == 1) before = after = LeastTimes();
    TG_ASSIGN_OR_RETURN(const double b, TakeTurn(*before_, model_.graph(), before));
    TG_ASSIGN_OR_RETURN(const double a, TakeTurn(*session, model_.graph(), after));
    sum += b + a;
  }
  for (Winner& winner : winners) {
    const size_t k = winner.kernel;
    if (k >= before.kernels.size() || k >= after.kernels.size() || before.kernels[k] <= 0) continue;
    winner.share = after.kernels[k] / before.kernels[k];
  }
  return RunPair{before.run, after.run};
}

absl::StatusOr<std::vector<size_t>> FindLosers(
    std::vector<Winner>& winners,
    const std::function<absl::StatusOr<RunPair>(std::vector<Winner>&)>& compare, RunPair& pair) {
  TG_ASSIGN_OR_RETURN(pair, compare(winners));
  std::vector<size_t> losers, numbers;
  for (size_t i = 0; i < winners.size(); ++i) {
    numbers.push_back(i);
    if (winners[i].share >= kModelGain) losers.push_back(i);
  }
  if (!losers.empty() || pair.share() < 1) return losers;
  TG_ASSIGN_OR_RETURN(losers, Bisect(winners, numbers, compare));
  if (!losers.empty()) return losers;
  // Each part gains, or it was slow by chance.
  TG_ASSIGN_OR_RETURN(pair, compare(winners));
  if (pair.share() < 1) return losers;
  return std::vector<size_t>(numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2),
                             numbers.end());
}

}  // namespace tg::search
