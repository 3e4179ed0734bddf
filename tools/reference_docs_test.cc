// Checks that the pages in docs/ match the tables.
#include "tools/reference_docs.h"

#include "gtest/gtest.h"
#include "ir/text/parser.h"

namespace tg::tools {
namespace {

TEST(ReferenceDocs, Ops) {
  const auto page = ReadTextFile("docs/ops.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page, OpsPage()) << "run: tg-docs ops > docs/ops.md";
}

TEST(ReferenceDocs, Verifier) {
  const auto page = ReadTextFile("docs/verifier.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page, VerifierPage()) << "run: tg-docs verifier > docs/verifier.md";
}

TEST(ReferenceDocs, Onnx) {
  const auto page = ReadTextFile("docs/onnx.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page, OnnxPage()) << "run: tg-docs onnx > docs/onnx.md";
}

TEST(ReferenceDocs, Targets) {
  const auto page = ReadTextFile("docs/targets.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page, TargetsPage()) << "run: tg-docs targets > docs/targets.md";
}

TEST(ReferenceDocs, Accuracy) {
  const auto page = ReadTextFile("docs/accuracy.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page, AccuracyPage()) << "run: tg-docs accuracy > docs/accuracy.md";
}

}  // namespace
}  // namespace tg::tools
