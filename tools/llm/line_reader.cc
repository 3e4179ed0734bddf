#include "tools/llm/line_reader.h"

#include <editline/readline.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <iostream>

namespace tg::llm {

std::optional<std::string> ReadTurn() {
  if (::isatty(STDIN_FILENO) == 0) {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  // Characters of several bytes are edited as one.
  static const char* locale = std::setlocale(LC_CTYPE, "");
  (void)locale;
  char* typed = ::readline("> ");
  if (typed == nullptr) return std::nullopt;
  std::string line = typed;
  if (!line.empty()) ::add_history(typed);
  std::free(typed);
  return line;
}

}  // namespace tg::llm
