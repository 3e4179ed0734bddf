// Splits a template into text and the tokens between its braces. White space around blocks is
// removed as by Jinja's options trim_blocks and lstrip_blocks, which chat templates rely on.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_LEXER_H_
#define TG_FRONTEND_TOKENIZER_JINJA_LEXER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::jinja {

enum class TokenKind {
  kText,         // between blocks
  kBeginOutput,  // {{
  kEndOutput,    // }}
  kBeginBlock,   // {%
  kEndBlock,     // %}
  kName,
  kString,   // `text` is what it means
  kInteger,  // `text` has digits alone
  kFloat,
  kOperator,
  kEnd,  // of the template
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  size_t position = 0;  // in the template
};

// The template with line ends as \n, without the last one, as Jinja reads it.
std::string NormalizeLines(std::string_view text);

// `text`: as NormalizeLines gives it. The last token is kEnd. InvalidArgument with the place.
absl::StatusOr<std::vector<Token>> Lex(std::string_view text);

// InvalidArgument "line 3, column 7: message"; columns count bytes, from 1.
absl::Status ErrorAt(std::string_view text, size_t position, std::string_view message);

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_LEXER_H_
