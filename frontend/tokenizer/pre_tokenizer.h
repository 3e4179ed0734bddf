// Splits text into words, inside of which a byte-pair vocabulary merges symbols, by the regular
// expressions with which the model was trained.
#ifndef TG_FRONTEND_TOKENIZER_PRE_TOKENIZER_H_
#define TG_FRONTEND_TOKENIZER_PRE_TOKENIZER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tg::tokenizer {

// A row of the table of pre-tokenizers.
struct PreTokenizerRow {
  std::string_view name;  // a value of tokenizer.ggml.pre
  // Each pattern splits the words that the patterns before it produced into its matches and the
  // text between them. The syntax is that of PCRE; \s and \S refer to Unicode's white space.
  std::span<const std::string_view> patterns;
  bool ignores_merges = false;  // a word that is a token is that token, whatever merges say
  bool adds_bos = false;        // unless the file says otherwise
};

// Null if the table has no such row.
const PreTokenizerRow* FindPreTokenizer(std::string_view name);
// All rows.
std::span<const PreTokenizerRow> PreTokenizers();
// The row for a file without tokenizer.ggml.pre, by its general.architecture.
const PreTokenizerRow& PreTokenizerFor(std::string_view architecture);

class Pattern;

// Immutable.
class PreTokenizer {
 public:
  explicit PreTokenizer(const PreTokenizerRow& row);
  ~PreTokenizer();

  // The words of a text, which may contain any bytes. The words are in order, none of them is
  // empty, and together they are the text. A byte that is not UTF-8 counts as U+FFFD.
  std::vector<std::string_view> Split(std::string_view text) const;

 private:
  std::vector<std::unique_ptr<const Pattern>> patterns_;
};

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_PRE_TOKENIZER_H_
