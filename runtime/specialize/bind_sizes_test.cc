#include "runtime/specialize/bind_sizes.h"

#include <gtest/gtest.h>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"

namespace tg::specialize {
namespace {

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ParseModule(text, "test.uop", diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
  return module;
}

TEST(BindSizes, ExtentsBecomeNumbers) {
  const std::unique_ptr<Module> module = Parse(R"(tg 1
module @m
var @h : [1, 8]
var @w : [1, 8]
buffer @x : f32[@h, @w] input
buffer @y : f32[floordiv(@h, 2), mul(@w, 2)] output
buffer @z : i32[@h] output

graph @main {
  %x = buffer @x : f32
  %h = var @h : index
  %w = var @w : index
  %2 = const 2 : index
  %half = floordiv %h, %2 : index
  %wide = mul %w, %2 : index
  %top = shrink %x {ranges = [(0, %half), (0, %w)]} : f32
  %padded = pad %top {widths = [(0, 0), (0, %w)]} : f32
  sink %padded -> @y
}

graph @other {
  %h = var @h : index
  %i = cast %h : i32
  %1 = reshape %i {shape = [1]} : i32
  %2 = expand %1 {shape = [%h]} : i32
  sink %2 -> @z
}
)");
  const auto bound = BindSizes(*module, "main", {{"h", 5}, {"w", 3}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_TRUE(VerifyModule(**bound).ok()) << VerifyModule(**bound);
  EXPECT_EQ(PrintModule(**bound), R"(tg 1
module @m
buffer @x : f32[5, 3] input
buffer @y : f32[2, 6] output
buffer @z : i32[5] output

graph @main {
  %x = buffer @x : f32
  %top = shrink %x {ranges = [(0, 2), (0, 3)]} : f32
  %padded = pad %top {widths = [(0, 0), (0, 3)]} : f32
  sink %padded -> @y
}
)");
  // A value that is computed from a size.
  const auto other = BindSizes(*module, "other", {{"h", 5}});
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE(VerifyModule(**other).ok()) << VerifyModule(**other);
  EXPECT_EQ((*other)->vars.size(), 1u);
  EXPECT_NE(PrintModule(**other).find("const 5 : index"), std::string::npos);
  // Without a value for each variable, extents stay expressions.
  const auto half = BindSizes(*module, "main", {{"w", 3}});
  ASSERT_TRUE(half.ok()) << half.status();
  ASSERT_TRUE(VerifyModule(**half).ok()) << VerifyModule(**half);
  EXPECT_NE(PrintModule(**half).find("buffer @y : f32[floordiv(@h, 2), 6] output"),
            std::string::npos)
      << PrintModule(**half);
}

// Extents of some variables are in the form in which shapes are computed, so that they are equal to
// those.
TEST(BindSizes, SomeVariables) {
  const std::unique_ptr<Module> module = Parse(R"(tg 1
module @m
var @n : [1, 8]
var @p : [0, 8]
buffer @x : f32[@n, 2] input
buffer @z : f32[@p, 2] input
buffer @y : f32[add(@n, @p), 2] output
buffer @w : f32[add(mul(@n, @p), @n), 2] output

graph @main {
  %x = buffer @x : f32
  %z = buffer @z : f32
  %n = var @n : index
  %p = var @p : index
  %t = add %n, %p : index
  %a = pad %x {widths = [(0, %p), (0, 0)]} : f32
  %b = pad %z {widths = [(%n, 0), (0, 0)]} : f32
  %c = add %a, %b : f32
  %d = reshape %c {shape = [1, %t, 2]} : f32
  %e = expand %d {shape = [3, %t, 2]} : f32
  %f = reduce_axis %e {op = add, axes = [0]} : f32
  %g = reshape %f {shape = [%t, 2]} : f32
  sink %g -> @y
}
)");
  for (const runtime::VarMap& vars : {runtime::VarMap{{"n", 1}}, {{"n", 3}}, {{"p", 0}}}) {
    const auto bound = BindSizes(*module, "main", vars);
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_TRUE(VerifyModule(**bound).ok()) << VerifyModule(**bound) << PrintModule(**bound);
  }
  const auto one = BindSizes(*module, "main", {{"n", 1}});
  EXPECT_NE(PrintModule(**one).find("@y : f32[add(@p, 1), 2]"), std::string::npos)
      << PrintModule(**one);
  EXPECT_NE(PrintModule(**one).find("@w : f32[add(@p, 1), 2]"), std::string::npos);
}

// A loop keeps its counter, and its body comes along.
TEST(BindSizes, LoopsKeepTheirCounter) {
  const std::unique_ptr<Module> module = Parse(R"(tg 1
module @m
var @n : [1, 8]
var @i : [0, 7]
buffer @x : f32[@n] input
buffer @a : f32[@n] temp
buffer @b : f32[@n] temp
buffer @y : f32[@n] output

graph @body {
  %a = buffer @a : f32
  %i = var @i : index
  %0 = cast %i : f32
  %1 = reshape %0 {shape = [1]} : f32
  %n = var @n : index
  %2 = expand %1 {shape = [%n]} : f32
  %3 = add %a, %2 : f32
  %b = buffer @b : f32
  %4 = assign %b, %3 : f32
  sink %4
}

graph @main {
  %n = var @n : index
  %i = var @i : index
  %x = buffer @x : f32
  %a = buffer @a : f32
  %0 = assign %a, %x : f32
  %b = buffer @b : f32
  %1 = repeat @body(%n, %i, %0, %b) {pairs = 1}
  %2 = assign %0, %1 : f32
  sink %2 -> @y
}
)");
  const auto bound = BindSizes(*module, "main", {{"n", 5}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_TRUE(VerifyModule(**bound).ok()) << VerifyModule(**bound);
  EXPECT_EQ((*bound)->vars.size(), 1u);
  const std::string text = PrintModule(**bound);
  EXPECT_NE(text.find("expand %1 {shape = [5]}"), std::string::npos) << text;
  EXPECT_EQ(text.find("@n"), std::string::npos) << text;
}

TEST(BindSizes, WhatAGraphAloneDoesNotSayIsRefused) {
  const std::unique_ptr<Module> module = Parse(R"(tg 1
module @m
var @n : [1, 8]
buffer @x : f32[@n] input
buffer @s : f32[1] state
buffer @y : f32[@n] output

graph @init {
  %c = const 1.0 : f32
  %0 = reshape %c {shape = [1]} : f32
  %s = buffer @s : f32
  %1 = assign %s, %0 : f32
  sink %1
}

graph @main {
  %x = buffer @x : f32
  sink %x -> @y
}
)");
  EXPECT_EQ(BindSizes(*module, "main", {{"n", 2}}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(BindSizes(*module, "none", {}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tg::specialize
