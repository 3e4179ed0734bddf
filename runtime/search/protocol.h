// What a search and its worker process tell each other: a JSON object a line.
#ifndef TG_RUNTIME_SEARCH_PROTOCOL_H_
#define TG_RUNTIME_SEARCH_PROTOCOL_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/plan/extents.h"
#include "runtime/search/reuse.h"

namespace tg::search {

// A module of one kernel that is not scheduled, with the contents of its buffers. The first line,
// and each line after which another kernel is measured.
struct Job {
  std::string module;  // a file
  std::string device;  // as for ChooseDevice
  std::string target;  // as for ChooseTarget
  std::string pipeline;
  std::string scratch;  // a file that the worker may write
  std::map<std::string, std::string> inputs;
  runtime::VarMap vars;
  // Of buffers that are cold in the model: how many copies are used by turns (reuse.h).
  CopyCounts copies;
};

// Each further line: a schedule to measure. It need not be compiled if the request before has done
// so.
struct Request {
  std::string key;         // of the form that they are for
  std::string directives;  // as DirectivesText gives them
  bool only_compile = false;
};

enum class Outcome {
  kMeasured,
  kRefused,  // the passes or the driver's compiler report an error
  kDiffers,  // wrong values
  kCrashed,  // the process has ended
  kHung,     // no answer by the deadline
  // Measured, and then compared in the model.
  kConfirmed,
  kNoGain,
  kFirst,  // what is chosen without a search
};
inline bool IsTimed(Outcome outcome) {
  return outcome == Outcome::kMeasured || outcome == Outcome::kConfirmed ||
         outcome == Outcome::kNoGain || outcome == Outcome::kFirst;
}
std::optional<Outcome> OutcomeFromName(std::string_view name);
std::string_view OutcomeName(Outcome outcome);  // "measured", "refused", "wrong values", ...

// The answer to each line. To a job it has no times.
struct Answer {
  Outcome outcome = Outcome::kMeasured;
  double seconds = 0;
  double first_seconds = 0;  // of the first schedule, measured by turns with it
  std::string what;          // unless measured: what is wrong
};

// Whether the line is a job.
bool IsJob(std::string_view line);
std::string ToLine(const Job& job);
std::string ToLine(const Request& request);
std::string ToLine(const Answer& answer);
absl::StatusOr<Job> ParseJob(std::string_view line);
absl::StatusOr<Request> ParseRequest(std::string_view line);
absl::StatusOr<Answer> ParseAnswer(std::string_view line);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_PROTOCOL_H_
