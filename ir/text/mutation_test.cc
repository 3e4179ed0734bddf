// Runs parser_fuzz.cc on mutations of the corpus with fixed seeds, as the part of fuzzing that fits
// an ordinary test. Random bytes alone rarely get past the first line.
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tg {
namespace {

constexpr int kMutationsPerFile = 1500;

// Tokens of the format that replace others.
constexpr std::string_view kWords[] = {"%0",
                                       "%x",
                                       "@x",
                                       "@n",
                                       "f32",
                                       "indexx2",
                                       "ptr<f32, 8>",
                                       "ptr<f32, 4, local>x2",
                                       "void",
                                       "0",
                                       "-1",
                                       "1.5",
                                       "nan",
                                       "inf",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "281474976710656",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       "(",
                                       ")",
                                       ",",
                                       ":",
                                       "=",
                                       "->",
                                       "\"",
                                       "\n",
                                       "//",
                                       "add",
                                       "sink",
                                       "range",
                                       "end",
                                       "after",
                                       "load",
                                       "store",
                                       "index",
                                       "reshape",
                                       "reduce",
                                       "true",
                                       "shape = []",
                                       "%x, %x",
                                       "view",
                                       "carried",
                                       "loop @main",
                                       "if",
                                       "endif",
                                       "image<f16, 4, 8>",
                                       "\\",
                                       "\0",
                                       "linear"};

std::vector<std::string> Corpus() {
  std::vector<std::string> out;
  for (const char* folder : {"ir/text/corpus", "ir/text/errors"}) {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; it != end;
         it.increment(error)) {
      paths.push_back(it->path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      auto text = ReadTextFile(path);
      if (text.ok()) out.push_back(*std::move(text));
    }
  }
  return out;
}

class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, uint32_t seed)
      : corpus_(std::move(corpus)), random_(seed) {}

  std::string Mutate(std::string text) {
    for (size_t n = 1 + Below(4); n > 0; --n) Once(text);
    return text;
  }

 private:
  size_t Below(size_t n) { return n ? random_() % n : 0; }

  // A word of the text as the range [first, last).
  std::pair<size_t, size_t> Word(const std::string& text) {
    size_t first = Below(text.size());
    while (first > 0 && text[first - 1] != ' ' && text[first - 1] != '\n') --first;
    size_t last = first;
    while (last < text.size() && text[last] != ' ' && text[last] != '\n') ++last;
    return {first, last};
  }
  std::pair<size_t, size_t> Line(const std::string& text) {
    const size_t at = Below(text.size());
    const size_t first = text.rfind('\n', at ? at - 1 : 0);
    const size_t last = text.find('\n', at);
    return {first == std::string::npos ? 0 : first + 1,
            last == std::string::npos ? text.size() : last + 1};
  }

  void Once(std::string& text) {
    if (text.empty()) return;
    switch (Below(8)) {
      case 0:
        text[Below(text.size())] = static_cast<char>(Below(256));
        break;
      case 1:
        text.erase(Below(text.size()), 1 + Below(4));
        break;
      case 2: {
        const auto [first, last] = Word(text);
        text.replace(first, last - first, kWords[Below(std::size(kWords))]);
        break;
      }
      case 3: {  // copies a word from elsewhere
        const std::string& other = corpus_[Below(corpus_.size())];
        if (other.empty()) break;
        const auto [from, to] = Word(other);
        const auto [first, last] = Word(text);
        text.replace(first, last - first, other.substr(from, to - from));
        break;
      }
      case 4: {  // duplicates or removes a line
        const auto [first, last] = Line(text);
        if (last <= first) break;
        const std::string line = text.substr(first, last - first);
        if (Below(2)) {
          text.erase(first, last - first);
        } else {
          text.insert(Line(text).first, line);
        }
        break;
      }
      case 5: {  // copies a line from elsewhere
        const std::string& other = corpus_[Below(corpus_.size())];
        if (other.empty()) break;
        const auto [first, last] = Line(other);
        if (last > first) text.insert(Line(text).first, other.substr(first, last - first));
        break;
      }
      case 6:
        text.insert(Below(text.size()), kWords[Below(std::size(kWords))]);
        break;
      default:
        text.resize(Below(text.size()) + 1);
        break;
    }
  }

  std::vector<std::string> corpus_;
  std::mt19937 random_;
};

TEST(Mutations, AreRefusedOrReadAndPrinted) {
  const std::vector<std::string> corpus = Corpus();
  ASSERT_FALSE(corpus.empty());
  Mutator mutator(corpus, 7);
  for (const std::string& text : corpus) {
    // Small error programs get fewer mutations than long programs.
    const int runs = std::min<int>(kMutationsPerFile, 20 + static_cast<int>(text.size()));
    for (int i = 0; i < runs; ++i) {
      const std::string mutant = mutator.Mutate(text);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(mutant.data()), mutant.size());
    }
  }
}

}  // namespace
}  // namespace tg
