// What searches have measured. A record outlives the search, so that it goes on where it ended.
#ifndef TG_RUNTIME_SEARCH_RECORD_H_
#define TG_RUNTIME_SEARCH_RECORD_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/schedule/schedule_file.h"
#include "runtime/search/protocol.h"

namespace tg::search {

// A schedule that was measured, or failed.
struct Measurement {
  std::string kernel;  // the key of the kernel's plain body
  std::string target, driver;
  std::string key;         // of the form that the directives are for
  std::string directives;  // as DirectivesText gives them
  Outcome outcome = Outcome::kMeasured;
  double predicted_seconds = 0;
  double seconds = 0, first_seconds = 0;
  std::string what;  // unless measured: what is wrong

  // Of the first schedule's time.
  double share() const { return first_seconds > 0 ? seconds / first_seconds : 1; }
};

// As a line of a schedule file.
absl::StatusOr<schedule::MeasuredSchedule> ToSchedule(const Measurement& measurement);

// A kernel that was measured, as a module of it alone.
struct RecordedKernel {
  std::string kernel;  // the key of its plain body
  std::string name;
  std::string module;  // text
};

class Record {
 public:
  virtual ~Record() = default;
  // Keeps the measurement; a later one of the same schedule replaces it. After an error the search
  // ends, since what it would find further would be lost.
  virtual absl::Status Add(const Measurement& measurement) = 0;
  // Those of one kernel, or all, in the order of keys.
  virtual absl::StatusOr<std::vector<Measurement>> Of(const std::string& kernel,
                                                      const std::string& target,
                                                      const std::string& driver) = 0;
  virtual absl::StatusOr<std::vector<Measurement>> All() = 0;

  virtual absl::Status AddKernel(const RecordedKernel& kernel) = 0;
  // In the order of keys.
  virtual absl::StatusOr<std::vector<RecordedKernel>> Kernels() = 0;
};

// Kept in memory only.
class MemoryRecord final : public Record {
 public:
  absl::Status Add(const Measurement& measurement) override;
  absl::StatusOr<std::vector<Measurement>> Of(const std::string& kernel, const std::string& target,
                                              const std::string& driver) override;
  absl::StatusOr<std::vector<Measurement>> All() override;
  absl::Status AddKernel(const RecordedKernel& kernel) override;
  absl::StatusOr<std::vector<RecordedKernel>> Kernels() override;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, Measurement> all_;
  std::map<std::string, RecordedKernel> kernels_;
};

// The best schedule of each kernel that beats the first one by more than the noise of a
// measurement, and gained in the model.
std::vector<schedule::MeasuredSchedule> BestSchedules(const std::vector<Measurement>& measurements);

// A shorter time than this share of the first schedule's is a gain.
inline constexpr double kGain = 0.97;

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_RECORD_H_
