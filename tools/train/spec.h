// Options of the form kind:key=value:word, such as adamw:lr=1e-3:decay=0.01.
#ifndef TG_TOOLS_TRAIN_SPEC_H_
#define TG_TOOLS_TRAIN_SPEC_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tg::train {

struct SpecText {
  static absl::StatusOr<SpecText> Parse(std::string_view text);

  // Moves the number of this key, if it is given, to *value. InvalidArgument unless it is a finite
  // number from `low` to `high`.
  absl::Status Take(std::string_view key, double low, double high, double* value);
  // Removes a word; returns whether it was there.
  bool TakeWord(std::string_view word);
  // InvalidArgument names a key that nothing took.
  absl::Status CheckAllTaken() const;

  std::string kind;
  std::map<std::string, std::string, std::less<>> values;
  std::vector<std::string> words;
};

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_SPEC_H_
