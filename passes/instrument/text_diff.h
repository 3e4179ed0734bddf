// A unified diff of two texts, by lines, for --print-changed and tests.
#ifndef TG_PASSES_INSTRUMENT_TEXT_DIFF_H_
#define TG_PASSES_INSTRUMENT_TEXT_DIFF_H_

#include <string>
#include <string_view>

namespace tg {

struct DiffOptions {
  std::string_view before_label = "before";
  std::string_view after_label = "after";
  int context = 3;     // unchanged lines around a change
  bool color = false;  // ANSI escape sequences, as git colours a diff
};

// What turns `before` into `after`, in the format of `diff -u`; empty where they are equal. Lines
// that each text has once anchor the comparison (a "patience" diff), what lies between is compared
// by Myers' O(ND) algorithm. The result is correct for every input, and shortest where the texts
// are alike; where they differ a lot, time is bounded and whole blocks are replaced instead.
std::string UnifiedDiff(std::string_view before, std::string_view after, DiffOptions options = {});

}  // namespace tg

#endif  // TG_PASSES_INSTRUMENT_TEXT_DIFF_H_
