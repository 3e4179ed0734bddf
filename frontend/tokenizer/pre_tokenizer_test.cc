#include "frontend/tokenizer/pre_tokenizer.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::tokenizer {
namespace {

using ::testing::ElementsAreArray;

using Words = std::vector<std::string>;

Words Split(std::string_view name, std::string_view text) {
  const PreTokenizerRow* row = FindPreTokenizer(name);
  EXPECT_NE(row, nullptr) << name;
  Words words;
  for (const std::string_view word : PreTokenizer(*row).Split(text)) words.emplace_back(word);
  return words;
}

TEST(PreTokenizer, Words) {
  const struct {
    const char* name;
    const char* text;
    Words words;
  } cases[] = {
      {"gpt-2", "Hello world's  end", {"Hello", " world", "'s", " ", " end"}},
      {"gpt-2", "we'LL", {"we", "'", "LL"}},
      {"gpt-2", "a\n\n b", {"a", "\n\n", " b"}},
      {"gpt-2", "12345 67", {"12345", " 67"}},
      {"gpt-2", "x   ", {"x", "   "}},
      {"smollm", "a 123", {"a", " ", "1", "2", "3"}},
      {"llama-bpe", "we'LL see", {"we", "'LL", " see"}},
      {"llama-bpe", "12345", {"123", "45"}},
      {"llama-bpe", "a.b\n\n\n  c", {"a", ".b", "\n\n\n", " ", " c"}},
      {"llama-bpe", "(hi)\n!", {"(hi", ")\n", "!"}},
      {"qwen2", "12345", {"1", "2", "3", "4", "5"}},
      {"gpt-4o", "HelloWorld's", {"Hello", "World's"}},
      {"gpt-4o", "XMLHttp", {"XMLHttp"}},
      {"tekken", "a1b/\n/c", {"a", "1", "b", "/\n/", "c"}},
      {"deepseek-v3", "漢字kana1234", {"漢字", "kana", "123", "4"}},
      {"default", "a1234!b", {"a", "123", "4", "!", "b"}},
      {"bloom", "a, b", {"a", ",", " b"}},
      {"gpt-2", "\u00A0\u2003x\u180Ey", {"\u00A0", "\u2003", "x", "\u180E", "y"}},
  };
  for (const auto& row : cases) {
    EXPECT_THAT(Split(row.name, row.text), ElementsAreArray(row.words))
        << row.name << ": " << row.text;
  }
}

TEST(PreTokenizer, BytesThatAreNoUtf8AreSymbols) {
  EXPECT_THAT(Split("gpt-2", "a\xFF\xFE b\xC3"), ElementsAreArray({"a", "\xFF\xFE", " b", "\xC3"}));
  EXPECT_THAT(Split("gpt-2", "\xE2\x96x"), ElementsAreArray({"\xE2\x96", "x"}));
  // A surrogate.
  EXPECT_THAT(Split("gpt-2", "\xED\xA0\x80"), ElementsAreArray({"\xED\xA0\x80"}));
}

TEST(PreTokenizer, WordsTogetherAreTheText) {
  std::mt19937 random(1);
  for (const PreTokenizerRow& row : PreTokenizers()) {
    const PreTokenizer pre_tokenizer(row);
    for (int i = 0; i < 200; ++i) {
      std::string text;
      while (random() % 30 != 0) {
        text += random() % 2 == 0 ? static_cast<char>(random()) : "aB1 \n.'s"[random() % 8];
      }
      std::string together;
      for (const std::string_view word : pre_tokenizer.Split(text)) {
        EXPECT_FALSE(word.empty());
        together += word;
      }
      EXPECT_EQ(together, text) << row.name;
    }
  }
}

TEST(PreTokenizer, LongRunsAreWithinThePatternsLimits) {
  for (const PreTokenizerRow& row : PreTokenizers()) {
    const PreTokenizer pre_tokenizer(row);
    for (const char* part :
         {"a", "A", "\u00E9", " ", "\n", "\u3000", ".", "1", "\u4E00", "'s", " \n"}) {
      std::string text;
      while (text.size() < 200'000) text += part;
      size_t size = 0;
      for (const std::string_view word : pre_tokenizer.Split(text + "x")) size += word.size();
      EXPECT_EQ(size, text.size() + 1) << row.name;
    }
  }
}

TEST(PreTokenizer, FilesWithoutThatKey) {
  EXPECT_EQ(PreTokenizerFor("qwen2").name, "qwen2");
  EXPECT_EQ(PreTokenizerFor("qwen3moe").name, "qwen2");
  EXPECT_EQ(PreTokenizerFor("llama").name, "llama-bpe");
  EXPECT_EQ(PreTokenizerFor("starcoder2").name, "default");
  EXPECT_EQ(FindPreTokenizer("nosuch"), nullptr);
}

}  // namespace
}  // namespace tg::tokenizer
