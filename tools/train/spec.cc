#include "tools/train/spec.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/status.h"

namespace tg::train {

absl::StatusOr<SpecText> SpecText::Parse(std::string_view text) {
  SpecText spec;
  bool first = true;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(':', at), text.size());
    const std::string part(text.substr(at, end - at));
    at = end + 1;
    if (part.empty()) return InvalidArgument("a part of ", Quote(text), " is empty");
    const size_t equals = part.find('=');
    if (first) {
      spec.kind = part;
      first = false;
    } else if (equals == std::string::npos) {
      spec.words.push_back(part);
    } else if (!spec.values.emplace(part.substr(0, equals), part.substr(equals + 1)).second) {
      return InvalidArgument(Quote(part.substr(0, equals)), " is given twice");
    }
  }
  return spec;
}

absl::Status SpecText::Take(std::string_view key, double low, double high, double* value) {
  const auto found = values.find(key);
  if (found == values.end()) return absl::OkStatus();
  char* end = nullptr;
  const double number = std::strtod(found->second.c_str(), &end);
  if (found->second.empty() || *end || !std::isfinite(number) || number < low || number > high) {
    return InvalidArgument(key, " is ", Quote(found->second), ", not a number that it may be");
  }
  *value = number;
  values.erase(found);
  return absl::OkStatus();
}

bool SpecText::TakeWord(std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return false;
  words.erase(found);
  return true;
}

absl::Status SpecText::CheckAllTaken() const {
  if (values.empty()) return absl::OkStatus();
  return InvalidArgument(kind, " has no option ", Quote(values.begin()->first));
}

}  // namespace tg::train
