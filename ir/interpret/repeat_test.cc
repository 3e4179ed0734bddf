#include "ir/interpret/test_util.h"

namespace tg::interpret {
namespace {

// Runs until the sum is at least 20 or four times; each iteration's sum goes to a row.
constexpr char kRepeat[] = R"(tg 1
module @t
var @i : [0, 3]
buffer @x : i32[1] input
buffer @go : bool[1] temp
buffer @go2 : bool[1] temp
buffer @a : i32[1] temp
buffer @b : i32[1] temp
buffer @rows : i32[4] temp
buffer @y : i32[5] output
graph @step {
  %a = buffer @a : i32
  %x = buffer @x : i32
  %0 = add %a, %x : i32
  %b = buffer @b : i32
  %1 = assign %b, %0 : i32
  %twenty = const 20 : i32
  %go = cmplt %0, %twenty : bool
  %go2 = buffer @go2 : bool
  %2 = assign %go2, %go : bool
  %rows = buffer @rows : i32
  %i = var @i : index
  %one = const 1 : index
  %i1 = add %i, %one : index
  %row = shrink %rows {ranges = [(%i, %i1)]} : i32
  %3 = assign %row, %0 : i32
  sink %1, %2, %3
}
graph @main {
  %n = const 4 : index
  %i = var @i : index
  %yes = const true : bool
  %0 = reshape %yes {shape = [1]} : bool
  %go = buffer @go : bool
  %1 = assign %go, %0 : bool
  %zero = const 0 : i32
  %2 = reshape %zero {shape = [1]} : i32
  %a = buffer @a : i32
  %3 = assign %a, %2 : i32
  %go2 = buffer @go2 : bool
  %b = buffer @b : i32
  %4 = expand %2 {shape = [4]} : i32
  %rows = buffer @rows : i32
  %5 = assign %rows, %4 : i32
  %6 = repeat @step(%n, %i, %1, %go2, %3, %b, %5) {pairs = 2, writes = 1, condition = true}
  %7 = assign %1, %6 : bool
  %8 = assign %3, %6 : i32
  %9 = assign %5, %6 : i32
  %10 = pad %8 {widths = [(0, 4)]} : i32
  %11 = pad %9 {widths = [(1, 0)]} : i32
  %r = add %10, %11 : i32
  %12 = after %r, %7 : i32
  sink %12 -> @y
}
)";

TEST(Repeat, EndsWhereItsConditionSays) {
  EXPECT_EQ(RunY(kRepeat, {{"x", I32({1}, {1})}}), (Numbers{4, 1, 2, 3, 4}));
  EXPECT_EQ(RunY(kRepeat, {{"x", I32({1}, {11})}}), (Numbers{22, 11, 22, 0, 0}));
}

// What the second buffer of a pair had is gone when the next iteration begins.
TEST(Repeat, ReadsNothingThatIsNotWritten) {
  std::string text = kRepeat;
  const std::string reads = "%0 = add %a, %x : i32\n  %b = buffer @b : i32\n";
  text.replace(text.find(reads), reads.size(),
               "%b = buffer @b : i32\n  %z = add %b, %x : i32\n  %0 = add %a, %z : i32\n");
  EXPECT_EQ(
      RunError(text, {{"x", I32({1}, {1})}}),
      "graph @main, line 46: repeat %#15: graph @step, line 15: add %z: element 0 of source 0 "
      "was never given a value (buffer @b)");
}

}  // namespace
}  // namespace tg::interpret
