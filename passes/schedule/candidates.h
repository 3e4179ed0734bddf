// Candidates: what a scheduler considered for a kernel, for people who ask why it chose as it did.
#ifndef TG_PASSES_SCHEDULE_CANDIDATES_H_
#define TG_PASSES_SCHEDULE_CANDIDATES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace tg::schedule {

// Schedulers take a pointer that is null where nobody asks, so that normal compiles build no text.
class Candidates {
 public:
  // Keeps the `most` schedules of the least ranks.
  explicit Candidates(size_t most = kMaxSchedules) : most_(most) {}

  // A schedule, or the first directives of one, up to the choice at hand. `rank`: the scheduler's
  // own measure of it, the least is chosen.
  void Add(double rank, std::vector<Directive> directives);
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
