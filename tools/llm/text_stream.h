// Releases the text that a model generates in parts that can be shown: whole characters, and
// nothing that may be the beginning of a text at which the model is to stop.
#ifndef TG_TOOLS_LLM_TEXT_STREAM_H_
#define TG_TOOLS_LLM_TEXT_STREAM_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tg::llm {

class TextStream {
 public:
  // Empty stops are ignored.
  explicit TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // Adds bytes; returns what can be shown now. Bytes that are no UTF-8 become U+FFFD.
  std::string Add(std::string_view bytes);
  // What is left, where the text ends without a stop.
  std::string Finish();
  // Whether a stop was met. What was added since is lost.
  bool is_stopped() const { return is_stopped_; }

 private:
  // Takes bytes up to `end` from the front, as valid UTF-8.
  std::string Take(size_t end);

  const std::vector<std::string> stops_;
  std::string pending_;
  bool is_stopped_ = false;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_TEXT_STREAM_H_
