// A unified diff of two texts, by lines, for --print-changed and tests.
#ifndef TG_PASSES_INSTRUMENT_TEXT_DIFF_H_
#define TG_PASSES_INSTRUMENT_TEXT_DIFF_H_

#include <string>
#include <string_view>

namespace tg::instrument {

struct DiffOptions {
  std::string_view before_label = "before";
  std::string_view after_label = "after";
  int context = 3;     // unchanged lines around a change
  bool color = false;  // ANSI escape sequences, as git colours a diff
};

// The changes from `before` to `after`, in the format of `diff -u`; empty if they are equal. Lines
// that occur once in each text anchor the comparison (a "patience" diff), and the blocks between
// anchors are compared by Myers' O(ND) algorithm. The result is correct for every input, and
// shortest for similar texts. If the texts differ a lot, whole blocks are replaced, which bounds
// the time.
std::string UnifiedDiff(std::string_view before, std::string_view after, DiffOptions options = {});

}  // namespace tg::instrument

#endif  // TG_PASSES_INSTRUMENT_TEXT_DIFF_H_
