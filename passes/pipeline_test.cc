#include "passes/pipeline.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tg::passes {
namespace {

constexpr Pass kMine = {"mine", "", {}, [](Module&, PassContext&) { return absl::OkStatus(); }};

// The rows of the table in README.md below `heading`, cell by cell.
std::vector<std::vector<std::string>> TableBelow(llvm::StringRef heading) {
  auto buffer = llvm::MemoryBuffer::getFile("passes/README.md");
  EXPECT_TRUE(buffer) << "passes/README.md";
  if (!buffer) return {};
  llvm::StringRef text = (*buffer)->getBuffer();
  text = text.substr(text.find(heading));
  std::vector<std::vector<std::string>> rows;
  llvm::SmallVector<llvm::StringRef, 0> lines;
  text.split(lines, '\n');
  size_t at = 0;
  while (at < lines.size() && !lines[at].consume_front("| --- ")) ++at;
  for (++at; at < lines.size() && lines[at].consume_front("| "); ++at) {
    llvm::SmallVector<llvm::StringRef, 4> cells;
    lines[at].split(cells, '|', -1, false);
    std::vector<std::string>& row = rows.emplace_back();
    for (const llvm::StringRef cell : cells) row.push_back(cell.trim().str());
  }
  return rows;
}

TEST(Pipeline, ReadmeListsItInOrder) {
  const auto rows = TableBelow("The default pipeline");
  ASSERT_EQ(rows.size(), kPipeline.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string name(kPipeline[i]->name);
    ASSERT_EQ(rows[i].size(), 3u);
    std::string folder = name;
    std::replace(folder.begin(), folder.end(), '-', '_');
    EXPECT_EQ(rows[i][0], "[" + name + "](" + folder + ")");
    EXPECT_EQ(rows[i][1], kPipeline[i]->doc);
  }
}

TEST(Pipeline, WhatRemainsFollowsTheLastPassThatRan) {
  EXPECT_EQ(RemainingPasses({}).size(), kPipeline.size());
  for (size_t i = 0; i < kPipeline.size(); ++i) {
    // Whatever else ran before and after.
    const Pipeline pipeline = {DefaultStep(*kPipeline[0]), DefaultStep(*kPipeline[i]),
                               DefaultStep(kMine)};
    const auto rest = RemainingPasses(pipeline);
    ASSERT_EQ(rest.size(), kPipeline.size() - i - 1);
    if (!rest.empty()) {
      EXPECT_EQ(rest[0], kPipeline[i + 1]);
    }
  }
}

TEST(Pipeline, EveryPassIsRegisteredOnce) {
  const PassRegistry registry = MakeRegistry();
  EXPECT_EQ(registry.passes().size(), kPipeline.size() + kOtherPasses.size());
  for (const Pass* pass : kPipeline) EXPECT_EQ(registry.Find(pass->name), pass);
}

TEST(Pipeline, TheEmbeddersPassesComeLast) {
  const Pass* const mine[] = {&kMine};
  const PassRegistry registry = MakeRegistry(mine);
  EXPECT_EQ(registry.passes().back(), &kMine);
}

TEST(Pipeline, DocsAreOneSentenceInOneForm) {
  const PassRegistry registry = MakeRegistry();
  for (const Pass* pass : registry.passes()) {
    ASSERT_FALSE(pass->doc.empty()) << pass->name;
    EXPECT_TRUE(pass->doc[0] >= 'a' && pass->doc[0] <= 'z') << pass->name << ": " << pass->doc;
    EXPECT_NE(pass->doc.back(), '.') << pass->name << ": " << pass->doc;
    for (const PassOption& option : pass->options) {
      EXPECT_FALSE(option.doc.empty()) << pass->name << ":" << option.name;
    }
  }
}

}  // namespace
}  // namespace tg::passes
