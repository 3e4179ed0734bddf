// Flags: parses the command lines of tg's tools. Each tool has one table of options. Unknown
// options get a suggestion.
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

namespace tg::driver {

class Flags {
 public:
  // `usage` follows the tool's name in the help, e.g. "[options] input.uop"; `about` is a sentence.
  Flags(std::string tool, std::string usage, std::string about);

  // The variable keeps its value if the option is absent. `value_name` denotes the value in the
  // help. The last occurrence of an option wins, but a list collects all.
  void Bool(std::string name, bool* value, std::string doc);
  void Int(std::string name, std::string value_name, std::optional<int64_t>* value,
           std::string doc);
  void String(std::string name, std::string value_name, std::string* value, std::string doc);
  void String(std::string name, std::string value_name, std::optional<std::string>* value,
              std::string doc);
  // All values of an option that may occur several times.
  void Repeated(std::string name, std::string value_name, std::vector<std::string>* values,
                std::string doc);
  // An integer; the option without `=` means `bare`.
  void Level(std::string name, std::string value_name, int64_t bare, std::optional<int64_t>* value,
             std::string doc);
  // A comma-separated list.
  void List(std::string name, std::string value_name, std::vector<std::string>* values,
            std::string doc);
  // One of `choices`.
  void Choice(std::string name, std::vector<std::string> choices, std::string* value,
              std::string doc);
  // The same; the option without `=` means `bare`, and --no-NAME the empty text.
  void OptionalChoice(std::string name, std::vector<std::string> choices, std::string bare,
                      std::string* value, std::string doc);
  // A heading for the options that follow.
  void Group(std::string title);

  // Parses the arguments (without the program's name) and returns the positional ones, including
  // `-`. Errors name the argument.
  absl::StatusOr<std::vector<std::string>> Parse(std::span<const std::string> arguments) const;

  // The text of --help.
  std::string Help() const;

 private:
  struct Flag {
    std::string name, value_name, doc;
    bool is_bool = false;
    std::vector<std::string> choices;
    // Sets the value; returns an error message, or an empty string.
    std::function<std::string(std::string_view)> set;
    std::string bare = "";  // the value without `=`; empty: a value is required (or is_bool)
    std::function<void()> unset = {};  // for --no-NAME, of an option that is not bool
  };
  struct Entry {
    std::string group;  // a heading; empty for a flag
    Flag flag;
  };

  const Flag* Find(std::string_view name) const;
  absl::Status Unknown(std::string_view argument, std::string_view name) const;

  const std::string tool_, usage_, about_;
  std::vector<Entry> entries_;
};

// The arguments of main, in which `-o FILE` becomes `--output=FILE`.
std::vector<std::string> ArgumentsWithOutput(int argc, const char* const* argv);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_FLAGS_H_
