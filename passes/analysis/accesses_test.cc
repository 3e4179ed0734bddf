// How many combinations of indices and conditions are followed, counted: each link of a chain of
// shrinks and pads may double their number.
#include "passes/analysis/accesses.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text/parser.h"

namespace tg::analysis {
namespace {

// y[i] of 4 elements, made of `links` times x = pad(shrink(x)[0:1]) + pad(shrink(x)[1:4]).
std::unique_ptr<Module> Chain(int links, const std::string& start) {
  std::string text =
      "tg 1\nmodule @m\nkernel @k : kernel {} {\n"
      "  %y = define_global {arg = 0} : ptr<i32, 4>\n" +
      start;
  for (int i = 0; i < links; ++i) {
    const auto at = [&](const char* name, int n) { return "%" + (name + std::to_string(n)); };
    const auto line = [&](const char* name, const std::string& rest) {
      text += "  " + at(name, i) + " = " + rest + " : i32\n";
    };
    line("a", "shrink " + at("x", i) + " {ranges = [(0, 1)]}");
    line("b", "pad " + at("a", i) + " {widths = [(0, 3)]}");
    line("c", "shrink " + at("x", i) + " {ranges = [(1, 4)]}");
    line("d", "pad " + at("c", i) + " {widths = [(1, 0)]}");
    text += "  " + at("x", i + 1) + " = add " + at("b", i) + ", " + at("d", i) + " : i32\n";
  }
  text += "  %s = store %y, %x" + std::to_string(links) + "\n  sink %s\n}\n";
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ParseModule(text, "m.uop", diagnostics);
  EXPECT_NE(module, nullptr) << diagnostics.ToString();
  return module;
}

constexpr char kLoad[] = "  %p = define_global {arg = 1} : ptr<i32, 4>\n  %x0 = load %p : i32\n";
constexpr char kIota[] = "  %i = iota {size = 4} : index\n  %x0 = cast %i : i32\n";

struct Found {
  std::unique_ptr<Module> module;
  std::vector<Access> accesses;
  size_t nodes = 0;  // made on the way
};

// Nothing is simplified, so each path to the load is another index.
Found Find(std::unique_ptr<Module> module) {
  Body& body = module->kernels[0]->body;
  ShapeMap shapes(*module, *body.context);
  const std::vector<BaseAxis> axes = BaseAxes(*module, *module->kernels[0], shapes, body.Order());
  const size_t before = body.context->num_nodes();
  Found found;
  found.accesses = FindAccesses(body, axes, shapes, [](const UOp* u) { return u; });
  found.nodes = body.context->num_nodes() - before;
  found.module = std::move(module);
  return found;
}

bool IsKnown(const Access& a) { return a.stride[0].has_value(); }

TEST(Accesses, EachWayIsOneAccess) {
  const Found found = Find(Chain(2, kLoad));
  // The store, and four ways to the load.
  ASSERT_EQ(found.accesses.size(), 5u);
  for (const Access& a : found.accesses) {
    EXPECT_EQ(a.stride[0], 1);
    EXPECT_EQ(a.is_gated, !a.is_store());
    EXPECT_EQ(a.masked[0], !a.is_store());
    EXPECT_EQ(a.boundaries[0].at.empty(), a.is_store());
  }
}

TEST(Accesses, NodesMadeAreLinearInTheChain) {
  const Found short_chain = Find(Chain(20, kLoad)), long_chain = Find(Chain(200, kLoad));
  EXPECT_EQ(long_chain.accesses.size(), short_chain.accesses.size());
  // A shrink and a pad of each link make a few nodes for each place.
  EXPECT_LT(short_chain.nodes, 20 * 8 * kMaxPlacesPerNode);
  EXPECT_LT(long_chain.nodes, 200 * 8 * kMaxPlacesPerNode);
}

// Beyond the limit there is one more access, which may be any.
TEST(Accesses, WhatIsNotFollowedIsUnknown) {
  const Found found = Find(Chain(20, kLoad));
  EXPECT_EQ(found.accesses.size(), 1 + kMaxPlacesPerNode + 1);
  size_t unknown = 0;
  for (const Access& a : found.accesses) {
    if (IsKnown(a)) continue;
    ++unknown;
    EXPECT_TRUE(a.is_gated && a.masked[0] && a.boundaries[0].anywhere);
  }
  EXPECT_EQ(unknown, 1u);
}

TEST(Accesses, WhatReadsNothingIsNotFollowed) {
  const Found found = Find(Chain(200, kIota));
  EXPECT_EQ(found.accesses.size(), 1u);
  EXPECT_LT(found.nodes, 20u);
}

// y[i] = x[i] / sum over r of x[r], with x staged along the row.
constexpr char kStagedRow[] = R"(tg 1
module @m
kernel @k : kernel {} {
  %y = define_global {arg = 0} : ptr<f32, 32>
  %0 = reshape %y {shape = [4, 8]} : ptr<f32, 32>
  %x = define_global {arg = 1} : ptr<f32, 32>
  %1 = reshape %x {shape = [4, 8]} : ptr<f32, 32>
  %2 = load %1 : f32
  %3 = packed %2 : f32
  %4 = staged %3 : f32
  %5 = reduce_axis %4 {op = add, axes = [1]} : f32
  %6 = expand %5 {shape = [4, 8]} : f32
  %7 = div %4, %6 : f32
  %8 = store %0, %7
  sink %8
}
)";

TEST(Accesses, ReadsOfStagedValuesOnRequest) {
  Diagnostics diagnostics;
  const std::unique_ptr<Module> module = ParseModule(kStagedRow, "m.uop", diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  Body& body = module->kernels[0]->body;
  ShapeMap shapes(*module, *body.context);
  const std::vector<BaseAxis> axes = BaseAxes(*module, *module->kernels[0], shapes, body.Order());
  ASSERT_EQ(axes.size(), 4u);  // i0, i1, r0, s0
  const auto same = [](const UOp* u) { return u; };
  std::vector<std::vector<std::optional<int64_t>>> reads;
  size_t others = 0;
  for (const Access& a : FindAccesses(body, axes, shapes, same, /*with_staged=*/true)) {
    if (!a.is_staged()) {
      ++others;
      EXPECT_EQ(a.packed != nullptr, !a.is_store());
      continue;
    }
    EXPECT_EQ(a.slot, -1);
    reads.push_back(a.stride);
  }
  EXPECT_EQ(others, FindAccesses(body, axes, shapes, same).size());
  // The copy has a row at a time: one step along the results or the terms is one element.
  const std::vector<std::optional<int64_t>> of_result = {0, 1, 0, 0}, of_term = {0, 0, 1, 0};
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_NE(std::find(reads.begin(), reads.end(), of_result), reads.end());
  EXPECT_NE(std::find(reads.begin(), reads.end(), of_term), reads.end());
}

}  // namespace
}  // namespace tg::analysis
