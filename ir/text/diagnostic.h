// Diagnostics: collects errors of the parser and the verifier, so that one run shows all of them.
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

// `text` with each unprintable byte (control characters except tabs and line ends, and invalid
// UTF-8) as \xNN, so that it cannot control a terminal.
std::string Printable(std::string_view text);

struct Diagnostic {
  std::string file;     // empty if unknown
  Location loc;         // line 0 if unknown
  std::string message;  // a single line
  std::string snippet;  // lines that show the location, each ended by '\n'; may be empty

  // "file:line:column: error: message", without the parts that are unknown.
  std::string FirstLine() const;
};

class Diagnostics {
 public:
  static constexpr size_t kDefaultMaxErrors = 50;
  // Errors after the first `max_errors` are only counted, so the caller may continue to the end.
  // Once full() holds, work that only improves a message, such as a guess, may be skipped.
  explicit Diagnostics(size_t max_errors = kDefaultMaxErrors) : max_errors_(max_errors) {}

  // The kept source and the views of it are members of this object.
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;

  // Sets the text that later locations refer to. It is not copied and must outlive all calls of
  // Error. With an empty text, messages have no source lines.
  void SetSource(std::string_view text, std::string_view file_name);
  // The same for a text that this object owns.
  std::string_view OwnSource(std::string text, std::string_view file_name);

  // `context` is shown below the source line, or instead of it if there is none.
  void Error(Location loc, std::string message, std::string_view context = {});

  bool has_errors() const { return num_errors_ != 0; }
  size_t num_errors() const { return num_errors_; }
  bool full() const { return num_errors_ >= max_errors_; }
  std::span<const Diagnostic> errors() const { return errors_; }

  // All errors, as a tool prints them.
  std::string ToString() const;
  // OK, or the first line of the first error and the number of further errors.
  absl::Status ToStatus() const;
  void Clear();
  // Sorts the errors from number `first` on by location.
  void SortFrom(size_t first);

 private:
  std::string_view SourceLine(uint32_t line);

  size_t max_errors_;
  size_t num_errors_ = 0;
  std::vector<Diagnostic> errors_;
  std::string file_;
  std::string owned_;
  std::string_view text_;
  std::vector<size_t> line_starts_;  // filled at the first error
};

}  // namespace tg

#endif  // TG_IR_TEXT_DIAGNOSTIC_H_
