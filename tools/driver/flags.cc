#include "tools/driver/flags.h"

#include <charconv>
#include <utility>

#include "base/suggest.h"
#include "ir/text/diagnostic.h"

namespace tg::driver {
namespace {

std::string JoinNames(const std::vector<std::string>& names, const char* separator) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : separator) + name;
  return text;
}

std::string Dashed(const std::string& name) { return (name.size() == 1 ? "-" : "--") + name; }

}  // namespace

Flags::Flags(std::string tool, std::string usage, std::string about)
    : tool_(std::move(tool)), usage_(std::move(usage)), about_(std::move(about)) {}

void Flags::Group(std::string title) { entries_.push_back({std::move(title), {}}); }

void Flags::Bool(std::string name, bool* value, std::string doc) {
  const auto set = [value](std::string_view text) -> std::string {
    if (text != "true" && text != "false") return "must be true or false";
    *value = text == "true";
    return "";
  };
  entries_.push_back({"", {std::move(name), "", std::move(doc), true, {}, set}});
}

void Flags::Int(std::string name, std::string value_name, std::optional<int64_t>* value,
                std::string doc) {
  const auto set = [value](std::string_view text) -> std::string {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size()) return "must be an integer";
    if (error == std::errc::result_out_of_range) return "does not fit in 64 bits";
    if (error != std::errc()) return "must be an integer";
    *value = number;
    return "";
  };
  entries_.push_back(
      {"", {std::move(name), std::move(value_name), std::move(doc), false, {}, set}});
}

void Flags::String(std::string name, std::string value_name, std::string* value, std::string doc) {
  const auto set = [value](std::string_view text) -> std::string {
    *value = text;
    return "";
  };
  entries_.push_back(
      {"", {std::move(name), std::move(value_name), std::move(doc), false, {}, set}});
}

void Flags::String(std::string name, std::string value_name, std::optional<std::string>* value,
                   std::string doc) {
  const auto set = [value](std::string_view text) -> std::string {
    *value = std::string(text);
    return "";
  };
  entries_.push_back(
      {"", {std::move(name), std::move(value_name), std::move(doc), false, {}, set}});
}

void Flags::Repeated(std::string name, std::string value_name, std::vector<std::string>* values,
                     std::string doc) {
  const auto set = [values](std::string_view text) -> std::string {
    values->emplace_back(text);
    return "";
  };
  entries_.push_back(
      {"", {std::move(name), std::move(value_name), std::move(doc), false, {}, set}});
}

void Flags::Level(std::string name, std::string value_name, int64_t bare,
                  std::optional<int64_t>* value, std::string doc) {
  Int(std::move(name), std::move(value_name), value, std::move(doc));
  entries_.back().flag.bare = std::to_string(bare);
}

void Flags::List(std::string name, std::string value_name, std::vector<std::string>* values,
                 std::string doc) {
  const auto set = [values](std::string_view text) -> std::string {
    while (true) {
      const size_t comma = std::min(text.find(','), text.size());
      if (comma == 0) return "has an empty item";
      values->emplace_back(text.substr(0, comma));
      if (comma == text.size()) return "";
      text.remove_prefix(comma + 1);
    }
  };
  entries_.push_back(
      {"", {std::move(name), std::move(value_name), std::move(doc), false, {}, set}});
}

void Flags::Choice(std::string name, std::vector<std::string> choices, std::string* value,
                   std::string doc) {
  const auto set = [value, choices](std::string_view text) -> std::string {
    for (const std::string& choice : choices) {
      if (choice != text) continue;
      *value = choice;
      return "";
    }
    const std::vector<std::string_view> names(choices.begin(), choices.end());
    return "must be one of " + JoinNames(choices, ", ") + DidYouMean(text, names);
  };
  std::string value_name = JoinNames(choices, "|");
  entries_.push_back(
      {"", {std::move(name), std::move(value_name), std::move(doc), false, choices, set}});
}

void Flags::OptionalChoice(std::string name, std::vector<std::string> choices, std::string bare,
                           std::string* value, std::string doc) {
  Choice(std::move(name), std::move(choices), value, std::move(doc));
  entries_.back().flag.bare = std::move(bare);
  entries_.back().flag.unset = [value] { value->clear(); };
}

const Flags::Flag* Flags::Find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.group.empty() && entry.flag.name == name) return &entry.flag;
  }
  return nullptr;
}

absl::Status Flags::Unknown(std::string_view argument, std::string_view name) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.group.empty()) names.push_back(Dashed(entry.flag.name));
  }
  const std::string written = "--" + std::string(name);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  std::string message = "unknown option " + std::string(argument.substr(0, argument.find('=')));
  const std::string suggestion = DidYouMean(written, candidates);
  message += suggestion.empty() ? "; see " + tool_ + " --help" : suggestion;
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<std::vector<std::string>> Flags::Parse(
    std::span<const std::string> arguments) const {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      rest.emplace_back(argument);
      continue;
    }
    std::string_view name = argument.substr(argument[1] == '-' ? 2 : 1);
    std::optional<std::string_view> value;
    if (const size_t equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    const Flag* flag = Find(name);
    if (!flag && name.substr(0, 3) == "no-" && !value) {
      flag = Find(name.substr(3));
      if (flag && flag->unset) {
        flag->unset();
        continue;
      }
      if (flag && !flag->is_bool) flag = nullptr;
      value = "false";
    }
    if (!flag) return Unknown(argument, name);
    if (!value) {
      if (flag->is_bool) {
        value = "true";
      } else if (!flag->bare.empty()) {
        value = flag->bare;
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      } else {
        return absl::InvalidArgumentError(Dashed(flag->name) +
                                          " needs a value: " + flag->value_name);
      }
    }
    const std::string wrong = flag->set(*value);
    if (!wrong.empty()) {
      return absl::InvalidArgumentError(Dashed(flag->name) + " " + wrong + " (it is '" +
                                        std::string(*value) + "')");
    }
  }
  return rest;
}

std::string Flags::Help() const {
  constexpr size_t kIndent = 30, kWidth = 100;
  std::string text = "Usage: " + tool_ + " " + usage_ + "\n" + about_ + "\n";
  for (const Entry& entry : entries_) {
    if (!entry.group.empty()) {
      text += "\n" + entry.group + ":\n";
      continue;
    }
    const Flag& flag = entry.flag;
    std::string line = "  " + Dashed(flag.name);
    if (!flag.bare.empty()) {
      line += "[=" + flag.value_name + "]";
    } else if (!flag.is_bool) {
      line += (flag.name.size() == 1 ? " " : "=") + flag.value_name;
    }
    if (line.size() + 2 > kIndent) {
      text += line + "\n";
      line.clear();
    }
    line.resize(kIndent, ' ');
    // Wraps the documentation at its line breaks and at spaces.
    for (std::string_view doc = flag.doc; !doc.empty();) {
      size_t length = std::min(doc.size(), doc.find('\n'));
      if (length > kWidth - kIndent) {
        length = doc.rfind(' ', kWidth - kIndent);
        if (length == std::string_view::npos) length = doc.size();
      }
      text += line + std::string(doc.substr(0, length)) + "\n";
      line.assign(kIndent, ' ');
      doc.remove_prefix(std::min(length + 1, doc.size()));
    }
  }
  return text;
}

std::vector<std::string> ArgumentsWithOutput(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == "--") break;
    if (arguments[i] != "-o") continue;
    arguments[i] = "--output=" + arguments[i + 1];
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return arguments;
}

}  // namespace tg::driver
