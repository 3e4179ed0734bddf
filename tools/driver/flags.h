// Flags: the command line of tg's tools, from one table per tool. Small, because a tool starts in
// a few milliseconds; unknown options get a suggestion.
//
//   --name=value, --name value, --flag, --no-flag; one dash does as well; `--` ends the options.
#ifndef TG_TOOLS_DRIVER_FLAGS_H_
#define TG_TOOLS_DRIVER_FLAGS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tg {

class Flags {
 public:
  // `usage` follows the tool's name in the help, e.g. "[options] input.uop"; `about` is a sentence.
  Flags(std::string tool, std::string usage, std::string about);

  // The variable keeps its value where the option is not given. `value_name` stands for the value
  // in the help. Of an option given twice the last counts, but a list takes all.
  void Bool(std::string name, bool* value, std::string doc);
  void Int(std::string name, std::string value_name, std::optional<int64_t>* value,
           std::string doc);
  void String(std::string name, std::string value_name, std::string* value, std::string doc);
  void String(std::string name, std::string value_name, std::optional<std::string>* value,
              std::string doc);
  // All values of an option that may be given several times.
  void Repeated(std::string name, std::string value_name, std::vector<std::string>* values,
                std::string doc);
  // An integer; the option alone, without `=`, means `bare`.
  void Level(std::string name, std::string value_name, int64_t bare, std::optional<int64_t>* value,
             std::string doc);
  // A comma-separated list.
  void List(std::string name, std::string value_name, std::vector<std::string>* values,
            std::string doc);
  // One of `choices`.
  void Choice(std::string name, std::vector<std::string> choices, std::string* value,
              std::string doc);
  // A heading for the options that follow.
  void Group(std::string title);

  // Reads the arguments (without the program's name) and returns those that are no options, `-`
  // included. Errors name the argument.
  absl::StatusOr<std::vector<std::string>> Parse(std::span<const std::string> arguments) const;

  // For --help.
  std::string Help() const;

 private:
  struct Flag {
    std::string name, value_name, doc;
    bool is_bool = false;
    std::vector<std::string> choices;
    // Takes the value; says what is wrong with it, or nothing.
    std::function<std::string(std::string_view)> set;
    std::string bare = "";  // the value of the option alone; empty: it needs one (or is_bool)
  };
  struct Entry {
    std::string group;  // a heading, or else a flag
    Flag flag;
  };

  const Flag* Find(std::string_view name) const;
  absl::Status Unknown(std::string_view argument, std::string_view name) const;

  const std::string tool_, usage_, about_;
  std::vector<Entry> entries_;
};

}  // namespace tg

#endif  // TG_TOOLS_DRIVER_FLAGS_H_
