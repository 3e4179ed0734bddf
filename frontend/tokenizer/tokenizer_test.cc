// Compares ids with llama.cpp's on the same vocabularies, and tests what these do not cover: bytes,
// limits, errors.
#include "frontend/tokenizer/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/testing/vocabulary_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::tokenizer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFolder[] = "frontend/tokenizer/testdata/";

std::string ReadFile(const std::string& name) {
  std::ifstream file(absl::StrCat(kFolder, name), std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TokenizerData ReadVocabulary(const std::string& name) {
  auto data = ParseVocabularyText(ReadFile(name));
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? *std::move(data) : TokenizerData();
}

std::unique_ptr<Tokenizer> Make(TokenizerData data) {
  auto tokenizer = MakeTokenizer(std::move(data));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

std::string Error(TokenizerData data) {
  const auto tokenizer = MakeTokenizer(std::move(data));
  EXPECT_FALSE(tokenizer.ok());
  return std::string(tokenizer.status().message());
}

// --- Equal to llama.cpp ---

class EqualIds : public ::testing::TestWithParam<std::string> {};

// The file of expected ids begins with its vocabulary and the fields that differ from the file's.
TEST_P(EqualIds, OfEachText) {
  const auto texts = ParseStrings(ReadFile("texts.txt"));
  ASSERT_TRUE(texts.ok()) << texts.status();
  std::istringstream expected(ReadFile(absl::StrCat("ids/", GetParam())));
  std::string vocabulary, fields, line;
  std::getline(expected, vocabulary);
  std::getline(expected, fields);
  std::replace(fields.begin(), fields.end(), ';', '\n');
  auto data = ParseVocabularyText(absl::StrCat(ReadFile(vocabulary), fields, "\n"));
  ASSERT_TRUE(data.ok()) << data.status();
  TokenizerData numbered = *data;
  ASSERT_EQ(NumberMerges(numbered), absl::OkStatus());
  EXPECT_EQ(numbered.merges.empty(), data->merges.empty() || data->model == "gpt2");
  EXPECT_EQ(numbered.numbered_merges.size(), data->model == "gpt2" ? 3 * data->merges.size() : 0);
  const auto tokenizer = Make(*std::move(data)), of_numbers = Make(std::move(numbered));
  ASSERT_NE(tokenizer, nullptr);
  ASSERT_NE(of_numbers, nullptr);
  size_t count = 0;
  for (const std::string& text : *texts) {
    ASSERT_TRUE(std::getline(expected, line)) << "too few ids";
    std::istringstream numbers(line);
    const std::vector<TokenId> ids{std::istream_iterator<TokenId>(numbers), {}};
    for (const Tokenizer* each : {tokenizer.get(), of_numbers.get()}) {
      EXPECT_EQ(each->Encode(text, {.parse_special = true, .add_special = true}), ids) << text;
    }
    count += ids.size();
  }
  EXPECT_GT(count, 1000u);
  EXPECT_FALSE(std::getline(expected, line)) << "too many ids";
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, EqualIds,
                         ::testing::Values("default", "deepseek-coder", "deepseek-v3", "falcon",
                                           "gpt-2", "gpt-4o", "llama-bpe", "qwen2", "smollm",
                                           "tekken", "viking", "spm", "spm-no-prefix", "spm-phi3",
                                           "wpm", "wpm-cased"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// --- Bytes ---

std::string RandomBytes(std::mt19937& random, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
  return bytes;
}

TEST(Tokenizer, AnyBytesComeBack) {
  std::mt19937 random(1);
  for (const char* name : {"bpe.txt", "spm.txt"}) {
    const auto tokenizer = Make(ReadVocabulary(name));
    for (int i = 0; i < 2000; ++i) {
      const std::string bytes = RandomBytes(random, random() % 50);
      for (const bool special : {false, true}) {
        const auto ids = tokenizer->Encode(bytes, special);
        EXPECT_EQ(tokenizer->DecodeAll(ids, special), bytes) << name;
      }
    }
  }
}

TEST(Tokenizer, PiecesAreTheBytesOfATextInOrder) {
  const auto tokenizer = Make(ReadVocabulary("bpe.txt"));
  const std::string text = "Zürich 東京 👍🏽";
  std::string pieces;
  for (const TokenId id : tokenizer->Encode(text, false)) pieces += tokenizer->Decode(id);
  EXPECT_EQ(pieces, text);
}

// A merge that looked at all pairs anew would take hours.
TEST(Tokenizer, LongTextsTakeLittleTime) {
  const std::string words = [] {
    std::string text;
    while (text.size() < 300'000) text += "The quick brown fox. ";
    return text;
  }();
  for (const char* name : {"bpe.txt", "spm.txt", "wpm.txt"}) {
    const auto tokenizer = Make(ReadVocabulary(name));
    for (const std::string& text :
         {words, std::string(300'000, 'a'), std::string(300'000, ' '), std::string(100'000, '\xFF'),
          std::string(300'000, '\n'), std::string(100'000, '<')}) {
      const auto ids = tokenizer->Encode(text, true);
      const bool is_word_piece = name[0] == 'w';
      EXPECT_TRUE(is_word_piece || tokenizer->DecodeAll(ids) == text);
    }
  }
}

TEST(Tokenizer, EmptyTextIsNothing) {
  for (const char* name : {"bpe.txt", "spm.txt", "wpm.txt"}) {
    const auto tokenizer = Make(ReadVocabulary(name));
    EXPECT_THAT(tokenizer->Encode("", true), ElementsAre());
    EXPECT_EQ(tokenizer->DecodeAll({}), "");
  }
}

// --- Special tokens ---

// One token for each character, and those of `more`.
TokenizerData Letters(std::vector<std::pair<std::string, TokenType>> more) {
  TokenizerData data{.model = "llama"};
  const auto add = [&data](std::string spelling, TokenType type) {
    data.tokens.push_back(std::move(spelling));
    data.token_types.push_back(static_cast<int32_t>(type));
  };
  add("<unk>", TokenType::kUnknown);
  add("<s>", TokenType::kControl);
  add("</s>", TokenType::kControl);
  for (auto& [spelling, type] : more) add(std::move(spelling), type);
  for (const char c : std::string("abcdef<>|")) add(std::string(1, c), TokenType::kNormal);
  data.add_space_prefix = false;
  return data;
}

std::vector<std::string> Spellings(const Tokenizer& tokenizer, std::string_view text,
                                   bool special) {
  std::vector<std::string> spellings;
  for (const TokenId id : tokenizer.Encode(text, special)) {
    spellings.emplace_back(tokenizer.Spelling(id));
  }
  return spellings;
}

TEST(SpecialTokens, ControlTokensAreTextUnlessParsed) {
  const auto tokenizer =
      Make(Letters({{"<a>", TokenType::kControl}, {"<b>", TokenType::kUserDefined}}));
  EXPECT_THAT(Spellings(*tokenizer, "c<a><b>", false), ElementsAre("c", "<", "a", ">", "<b>"));
  EXPECT_THAT(Spellings(*tokenizer, "c<a><b>", true), ElementsAre("c", "<a>", "<b>"));
}

TEST(SpecialTokens, TheLongestOneIsTaken) {
  const auto tokenizer = Make(Letters({{"abc", TokenType::kUserDefined},
                                       {"cdef", TokenType::kUserDefined},
                                       {"de", TokenType::kUserDefined}}));
  EXPECT_THAT(Spellings(*tokenizer, "abcdef", true), ElementsAre("a", "b", "cdef"));
  EXPECT_THAT(Spellings(*tokenizer, "abcde", true), ElementsAre("abc", "de"));
  EXPECT_THAT(Spellings(*tokenizer, "abcabcabc", true), ElementsAre("abc", "abc", "abc"));
}

TEST(SpecialTokens, ControlTokensPrintNothing) {
  const auto tokenizer = Make(Letters({{"<a>", TokenType::kControl}}));
  const auto ids = tokenizer->Encode("b<a>c", true);
  EXPECT_EQ(tokenizer->DecodeAll(ids), "bc");
  EXPECT_EQ(tokenizer->DecodeAll(ids, true), "b<a>c");
}

TEST(SpecialTokens, WhatEndsATurn) {
  TokenizerData data = Letters({{"<|im_end|>", TokenType::kNormal},
                                {"<|call|>", TokenType::kControl},
                                {"<x>", TokenType::kControl}});
  data.eot_id = 5;
  const auto tokenizer = Make(std::move(data));
  EXPECT_THAT(tokenizer->end_of_generation(), ElementsAre(2, 3, 4, 5));
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(3));
  EXPECT_FALSE(tokenizer->IsEndOfGeneration(1));
  EXPECT_EQ(tokenizer->Type(3), TokenType::kControl);
}

TEST(SpecialTokens, BeginningAndEndAreAddedWhereAsked) {
  TokenizerData data = Letters({});
  data.add_eos = true;
  const auto tokenizer = Make(std::move(data));
  EXPECT_THAT(tokenizer->Encode("a", {.add_special = true}), ElementsAre(1, 3, 2));
  EXPECT_THAT(tokenizer->Encode("a", false), ElementsAre(3));
  EXPECT_TRUE(tokenizer->adds_bos());
}

// --- Errors ---

TEST(TokenizerErrors, NameTheKey) {
  const TokenizerData good = Letters({});
  const struct {
    void (*change)(TokenizerData&);
    const char* error;
  } cases[] = {
      {[](TokenizerData& d) { d.model = ""; }, "the file has no tokenizer.ggml.model"},
      {[](TokenizerData& d) { d.model = "t5"; }, "tokenizer.ggml.model is 't5'; known are"},
      {[](TokenizerData& d) { d.model = "gpt2"; }, "the file has no tokenizer.ggml.merges"},
      {[](TokenizerData& d) {
         d.model = "gpt2";
         d.pre = "nosuch";
       },
       "tokenizer.ggml.pre is 'nosuch', which is not known"},
      {[](TokenizerData& d) {
         d.model = "gpt2";
         d.merges = {"a b", "ab"};
       },
       "tokenizer.ggml.merges: merge 1, 'ab', is not two symbols"},
      {[](TokenizerData& d) {
         d.model = "gpt2";
         d.numbered_merges = {3, 4};
       },
       "2 numbers of merges are not three of each"},
      {[](TokenizerData& d) { d.tokens.clear(); }, "tokenizer.ggml.tokens has 0 tokens"},
      {[](TokenizerData& d) { d.tokens[4] = "a"; }, "tokens 3 and 4 are both 'a'"},
      {[](TokenizerData& d) { d.token_types.pop_back(); },
       "tokenizer.ggml.token_type has 11 values for 12 tokens"},
      {[](TokenizerData& d) { d.scores = {1}; },
       "tokenizer.ggml.scores has 1 values for 12 tokens"},
      {[](TokenizerData& d) {
         d.scores.assign(12, 0);
         d.scores[5] = std::nanf("");
       },
       "tokenizer.ggml.scores: that of token 5 is NaN"},
      {[](TokenizerData& d) { d.bos_id = 12; },
       "tokenizer.ggml.bos_token_id is 12, but there are 12 tokens"},
      {[](TokenizerData& d) { d.eos_id = -1; }, "tokenizer.ggml.eos_token_id is -1"},
      {[](TokenizerData& d) {
         d.model = "bert";
         d.add_eos = true;
       },
       "tokenizer.ggml.add_eos_token is true, but there is no tokenizer.ggml.eos_token_id"},
  };
  for (const auto& row : cases) {
    TokenizerData data = good;
    row.change(data);
    EXPECT_THAT(Error(std::move(data)), HasSubstr(row.error));
  }
}

TEST(TokenizerErrors, BytesWithoutATokenAreLeftOutOrUnknown) {
  const auto tokenizer = Make(Letters({}));
  EXPECT_THAT(tokenizer->Encode("az", false), ElementsAre(3, 0));
  EXPECT_EQ(tokenizer->DecodeAll(tokenizer->Encode("az", false)), "a");
}

}  // namespace
}  // namespace tg::tokenizer
