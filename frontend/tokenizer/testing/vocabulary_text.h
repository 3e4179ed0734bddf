// Vocabularies and texts as lines of text, for tests and for comparing with other tokenizers.
//
// A vocabulary has a line for each field, token and merge:
//
//     model gpt2
//     pre smollm
//     eos_id 2
//     token 1 0 "Hello"         type, score, spelling
//     merge "H e"
//
// Strings are quoted, with the escapes \n, \r, \t, \\, \" and \xAB; other characters are UTF-8.
#ifndef TG_FRONTEND_TOKENIZER_TESTING_VOCABULARY_TEXT_H_
#define TG_FRONTEND_TOKENIZER_TESTING_VOCABULARY_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/tokenizer/tokenizer.h"

namespace tg::tokenizer {

// InvalidArgument with the number of the line.
absl::StatusOr<TokenizerData> ParseVocabularyText(std::string_view text);

// The strings of a file with one on each line.
absl::StatusOr<std::vector<std::string>> ParseStrings(std::string_view text);

// Nothing if `text` is not one quoted string.
std::optional<std::string> Unquote(std::string_view text);

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_TESTING_VOCABULARY_TEXT_H_
