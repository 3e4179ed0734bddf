// A template of the Jinja language, in the dialect that chat templates are written in: that of
// Python's jinja2 with trim_blocks, lstrip_blocks and loop controls.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_PROGRAM_H_
#define TG_FRONTEND_TOKENIZER_JINJA_PROGRAM_H_

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "frontend/tokenizer/jinja/syntax.h"
#include "frontend/tokenizer/jinja/value.h"

namespace tg::jinja {

// What one rendering may take. A conversation of a million tokens takes a small part of this.
struct Limits {
  uint64_t steps = 10'000'000;
  uint64_t bytes = uint64_t{256} << 20;  // of text that is made on the way
};

// Immutable.
class Program {
 public:
  // InvalidArgument with line and column: a syntax error, or a statement that is not supported.
  static absl::StatusOr<std::shared_ptr<const Program>> Parse(std::string_view text);

  // `variables`: a dictionary whose keys are strings. `now`: the time that strftime_now() prints,
  // in local time. Returns InvalidArgument, with line and column, if an expression has no value, or
  // if the limits of steps or memory are exceeded.
  absl::StatusOr<std::string> Render(const Value& variables, std::time_t now,
                                     const Limits& limits = {}) const;

  const std::string& text() const { return text_; }
  const Body& body() const { return body_; }

 private:
  std::string text_;  // positions of nodes are in it
  Body body_;
};

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_PROGRAM_H_
