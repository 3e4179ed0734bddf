// Files of measured schedules (docs/search.md): which directives were fastest for a kernel on a
// device. A directive changes no value, so that a wrong line makes a kernel slow, never wrong.
#ifndef TG_PASSES_SCHEDULE_SCHEDULE_FILE_H_
#define TG_PASSES_SCHEDULE_SCHEDULE_FILE_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tg::schedule {

// In place of a driver: the schedule is for all of them.
inline constexpr char kAnyDriver[] = "*";

// A line of a file.
struct MeasuredSchedule {
  std::string key;           // KernelKey
  std::string target;        // the name of the passes' target
  std::string driver;        // the device and its driver, as the runtime describes them
  double first_seconds = 0;  // of the schedule that is chosen without a search
  double seconds = 0;        // of these directives, measured by turns with the first
  std::vector<Directive> directives;

  friend bool operator==(const MeasuredSchedule&, const MeasuredSchedule&) = default;
};

// Identifies a body at Stage::kKernel by its structure: 16 hexadecimal digits. Two forms of a
// kernel, such as with and without packed operands, are two bodies.
std::string KernelKey(const Body& body);

// "local(i0, 4), upcast(i1, 4)"; "-" for none.
std::string DirectivesText(const std::vector<Directive>& directives);
absl::StatusOr<std::vector<Directive>> ParseDirectives(std::string_view text);

// The text of a file. Lines are sorted, so that equal contents are equal files.
std::string PrintScheduleFile(std::vector<MeasuredSchedule> schedules);
// Errors begin with "NAME:LINE: ".
absl::StatusOr<std::vector<MeasuredSchedule>> ParseScheduleFile(std::string_view text,
                                                                std::string_view name);

// Of several schedules for the same kernel, target and driver, keeps the one that gains most: the
// least share of the first schedule's time, which allows for machines of different speed.
std::vector<MeasuredSchedule> MergeSchedules(std::vector<MeasuredSchedule> schedules);

// The schedules of one target by key.
class KnownSchedules {
 public:
  KnownSchedules() = default;
  // With `driver`, only those of that driver or of all; else of any.
  KnownSchedules(std::vector<MeasuredSchedule> schedules, std::string_view target,
                 std::string_view driver);

  // Null if there is none for this key.
  const std::vector<Directive>* Find(const std::string& key) const;
  bool empty() const { return by_key_.empty(); }

 private:
  std::map<std::string, std::vector<Directive>> by_key_;
};

}  // namespace tg::schedule

#endif  // TG_PASSES_SCHEDULE_SCHEDULE_FILE_H_
