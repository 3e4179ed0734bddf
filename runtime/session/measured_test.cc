// Sizes that depend on data: variables that a run measures.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/session_testing.h"

namespace tg::runtime {
namespace {

INSTANTIATE_TEST_SUITE_P(Both, SessionTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "Reference" : "Device");
});

// @n is the number of elements of @x that are not 0, and @m that of the first @n elements above 4.
constexpr char kMeasured[] = R"(tg 1
module @m
var @n : [0, 6]
var @m : [0, 6]
buffer @x : f32[8] input
buffer @n.count : i64[] temp
buffer @m.count : i32[] temp
buffer @y : f32[@n] output
buffer @z : f32[@m, 2] output
buffer @sum : f32[1] output

graph @main {
  %x = buffer @x : f32
  %zero = const 0.0 : f32
  %on = cmpne %x, %zero : bool
  %one = cast %on : i64
  %counted = reduce_axis %one {op = add, axes = [0]} : i64
  %n.number = reshape %counted {shape = []} : i64
  %n.buffer = buffer @n.count : i64
  %n.count = assign %n.buffer, %n.number : i64
  %n = var @n : index
  %0 = bind %n, %n.count : index
  %two = const 2.0 : f32
  %double = mul %x, %two : f32
  %y = shrink %double {ranges = [(0, %n)]} : f32
  %s = reduce_axis %y {op = add, axes = [0]} : f32
  %four = const 4.0 : f32
  %head = shrink %x {ranges = [(0, %n)]} : f32
  %great = cmplt %four, %head : bool
  %greats = cast %great : i32
  %1 = reduce_axis %greats {op = add, axes = [0]} : i32
  %m.number = reshape %1 {shape = []} : i32
  %m.buffer = buffer @m.count : i32
  %m.count = assign %m.buffer, %m.number : i32
  %m = var @m : index
  %2 = bind %m, %m.count : index
  %3 = shrink %x {ranges = [(0, %m)]} : f32
  %4 = reshape %3 {shape = [%m, 1]} : f32
  %z = expand %4 {shape = [%m, 2]} : f32
  sink %y -> @y, %z -> @z, %s -> @sum, %0, %2
}
)";

TEST_P(SessionTest, OutputsHaveTheSizeThatTheRunFinds) {
  ASSERT_OK(Open(kMeasured));
  const auto run = [&](const std::vector<float>& x) -> absl::Status {
    TG_RETURN_IF_ERROR(session_->Set("x", Floats({8}, x)));
    return session_->Run();
  };
  const auto expect = [&](const std::vector<float>& y, const std::vector<float>& z, float sum) {
    const absl::StatusOr<HostTensor> first = session_->Get("y"), second = session_->Get("z");
    ASSERT_OK(first.status());
    ASSERT_OK(second.status());
    EXPECT_EQ(first->shape, (std::vector<int64_t>{static_cast<int64_t>(y.size())}));
    EXPECT_EQ(Values(*first), y);
    EXPECT_EQ(second->shape, (std::vector<int64_t>{static_cast<int64_t>(z.size()) / 2, 2}));
    EXPECT_EQ(Values(*second), z);
    EXPECT_EQ(Values(*session_->Get("sum")), std::vector<float>{sum});
  };
  ASSERT_OK(run({1, 5, 6, 0, 0, 0, 0, 9}));
  expect({2, 10, 12, 0}, {1, 1, 5, 5}, 24);
  // The same run again, with other contents.
  ASSERT_OK(run({0, 0, 0, 0, 0, 0, 7, 0}));
  expect({0}, {}, 0);
  ASSERT_OK(run({0, 0, 0, 0, 0, 0, 0, 0}));
  expect({}, {}, 0);
  ASSERT_OK(run({5, 6, 7, 8, 9, 10, 0, 0}));
  expect({10, 12, 14, 16, 18, 20}, {5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10}, 90);
  const std::string why = Message(run({1, 2, 3, 4, 5, 6, 7, 8}));
  const std::string_view end =
      "size @n, which depends on data, is 8 in this run; it is at most 6 (option --max)";
  EXPECT_TRUE(why.ends_with(end)) << why;
  ASSERT_OK(run({1, 0, 0, 0, 0, 0, 0, 0}));
  expect({2}, {}, 2);
}

}  // namespace
}  // namespace tg::runtime
