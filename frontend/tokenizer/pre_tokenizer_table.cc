// The regular expressions for each value of tokenizer.ggml.pre. Letters outside of ASCII count as
// both upper and lower case, as in llama.cpp.
#include <algorithm>
#include <iterator>

#include "frontend/tokenizer/pre_tokenizer.h"

namespace tg::tokenizer {
namespace {

#define TG_CONTRACTION R"('[sStTmMdD]|'[rR][eE]|'[vV][eE]|'[lL][lL])"
#define TG_WORD R"([^\r\n\p{L}\p{N}]?\p{L}+)"
#define TG_PUNCTUATION R"( ?[^\s\p{L}\p{N}]+[\r\n]*)"
#define TG_BLANK R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
// A word whose capitals come first: HelloWorld is two.
#define TG_CAPITALS R"([^\P{L}a-z])"
#define TG_SMALL R"([^\P{L}A-Z])"
#define TG_PREFIX R"([^\r\n\p{L}\p{N}]?)"
#define TG_CAMEL(suffix) \
  TG_PREFIX TG_CAPITALS "*" TG_SMALL "+" suffix "|" TG_PREFIX TG_CAPITALS "+" TG_SMALL "*" suffix

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
constexpr std::string_view kThreeAsciiDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kThreeDigits = R"(\p{N}{1,3})";
constexpr std::string_view kClause = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kLlama3 =
    TG_CONTRACTION "|" TG_WORD R"(|\p{N}{1,3}|)" TG_PUNCTUATION "|" TG_BLANK;
constexpr std::string_view kQwen2 =
    TG_CONTRACTION "|" TG_WORD R"(|\p{N}|)" TG_PUNCTUATION "|" TG_BLANK;
constexpr std::string_view kKanaOrHan = R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr std::string_view kDeepSeek3 =
    R"([!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" TG_BLANK;

constexpr std::string_view kDefaultPatterns[] = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, R"(\p{N}+)",
                                                 kThreeAsciiDigits};
constexpr std::string_view kFalconPatterns[] = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2,
                                                kThreeAsciiDigits};
constexpr std::string_view kGpt2Patterns[] = {kGpt2};
constexpr std::string_view kDigitPatterns[] = {kDigit, kGpt2};
constexpr std::string_view kLlama3Patterns[] = {kLlama3};
constexpr std::string_view kQwen2Patterns[] = {kQwen2};
constexpr std::string_view kQwen35Patterns[] = {
    TG_CONTRACTION
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" TG_BLANK};
constexpr std::string_view kTekkenPatterns[] = {
    TG_CAMEL("") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" TG_BLANK};
constexpr std::string_view kGpt4oPatterns[] = {
    TG_CAMEL("(?:" TG_CONTRACTION ")?") R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" TG_BLANK};
constexpr std::string_view kDeepSeek3Patterns[] = {kThreeDigits, kKanaOrHan, kDeepSeek3};
constexpr std::string_view kDeepSeekCoderPatterns[] = {
    R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
    R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", kDigit};
constexpr std::string_view kClausePatterns[] = {kClause};
constexpr std::string_view kVikingPatterns[] = {kClause, kDigit};
constexpr std::string_view kBailingPatterns[] = {
    TG_CONTRACTION "|" TG_WORD R"(|\p{N}|)" TG_PUNCTUATION R"(|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr std::string_view kSeedCoderPatterns[] = {
    TG_CONTRACTION "|" TG_WORD R"(|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|)" TG_BLANK};
constexpr std::string_view kMiniCpm5Patterns[] = {
    kThreeDigits, TG_CONTRACTION "|" TG_WORD R"(|\p{N}+|)" TG_PUNCTUATION "|" TG_BLANK};

#undef TG_CONTRACTION
#undef TG_WORD
#undef TG_PUNCTUATION
#undef TG_BLANK
#undef TG_CAPITALS
#undef TG_SMALL
#undef TG_PREFIX
#undef TG_CAMEL

constexpr PreTokenizerRow kRows[] = {
    {"a.x-4.0", kGpt2Patterns},
    {"bailingmoe", kBailingPatterns},
    {"bailingmoe2", kBailingPatterns},
    {"bloom", kClausePatterns},
    {"chatglm-bpe", kLlama3Patterns},
    {"codeshell", kDigitPatterns},
    {"command-r", kDigitPatterns},
    {"dbrx", kLlama3Patterns},
    {"deepseek-coder", kDeepSeekCoderPatterns},
    {"deepseek-r1-qwen", kQwen2Patterns},
    {"deepseek-v3", kDeepSeek3Patterns},
    {"default", kDefaultPatterns},
    {"exaone", kDigitPatterns},
    {"exaone4", kGpt2Patterns},
    {"falcon", kFalconPatterns},
    {"falcon-h1", kLlama3Patterns, true, true},
    {"falcon3", kLlama3Patterns, true, true},
    {"gigachat", kGpt2Patterns},
    {"glm4", kLlama3Patterns},
    {"gpt-2", kGpt2Patterns},
    {"gpt-4o", kGpt4oPatterns},
    {"gpt3-finnish", kClausePatterns},
    {"granite-docling", kGpt2Patterns},
    {"grok-2", kQwen2Patterns},
    {"hunyuan", kQwen2Patterns},
    {"hunyuan-dense", kDeepSeek3Patterns},
    {"jais", kGpt2Patterns},
    {"kanana2", kGpt4oPatterns},
    {"lfm2", kLlama3Patterns, true, true},
    {"llada-moe", kBailingPatterns},
    {"llama-bpe", kLlama3Patterns, true, true},
    {"llama-v3", kLlama3Patterns, true, true},
    {"llama3", kLlama3Patterns, true, true},
    {"llama4", kGpt4oPatterns},
    {"megrez", kQwen2Patterns},
    {"mellum", kGpt2Patterns},
    {"midm-2.0", kLlama3Patterns, true, true},
    {"minerva-7b", kDigitPatterns},
    {"minicpm5", kMiniCpm5Patterns, true},
    {"minimax-m2", kGpt4oPatterns},
    {"mpt", kGpt2Patterns},
    {"olmo", kGpt2Patterns},
    {"phi-2", kGpt2Patterns},
    {"pixtral", kLlama3Patterns, true, true},
    {"poro-chat", kClausePatterns},
    {"qwen2", kQwen2Patterns},
    {"qwen35", kQwen35Patterns},
    {"refact", kDigitPatterns},
    {"seed-coder", kSeedCoderPatterns},
    {"smaug-bpe", kLlama3Patterns},
    {"smollm", kDigitPatterns},
    {"solar-open", kQwen2Patterns},
    {"stablelm2", kQwen2Patterns},
    {"starcoder", kDigitPatterns},
    {"tekken", kTekkenPatterns, true, true},
    {"trillion", kGpt2Patterns},
    {"viking", kVikingPatterns},
};

}  // namespace

const PreTokenizerRow* FindPreTokenizer(std::string_view name) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [name](const PreTokenizerRow& r) { return r.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

std::span<const PreTokenizerRow> PreTokenizers() { return kRows; }

const PreTokenizerRow& PreTokenizerFor(std::string_view architecture) {
  const bool is_qwen = architecture.substr(0, 4) == "qwen";
  const std::string_view name = is_qwen                   ? "qwen2"
                                : architecture == "llama" ? "llama-bpe"
                                                          : "default";
  return *FindPreTokenizer(name);
}

}  // namespace tg::tokenizer
