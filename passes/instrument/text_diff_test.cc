#include "passes/instrument/text_diff.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace tg::instrument {
namespace {

std::string Diff(std::string_view a, std::string_view b, int context = 3) {
  DiffOptions options;
  options.context = context;
  return UnifiedDiff(a, b, options);
}

TEST(TextDiff, EqualTextsHaveNoDiff) { EXPECT_EQ(Diff("a\nb\n", "a\nb\n"), ""); }

TEST(TextDiff, OneLineChanges) {
  EXPECT_EQ(Diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- before\n+++ after\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(TextDiff, ChangesFarApartAreTwoHunks) {
  EXPECT_EQ(Diff("x\n1\n2\n3\ny\n", "1\n2\n3\nz\n", 1),
            "--- before\n+++ after\n@@ -1,2 +1 @@\n-x\n 1\n@@ -4,2 +3,2 @@\n 3\n-y\n+z\n");
}

TEST(TextDiff, EmptySideNamesLineZero) {
  EXPECT_EQ(Diff("", "a\n"), "--- before\n+++ after\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(Diff("a\nb\n", ""), "--- before\n+++ after\n@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST(TextDiff, Colors) {
  DiffOptions options;
  options.color = true;
  const std::string diff = UnifiedDiff("a\n", "b\n", options);
  EXPECT_NE(diff.find("\033[31m-a\033[0m\n"), std::string::npos) << diff;
  EXPECT_NE(diff.find("\033[32m+b\033[0m\n"), std::string::npos) << diff;
}

// Applies a diff to `before`, as patch does; checks every line that the diff claims to be there.
std::string Apply(const std::string& before, const std::string& diff) {
  llvm::SmallVector<llvm::StringRef, 0> a, lines;
  llvm::StringRef(before).drop_back(before.empty() ? 0 : 1).split(a, '\n');
  if (before.empty()) a.clear();
  llvm::StringRef(diff).split(lines, '\n');
  std::string out;
  size_t at = 0;
  for (size_t i = 2; i < lines.size(); ++i) {
    llvm::StringRef line = lines[i];
    if (line.consume_front("@@ -")) {
      size_t begin = 0, count = 1;
      EXPECT_FALSE(line.consumeInteger(10, begin));
      if (line.consume_front(",")) {
        EXPECT_FALSE(line.consumeInteger(10, count));
      }
      const size_t to = count == 0 ? begin : begin - 1;
      EXPECT_LE(at, to);
      while (at < to) out += a[at++].str() + "\n";
    } else if (line.consume_front("+")) {
      out += line.str() + "\n";
    } else if (!line.empty()) {
      EXPECT_LT(at, a.size());
      EXPECT_EQ(a[at].str(), line.drop_front().str());
      if (line[0] == ' ') out += a[at].str() + "\n";
      ++at;
    }
  }
  while (at < a.size()) out += a[at++].str() + "\n";
  return out;
}

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The least number of insertions and deletions, by dynamic programming.
size_t LeastEdits(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = a[i - 1] == b[j - 1] ? corner : 1 + std::min(up, row[j - 1]);
      corner = up;
    }
  }
  return row[b.size()];
}

size_t Edits(const std::string& diff) {
  llvm::SmallVector<llvm::StringRef, 0> lines;
  llvm::StringRef(diff).split(lines, '\n');
  size_t edits = 0;
  for (size_t i = 2; i < lines.size(); ++i) {
    edits += !lines[i].empty() && (lines[i][0] == '+' || lines[i][0] == '-');
  }
  return edits;
}

TEST(TextDiff, RandomTextsPatchBackAndSmallDiffsAreShortest) {
  std::mt19937 random(1);
  for (int run = 0; run < 300; ++run) {
    const int alphabet = 1 + static_cast<int>(random() % 12);
    std::vector<std::string> a(random() % 40), b(random() % 40);
    for (auto* lines : {&a, &b}) {
      for (std::string& line : *lines) line = "l" + std::to_string(random() % alphabet);
    }
    for (int context = 0; context < 3; ++context) {
      const std::string diff = Diff(Join(a), Join(b), context);
      ASSERT_EQ(Apply(Join(a), diff), Join(b)) << diff;
      ASSERT_EQ(Edits(diff), LeastEdits(a, b)) << diff;
    }
  }
}

TEST(TextDiff, LargeTextsPatchBack) {
  std::mt19937 random(2);
  for (int run = 0; run < 8; ++run) {
    // Mostly unique lines, some repeated; `b` drops, adds and moves some.
    std::vector<std::string> a;
    for (int i = 0; i < 30000; ++i) {
      a.push_back(random() % 4 ? "unique" + std::to_string(i) : std::to_string(random() % 50));
    }
    std::vector<std::string> b;
    for (const std::string& line : a) {
      if (random() % 100 < 3u * run) continue;
      if (random() % 100 < 3u * run) b.push_back("new" + std::to_string(random() % 1000));
      b.push_back(line);
    }
    std::rotate(b.begin(), b.begin() + 100, b.begin() + 500);
    const std::string diff = Diff(Join(a), Join(b));
    ASSERT_EQ(Apply(Join(a), diff), Join(b));
  }
}

TEST(TextDiff, TextsWithoutACommonLineAreReplaced) {
  std::vector<std::string> a, b;
  for (int i = 0; i < 20000; ++i) {
    a.push_back("a" + std::to_string(i % 100));
    b.push_back("b" + std::to_string(i % 100));
  }
  EXPECT_EQ(Edits(Diff(Join(a), Join(b))), 40000u);
}

}  // namespace
}  // namespace tg::instrument
