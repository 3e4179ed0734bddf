// Diagnostics: where the parser and the verifier report, so that one run shows every mistake.
//
//   softmax.uop:7:8: error: unknown op 'ad'; did you mean 'add'?
//     %2 = ad %0, %1 : f32
//          ^
#ifndef TG_IR_TEXT_DIAGNOSTIC_H_
#define TG_IR_TEXT_DIAGNOSTIC_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"

namespace tg {

// `text` with what is no printable character (control characters, but for tabs and ends of lines,
// and bytes that are no UTF-8) as \xNN, so that it does nothing to a terminal but show.
std::string Printable(std::string_view text);

struct Diagnostic {
  std::string file;     // empty: no text is at hand
  Location loc;         // line 0: no place
  std::string message;  // one line
  std::string snippet;  // lines that show the place, each ended by '\n'; may be empty

  // "file:line:column: error: message", without what is not known.
  std::string FirstLine() const;
};

class Diagnostics {
 public:
  static constexpr size_t kDefaultMaxErrors = 50;
  // After `max_errors` further ones are only counted, so whoever reports goes on to the end; what
  // only makes a message better, such as a guess, need not be computed once full() holds.
  explicit Diagnostics(size_t max_errors = kDefaultMaxErrors) : max_errors_(max_errors) {}

  // A source that is kept here is looked at from here.
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;

  // The text that locations refer to from here on. It is not copied and must outlive all calls of
  // Error; an empty text gives messages without source lines.
  void SetSource(std::string_view text, std::string_view file_name);
  // The same for a text that is kept here.
  std::string_view OwnSource(std::string text, std::string_view file_name);

  // `context` is shown below the source line, or in its place where there is none.
  void Error(Location loc, std::string message, std::string_view context = {});

  bool has_errors() const { return num_errors_ != 0; }
  size_t num_errors() const { return num_errors_; }
  bool full() const { return num_errors_ >= max_errors_; }
  std::span<const Diagnostic> errors() const { return errors_; }

  // Everything, as a tool prints it.
  std::string ToString() const;
  // OK, or the first error's first line (and how many more there are).
  absl::Status ToStatus() const;
  void Clear();
  // Puts the errors from number `first` on into the order of their places.
  void SortFrom(size_t first);

 private:
  std::string_view SourceLine(uint32_t line);

  size_t max_errors_;
  size_t num_errors_ = 0;
  std::vector<Diagnostic> errors_;
  std::string file_;
  std::string owned_;
  std::string_view text_;
  std::vector<size_t> line_starts_;  // filled by the first error
};

// The candidate that `word` is a likely misspelling of, or empty.
std::string_view Suggest(std::string_view word, std::span<const std::string_view> candidates);
// "; did you mean 'x'?", or empty. `sigil` stands before the candidate ("%", "@").
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates,
                       std::string_view sigil = {});

}  // namespace tg

#endif  // TG_IR_TEXT_DIAGNOSTIC_H_
