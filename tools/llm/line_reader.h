// The turns that a user types.
#ifndef TG_TOOLS_LLM_LINE_READER_H_
#define TG_TOOLS_LLM_LINE_READER_H_

#include <optional>
#include <string>

namespace tg {

// The next line of standard input, without its end. On a terminal it is edited, with the lines
// before as its history, behind a mark. None at the end of the input.
std::optional<std::string> ReadTurn();

}  // namespace tg

#endif  // TG_TOOLS_LLM_LINE_READER_H_
