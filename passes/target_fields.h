// The fields of Target as a table: what presets, target files and the documentation have in common.
//
// A target file has a line `key = value` for each field. Text from `#` to the line's end is a
// comment, except in `name` and `doc`. `base = TARGET`, before all fields, names the preset (or
// target file) of the fields that the file leaves out; without it that is the first preset. Lists
// are in brackets: `max_local = [256, 256, 64]`.
#ifndef TG_PASSES_TARGET_FIELDS_H_
#define TG_PASSES_TARGET_FIELDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/target.h"

namespace tg::passes {

// A target's name with this ending is the name of a file; see FindTarget.
inline constexpr std::string_view kTargetFileEnding = ".target";

// Where a field's value comes from.
enum class FieldSource : uint8_t {
  kName,      // chosen by whoever writes the target
  kQuery,     // the device reports it
  kMeasured,  // tg-calibrate measures it
  kKnown,     // datasheets and documentation of the device and its compiler
  kFitted     // chosen so that schedules agree with measured times of kernels
};
std::string_view FieldSourceName(FieldSource source);

struct TargetField {
  using Member = std::variant<std::string Target::*, bool Target::*, int Target::*,
                              int64_t Target::*, double Target::*, ItemCounts Target::*,
                              GroupCounts Target::*, FunctionSet Target::*>;
  std::string_view part;  // of the device, which its field describes
  std::string_view name, unit;
  FieldSource source = FieldSource::kKnown;
  std::string_view doc;
  Member member;
  double least = 0;  // the least allowed value of a number

  std::string Text(const Target& target) const;
  // Sets the field. InvalidArgument says what is wrong with the text, without naming the field.
  absl::Status Set(std::string_view text, Target& target) const;
};

// In the order of a target file.
std::span<const TargetField> TargetFields();

// A target file with all fields by parts, their units and documentation as comments.
std::string PrintTarget(const Target& target);

// Parses a target file. `file` is the target's name unless the file gives one, and is used in error
// messages, which name the line. A field that is given twice is an error.
absl::StatusOr<Target> ParseTarget(std::string_view text, std::string_view file);

}  // namespace tg::passes

#endif  // TG_PASSES_TARGET_FIELDS_H_
