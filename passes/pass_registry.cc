#include "passes/pass_registry.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>

#include "base/check.h"
#include "base/suggest.h"
#include "ir/text/diagnostic.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace tg::passes {
namespace {

bool IsName(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (name.empty() || !is_letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

absl::Status Invalid(const llvm::Twine& message) {
  return absl::InvalidArgumentError(message.str());
}

}  // namespace

const PassOption* FindOption(const Pass& pass, std::string_view name) {
  for (const PassOption& option : pass.options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string_view CheckOptionValue(const PassOption& option, std::string_view value) {
  switch (option.kind) {
    case PassOption::Kind::kFlag:
      return value == "true" || value == "false" ? "" : "must be true or false";
    case PassOption::Kind::kInt: {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc::result_out_of_range) return "does not fit in 64 bits";
      return error == std::errc() && end == value.data() + value.size() ? "" : "must be an integer";
    }
    case PassOption::Kind::kString:
      return "";
  }
  TG_UNREACHABLE();
}

absl::Status PassRegistry::Add(const Pass& pass) {
  const std::string what = "pass '" + std::string(pass.name) + "'";
  if (!IsName(pass.name)) return Invalid(what + ": a name is [a-z][a-z0-9-]*");
  if (Find(pass.name) || Find(pass.former)) return Invalid(what + " is already registered");
  if (pass.name == "default") return Invalid(what + ": the name means the default pipeline");
  if (!pass.run) return Invalid(what + " has no function");
  for (size_t i = 0; i < pass.options.size(); ++i) {
    const PassOption& option = pass.options[i];
    const std::string which = what + ": option '" + std::string(option.name) + "'";
    if (!IsName(option.name)) return Invalid(which + ": a name is [a-z][a-z0-9-]*");
    if (FindOption(pass, option.name) != &option) return Invalid(which + " is declared twice");
    const std::string_view wrong = CheckOptionValue(option, option.default_value);
    if (!wrong.empty()) return Invalid(which + ": the default " + llvm::Twine(wrong));
  }
  passes_.push_back(&pass);
  return absl::OkStatus();
}

void PassRegistry::AddAll(std::span<const Pass* const> passes) {
  for (const Pass* pass : passes) {
    const absl::Status status = Add(*pass);
    if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    TG_CHECK(status.ok());
  }
}

const Pass* PassRegistry::Find(std::string_view name) const {
  for (const Pass* pass : passes_) {
    if (pass->name == name || (!name.empty() && pass->former == name)) return pass;
  }
  return nullptr;
}

absl::StatusOr<const Pass*> PassRegistry::Get(std::string_view name) const {
  if (const Pass* pass = Find(name)) return pass;
  std::vector<std::string_view> names;
  for (const Pass* pass : passes_) names.push_back(pass->name);
  std::string message = "unknown pass '" + std::string(name) + "'";
  const std::string suggestion = DidYouMean(name, names);
  message += suggestion.empty() ? "; there are:" : suggestion;
  if (suggestion.empty()) {
    for (const std::string_view n : names) message += (n == names[0] ? " " : ", ") + std::string(n);
    if (names.empty()) message += " none";
  }
  return absl::NotFoundError(message);
}

}  // namespace tg::passes
