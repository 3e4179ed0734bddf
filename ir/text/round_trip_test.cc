// print(parse(text)) equals the text, for the corpus, random modules and large modules.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/text/printer.h"
#include "ir/text/random_module.h"
#include "ir/text/testing.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

namespace tg {
namespace {

constexpr char kCorpus[] = "ir/text/corpus";

std::vector<std::string> CorpusFiles() {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it(kCorpus, error), end; it != end;
       it.increment(error)) {
    out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(RoundTrip, CorpusIsItsOwnPrint) {
  const auto files = CorpusFiles();
  ASSERT_FALSE(files.empty());
  for (const std::string& path : files) {
    const auto text = ReadTextFile(path);
    ASSERT_TRUE(text.ok()) << path;
    const auto module = ParseOrFail(*text, path);
    ASSERT_TRUE(module) << path;
    EXPECT_EQ(PrintModule(*module), *text) << path;
    EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module).message();
    // A deep copy prints the same.
    EXPECT_EQ(PrintModule(*Clone(*module)), *text) << path;
  }
}

TEST(RoundTrip, CorpusHasEveryOp) {
  std::vector<bool> seen(kNumOps);
  for (const std::string& path : CorpusFiles()) {
    Diagnostics diags;
    const auto module = ReadModuleFile(path, diags);
    ASSERT_TRUE(module) << diags.ToString();
    const auto look = [&](const Body& body) {
      for (uint32_t i = 0; i < body.context->num_nodes(); ++i) {
        seen[static_cast<size_t>(body.context->node(i)->op)] = true;
      }
    };
    for (const auto& g : module->graphs) look(g->body);
    for (const auto& k : module->kernels) look(k->body);
  }
  for (int i = 0; i < kNumOps; ++i) {
    EXPECT_TRUE(seen[static_cast<size_t>(i)]) << Mnemonic(static_cast<Op>(i));
  }
}

// Compares structure, not text.
void ExpectSameBody(const Body& a, const Body& b) {
  const auto in_a = a.linear.empty() ? PostOrder(a.root) : a.linear;
  const auto in_b = b.linear.empty() ? PostOrder(b.root) : b.linear;
  ASSERT_EQ(in_a.size(), in_b.size());
  NodeMap<const UOp*> map;
  for (size_t i = 0; i < in_a.size(); ++i) map[in_a[i]] = in_b[i];
  for (size_t i = 0; i < in_a.size(); ++i) {
    const UOp* u = in_a[i];
    const UOp* v = in_b[i];
    ASSERT_EQ(u->op, v->op);
    ASSERT_EQ(u->dtype, v->dtype);
    ASSERT_EQ(u->num_srcs, v->num_srcs);
    for (size_t k = 0; k < u->num_srcs; ++k) ASSERT_EQ(map.Get(u->src(k)), v->src(k));
    ASSERT_EQ(b.context->ImportAttr(u->op, u->attr, *a.context), v->attr) << Mnemonic(u->op);
  }
}

TEST(RoundTrip, RandomModules) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const auto module = RandomModule(seed);
    const std::string text = PrintModule(*module);
    const auto again = ParseOrFail(text);
    ASSERT_TRUE(again) << "seed " << seed << "\n" << text;
    ASSERT_EQ(PrintModule(*again), text) << "seed " << seed;
    for (size_t i = 0; i < module->graphs.size(); ++i) {
      ExpectSameBody(module->graphs[i]->body, again->graphs[i]->body);
    }
    for (size_t i = 0; i < module->kernels.size(); ++i) {
      ExpectSameBody(module->kernels[i]->body, again->kernels[i]->body);
      EXPECT_EQ(module->kernels[i]->axes, again->kernels[i]->axes);
      EXPECT_EQ(module->kernels[i]->directives, again->kernels[i]->directives);
      EXPECT_EQ(module->kernels[i]->metadata, again->kernels[i]->metadata);
    }
    if (HasFatalFailure()) FAIL() << "seed " << seed << "\n" << text;
  }
}

// A chain of a million nodes: no function may recurse over sources.
TEST(RoundTrip, DeepChain) {
  constexpr int kDepth = 1'000'000;
  Module module;
  module.name = "chain";
  auto& graph = module.graphs.emplace_back(std::make_unique<Graph>());
  graph->name = "main";
  Builder b(*graph->body.context);
  const UOp* u = b.Const(kF32, 1.0);
  for (int i = 1; i < kDepth; ++i) u = b.Alu(Op::kNeg, {u});
  graph->body.root = b.Sink({&u, 1});
  const std::string text = PrintModule(module);
  const auto again = ParseOrFail(text);
  ASSERT_TRUE(again);
  Diagnostics diags;
  EXPECT_TRUE(VerifyModule(*again, diags)) << diags.ToString();
  EXPECT_EQ(PrintModule(*again), text);
}

}  // namespace
}  // namespace tg
