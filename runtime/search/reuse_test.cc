// What a model has cold, and graphs that use copies of it by turns.
#include "runtime/search/reuse.h"

#include <gtest/gtest.h>

#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"

namespace tg::search {
namespace {

using Steps = std::vector<std::vector<Extent>>;

TEST(ReuseDistances, CountDistinctBytesSinceTheLastUse) {
  const int block[2] = {};
  const auto at = [&](size_t first, size_t end) { return Extent{&block[0], first, end}; };
  const Extent weight = {&block[1], 0, 1000};
  // Step 1 reads the weight and what step 0 wrote; step 3 writes where step 1 did.
  const Steps steps = {{at(0, 100)},
                       {at(0, 100), weight, at(100, 150)},
                       {at(100, 150), at(100, 160)},
                       {at(120, 150)}};
  EXPECT_EQ(ReuseDistances(steps, 1), (std::vector<double>{0, 160, 100}));
  EXPECT_EQ(ReuseDistances(steps, 0), (std::vector<double>{60}));
  // Alone it finds everything where it left it.
  EXPECT_EQ(ReuseDistances({{weight, at(0, 8)}}, 0), (std::vector<double>{0, 0}));
}

TEST(ReuseDistances, LittleOfABufferIsNoUse) {
  const int block = 0;
  const Steps steps = {{{&block, 0, 100}}, {{&block, 0, 40}}, {{&block, 200, 300}}};
  EXPECT_EQ(ReuseDistances(steps, 0), (std::vector<double>{140}));
}

TEST(CopiesOf, FillTheCachesThatTheModelFills) {
  passes::Target target;
  target.near_cache_bytes = 1 << 10;
  target.shared_cache_bytes = 1 << 20;
  target.cache_slack = 1.5;
  target.bytes_per_second = 1e9;
  const double kilobytes = 1024;
  const auto copies = [&](std::vector<BufferReuse> reuse, double seconds = 1e-6) {
    return CopiesOf(reuse, seconds, target);
  };
  // 1.5 MB are more than the last cache keeps, however far the last use was.
  EXPECT_EQ(copies({{"w", 96 * kilobytes, 1e9}, {"x", 4 * kilobytes, 512}}),
            (CopyCounts{{"w", 16}}));
  EXPECT_EQ(copies({{"w", 96 * kilobytes, 200 * kilobytes}}), (CopyCounts{{"w", 3}}));
  EXPECT_EQ(copies({{"w", 60 * kilobytes, 1e9}, {"v", 4 * kilobytes, 100 * kilobytes}}),
            (CopyCounts{{"v", 2}, {"w", 24}}));
  // A buffer that is larger than the caches is never in them.
  EXPECT_EQ(copies({{"w", 2048 * kilobytes, 1e9}}), CopyCounts());
  EXPECT_EQ(copies({{"w", 64, 1e9}}).at("w"), 64);
  // Where memory is a small part of the time, the kernel computes.
  EXPECT_EQ(copies({{"w", 96 * kilobytes, 1e9}}, 1), CopyCounts());
}

TEST(RotateBuffers, CallsAreWithCopiesByTurns) {
  Diagnostics diagnostics;
  const auto module = ParseModule(R"(tg 1
module @m
buffer @w : f32[8] param = file("w.bin", 0)
buffer @x : f32[8] param = file("w.bin", 32)
buffer @w_copy1 : f32[8] param = file("w.bin", 0)
buffer @y : f32[8] state

graph @main {
  %y = buffer @y : f32
  %w = buffer @w : f32
  %x = buffer @x : f32
  %0 = kernel @k(%y, %w, %x)
  %1 = assign %y, %0 : f32
  sink %1
}

kernel @k : kernel {axes = [i0:8 global]} {
  %0 = define_global {arg = 0} : ptr<f32, 8>
  %1 = define_global {arg = 1} : ptr<f32, 8>
  %2 = load %1 : f32
  %3 = define_global {arg = 2} : ptr<f32, 8>
  %4 = load %3 : f32
  %5 = add %2, %4 : f32
  %6 = store %0, %5
  sink %6
}
)",
                                  "m", diagnostics);
  ASSERT_TRUE(module != nullptr) << diagnostics.ToString();
  const auto names = RotateBuffers(*module, {{"w", 3}, {"x", 2}, {"none", 2}});
  EXPECT_EQ(names, (std::map<std::string, std::vector<std::string>>{{"w", {"w_copy1_", "w_copy2"}},
                                                                    {"x", {"x_copy1"}}}));
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module);
  // A copy of a parameter is a state, since parameters of one file may share memory.
  EXPECT_EQ(module->FindBuffer("w_copy2")->role, Role::kState);
  EXPECT_EQ(module->FindBuffer("w_copy2")->file, "w.bin");
  EXPECT_EQ(*module->FindBuffer("x_copy1")->offset, 32);
  const std::string text = PrintModule(*module);
  EXPECT_NE(text.find(R"(
  %0 = kernel @k(%y, %w, %x)
  %1 = assign %y, %0 : f32
)"),
            std::string::npos)
      << text;
  const auto calls = [&](const std::string& word) {
    size_t count = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(calls("= kernel @k("), 3u) << text;
  EXPECT_EQ(calls("= assign "), 3u) << text;
  EXPECT_EQ(calls("sink %"), 2u) << text;
}

}  // namespace
}  // namespace tg::search
