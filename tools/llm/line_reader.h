// The turns that a user types.
#ifndef TG_TOOLS_LLM_LINE_READER_H_
#define TG_TOOLS_LLM_LINE_READER_H_

#include <optional>
#include <string>

namespace tg::llm {

// Returns the next line of standard input, without its line end. On a terminal it shows a prompt,
// and the line can be edited, with the previous lines as history. Returns nullopt at the end of the
// input.
std::optional<std::string> ReadTurn();

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_LINE_READER_H_
