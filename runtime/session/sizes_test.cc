// Shapes that are expressions of variables: one compile serves all sizes.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/session/session_testing.h"

namespace tg::runtime {
namespace {

INSTANTIATE_TEST_SUITE_P(Both, SessionTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "Reference" : "Device");
});

// A network that halves a picture and doubles it again: the sum has the picture's shape only if @h
// is even.
constexpr char kHalves[] = R"(tg 1
module @m
var @h : [2, 8]
var @w : [2, 8]
buffer @x : f32[@h, @w] input
buffer @y : f32[floordiv(@h, 2), mul(@w, 2)] output
buffer @z : f32[@h, @w] output

graph @main {
  %x = buffer @x : f32
  %h = var @h : index
  %w = var @w : index
  %2 = const 2 : index
  %half = floordiv %h, %2 : index
  %whole = mul %half, %2 : index
  %wide = mul %w, %2 : index
  %top = shrink %x {ranges = [(0, %half), (0, %w)]} : f32
  %column = reshape %top {shape = [%half, %w, 1]} : f32
  %pairs = expand %column {shape = [%half, %w, 2]} : f32
  %doubled = reshape %pairs {shape = [%half, %wide]} : f32
  %row = reshape %top {shape = [%half, 1, %w]} : f32
  %rows = expand %row {shape = [%half, 2, %w]} : f32
  %up = reshape %rows {shape = [%whole, %w]} : f32
  %sum = add %x, %up : f32
  sink %doubled -> @y, %sum -> @z
}
)";

// Results in the caller's memory, whose size follows from what FormOf says.
TEST_P(SessionTest, ResultsInMemoryOfTheCaller) {
  ASSERT_OK(Open(kHalves));
  std::vector<float> y(12), more(13);
  const auto bytes_of = [](std::vector<float>& values) {
    return std::as_writable_bytes(std::span(values));
  };
  EXPECT_EQ(Message(session_->FormOf("y").status()), "@y has no contents yet");
  EXPECT_EQ(Message(session_->GetInto("y", bytes_of(y))), "@y has no contents yet");
  ASSERT_OK(session_->Set("x", Floats({4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})));
  ASSERT_OK(session_->Run());
  const absl::StatusOr<TypeShape> form = session_->FormOf("y");
  ASSERT_OK(form.status());
  EXPECT_EQ(form->type, ElementType::kF32);
  EXPECT_EQ(form->shape, (std::vector<int64_t>{2, 6}));
  ASSERT_OK(session_->GetInto("y", bytes_of(y)));
  EXPECT_EQ(y, (std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}));
  EXPECT_EQ(Message(session_->GetInto("y", bytes_of(more))), "@y is f32[2, 6], not of 52 bytes");
}

TEST_P(SessionTest, OutputShapesAreExpressionsOfVariables) {
  ASSERT_OK(Open(kHalves));
  for (const auto& [h, w] : {std::pair<int64_t, int64_t>{4, 3}, {8, 8}, {2, 5}}) {
    std::vector<float> x, y, z;
    for (int64_t i = 0; i < h * w; ++i) x.push_back(static_cast<float>(i * i));
    const auto at = [&](int64_t r, int64_t c) { return x[static_cast<size_t>(r * w + c)]; };
    for (int64_t i = 0; i < h / 2 * 2 * w; ++i) y.push_back(at(i / (2 * w), i % (2 * w) / 2));
    for (int64_t i = 0; i < h * w; ++i) z.push_back(at(i / w, i % w) + at(i / w / 2, i % w));
    ASSERT_OK(session_->Set("x", Floats({h, w}, x)));
    ASSERT_OK(session_->Run());
    EXPECT_EQ(session_->Get("y")->shape, (std::vector<int64_t>{h / 2, 2 * w}));
    EXPECT_EQ(Get("y"), y);
    EXPECT_EQ(Get("z"), z);
  }
}

TEST_P(SessionTest, SizesThatDoNotFitAreRefused) {
  ASSERT_OK(Open(kHalves));
  ASSERT_OK(session_->Set("x", Floats({5, 2}, std::vector<float>(10))));
  const std::string message = Message(session_->Run());
  if (GetParam()) {
    EXPECT_NE(message.find("%sum"), std::string::npos) << message;
  } else {
    EXPECT_EQ(
        message,
        "the sizes do not fit: add %sum at line 24, column 10: @h and mul(floordiv(@h, 2), 2) "
        "must be equal; they are 5 and 4 with @h = 5");
  }
}

// The extent of @z is checked when @x has given @n its value.
TEST_P(SessionTest, InputsMayHaveExpressionsAsShapes) {
  ASSERT_OK(Open(R"(tg 1
module @m
var @n : [1, 6]
buffer @z : f32[mul(@n, 2)] input
buffer @x : f32[@n] input
buffer @y : f32[@n, 2] output

graph @main {
  %z = buffer @z : f32
  %x = buffer @x : f32
  %n = var @n : index
  %0 = reshape %z {shape = [%n, 2]} : f32
  %1 = reshape %x {shape = [%n, 1]} : f32
  %2 = expand %1 {shape = [%n, 2]} : f32
  %3 = add %0, %2 : f32
  sink %3 -> @y
}
)"));
  ASSERT_OK(session_->Set("z", Floats({6}, {1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(Message(session_->Run()), "graph @main needs what is not given: input @x (f32[@n])");
  ASSERT_OK(session_->Set("x", Floats({3}, {10, 20, 30})));
  ASSERT_OK(session_->Run());
  EXPECT_EQ(Get("y"), (std::vector<float>{11, 12, 23, 24, 35, 36}));
  ASSERT_OK(session_->Set("x", Floats({2}, {10, 20})));
  EXPECT_EQ(
      Message(session_->Run()),
      "buffer @z is f32[mul(@n, 2)] and @n = 2, so that mul(@n, 2) is 4; it cannot be f32[6]");
}

// At the greatest @n, the temporary has more bytes than any device.
constexpr char kWide[] = R"(tg 1
module @m
var @n : [1, 16777216]
buffer @x : f32[@n] input
buffer @y : f32[@n] output

graph @main {
  %x = buffer @x : f32
  %n = var @n : index
  %0 = reshape %x {shape = [%n, 1]} : f32
  %1 = expand %0 {shape = [%n, 1048576]} : f32
  %2 = contiguous %1 : f32
  %3 = reduce_axis %2 {op = max, axes = [1]} : f32
  %4 = reshape %3 {shape = [%n]} : f32
  sink %4 -> @y
}
)";

TEST_P(SessionTest, BuffersHaveTheSizesOfARunWhereTheGreatestDoNotFit) {
  ASSERT_OK(Open(kWide));
  for (const int64_t n : {2, 3, 1, 2}) {
    std::vector<float> x;
    for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(10 * n + i));
    ASSERT_OK(session_->Set("x", Floats({n}, x)));
    ASSERT_OK(session_->Run());
    EXPECT_EQ(Get("y"), x);
  }
  if (GetParam()) return;
  const auto& device = static_cast<const DeviceSession&>(*session_);
  EXPECT_LE(device.memory().peak_total_bytes, size_t{40} << 20);

  ASSERT_OK(session_->Set("x", Floats({16777216}, std::vector<float>(16777216))));
  const absl::Status status = session_->Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  const std::string message = Message(status);
  EXPECT_EQ(message.find("graph @main needs 70.4 TB of memory (70.4 TB of it for temporaries) on "),
            0u)
      << message;
  EXPECT_NE(message.find("; it was compiled for @n from 1 to 16777216 and has 16777216"),
            std::string::npos)
      << message;
  ASSERT_OK(session_->Set("x", Floats({1}, {7})));
  ASSERT_OK(session_->Run());
  EXPECT_EQ(Get("y"), std::vector<float>{7});
}

// A run checks only the requirements on variables that its graph uses.
TEST_P(SessionTest, RequirementsOfAnotherGraph) {
  ASSERT_OK(Open(R"(tg 1
module @m
var @n : [1, 8]
var @at : [0, 7]
buffer @x : f32[@n] input
buffer @state : f32[8] state
buffer @y : f32[1] output

graph @write {
  %state = buffer @state : f32
  %at = var @at : index
  %n = var @n : index
  %end = add %at, %n : index
  %place = shrink %state {ranges = [(%at, %end)]} : f32
  %x = buffer @x : f32
  %0 = assign %place, %x : f32
  sink %0
}

graph @read {
  %state = buffer @state : f32
  %at = var @at : index
  %one = const 1 : index
  %end = add %at, %one : index
  %0 = shrink %state {ranges = [(%at, %end)]} : f32
  sink %0 -> @y
}
)"));
  ASSERT_OK(session_->Set("x", Floats({6}, {1, 2, 3, 4, 5, 6})));
  ASSERT_OK(session_->SetVar("at", 2));
  ASSERT_OK(session_->Run("write"));
  // With 6 elements at 7, @write would end outside of the state.
  ASSERT_OK(session_->SetVar("at", 7));
  EXPECT_FALSE(session_->Run("write").ok());
  ASSERT_OK(session_->Run("read"));
  EXPECT_EQ(Get("y"), std::vector<float>{6});
}

}  // namespace
}  // namespace tg::runtime
