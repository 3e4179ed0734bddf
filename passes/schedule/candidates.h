// Candidates: what a scheduler considered for a kernel, for people who ask why it chose as it did.
#ifndef TG_PASSES_SCHEDULE_CANDIDATES_H_
#define TG_PASSES_SCHEDULE_CANDIDATES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "passes/target.h"

namespace tg::schedule {

// Schedulers take a pointer that is null where nobody asks, so that normal compiles build no text.
class Candidates {
 public:
  // Keeps the `most` schedules of the least ranks.
  explicit Candidates(size_t most = kMaxSchedules) : most_(most) {}

  // A schedule, or the first directives of one, up to the choice at hand. `rank`: the scheduler's
  // own measure of it, the least is chosen.
  void Add(double rank, std::vector<Directive> directives);
  // Lines about a kernel and its candidates: the cost of each by terms, and the predicted limit.
  // Whole schedules are those of `kernel`, at Stage::kKernel, with other directives.
  std::string Explain(const Module& module, const KernelCalls& calls, const Kernel& kernel,
                      const passes::Target& target) const;

  // The schedules, by ascending rank.
  std::vector<std::vector<Directive>> Schedules() const;

  // More are of no use to a reader.
  static constexpr size_t kMaxSchedules = 8;

 private:
  size_t most_;
  std::vector<std::pair<double, std::vector<Directive>>> schedules_;  // by ascending rank
};

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_CANDIDATES_H_
