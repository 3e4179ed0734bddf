// Prints the token ids of texts, a line for each: the side of tg in comparisons of tokenizers.
//
//   encode VOCABULARY TEXTS [--pre=NAME] [--add-special] [--parse-special]
//
// Both files are as frontend/tokenizer/testing/vocabulary_text.h describes. A text that does not
// come back from its tokens is named on standard error, with --round-trip. --end-of-generation
// prints the tokens that end a turn instead.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/tokenizer/testing/vocabulary_text.h"
#include "frontend/tokenizer/tokenizer.h"

namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int Fail(const absl::Status& status) {
  std::cerr << status.message() << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> options(argv + std::min(argc, 3), argv + argc);
  const auto has = [&](std::string_view option) {
    return std::find(options.begin(), options.end(), option) != options.end();
  };
  if (argc < 3) return Fail(absl::InvalidArgumentError("encode VOCABULARY TEXTS [OPTIONS]"));
  auto data = tg::tokenizer::ParseVocabularyText(ReadFile(argv[1]));
  if (!data.ok()) return Fail(data.status());
  for (const std::string_view option : options) {
    if (option.substr(0, 6) == "--pre=") data->pre = std::string(option.substr(6));
  }
  const auto tokenizer = tg::tokenizer::MakeTokenizer(*std::move(data));
  if (!tokenizer.ok()) return Fail(tokenizer.status());
  const auto texts = tg::tokenizer::ParseStrings(ReadFile(argv[2]));
  if (!texts.ok()) return Fail(texts.status());
  if (has("--end-of-generation")) {
    for (const tg::tokenizer::TokenId token : (*tokenizer)->end_of_generation())
      std::cout << token << " ";
    std::cout << "\n";
    return 0;
  }
  size_t lost = 0;
  for (const std::string& text : *texts) {
    const std::vector<tg::tokenizer::TokenId> ids =
        (*tokenizer)
            ->Encode(text, {.parse_special = has("--parse-special"),
                            .add_special = has("--add-special")});
    std::string line;
    for (const tg::tokenizer::TokenId id : ids) line += std::to_string(id) + " ";
    if (!line.empty()) line.pop_back();
    std::puts(line.c_str());
    if (has("--round-trip") && (*tokenizer)->DecodeAll(ids, has("--parse-special")) != text) {
      ++lost;
      std::cerr << "line " << (&text - texts->data()) + 1 << " does not come back\n";
    }
  }
  return lost == 0 ? 0 : 1;
}
