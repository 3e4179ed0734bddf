// Runs seeds in a child process, so that a crash or an endless loop is a failure of one seed and
// does not end the run.
#ifndef TG_TOOLS_FUZZ_WORKER_H_
#define TG_TOOLS_FUZZ_WORKER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/fuzz/coverage.h"

namespace tg::fuzz {

struct SeedFailure {
  uint64_t seed = 0;
  std::string pass;
  std::string message;
};

// A key that failures with one cause probably share: the pass, the kind of error, a rule's number.
std::string FailureKind(const SeedFailure& failure);

// The child's interface.
class Worker {
 public:
  virtual ~Worker() = default;
  // Reports the current step, which is named if the process dies in it.
  virtual void Step(std::string_view step) = 0;
  virtual void Fail(const std::string& pass, const std::string& message) = 0;
  virtual Coverage& coverage() = 0;
};

struct WorkOptions {
  uint64_t first = 0, count = 1;   // the seeds [first, first + count)
  unsigned seconds_per_seed = 20;  // of a processor
  size_t max_failures = 20;        // ends the run
  double max_seconds = 0;          // for the whole run; 0: no limit
};

struct WorkResult {
  Coverage coverage;
  std::vector<SeedFailure> failures;
  uint64_t seeds = 0;  // number of seeds that ran
  double seconds = 0;
};

// Calls run(seed, worker) for each seed.
WorkResult RunIsolated(const WorkOptions& options,
                       const std::function<void(uint64_t seed, Worker& worker)>& run);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_WORKER_H_
