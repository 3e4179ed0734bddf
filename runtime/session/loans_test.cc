// Tensors that a session uses in its caller's memory.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "runtime/session/open.h"

namespace tg::runtime {
namespace {

// The results of @main are sums of rows in reverse order, so that no result may take the place of
// an input. @count reads no input.
constexpr char kModel[] = R"(tg 1
module @model
var @n : [1, 96]
buffer @a : f32[@n, 64] input
buffer @b : f32[@n, 64] input
buffer @y : f32[@n, 64] output
buffer @z : f32[96, 64] output
buffer @count : f32[] state

graph @main {
  %a = buffer @a : f32
  %b = buffer @b : f32
  %0 = flip %a {axes = [0]} : f32
  %1 = add %0, %b : f32
  %c = const 2.0 : f32
  %2 = reshape %c {shape = [1, 1]} : f32
  %3 = expand %2 {shape = [96, 64]} : f32
  sink %1 -> @y, %3 -> @z
}

graph @count {
  %count = buffer @count : f32
  %one = const 1.0 : f32
  %0 = add %count, %one : f32
  sink %0 -> @count
}
)";

constexpr size_t kRow = 64;
using Values = std::vector<float>;

std::span<std::byte> BytesOf(Values& values) { return std::as_writable_bytes(std::span(values)); }

class LoansTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    std::unique_ptr<Module> module = ParseModule(kModel, "model.uop", diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    absl::StatusOr<std::unique_ptr<Session>> opened = OpenSession(std::move(module), GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status();
    session_ = *std::move(opened);
  }

  bool borrows() const { return std::string_view(GetParam()) == "native"; }
  Values Random(size_t rows) {
    Values values(rows * kRow);
    for (float& v : values) v = static_cast<float>(random_() % 1000);
    return values;
  }
  void Give(const char* name, Values& values, bool lend) {
    const int64_t shape[] = {static_cast<int64_t>(values.size() / kRow), kRow};
    const absl::Status status =
        lend ? session_->Lend(name, ElementType::kF32, shape, BytesOf(values))
             : session_->Set(name, ElementType::kF32, shape, BytesOf(values));
    ASSERT_TRUE(status.ok()) << status;
  }
  static Values Expected(const Values& a, const Values& b) {
    Values y(a.size());
    const size_t rows = a.size() / kRow;
    for (size_t i = 0; i < a.size(); ++i) {
      y[i] = a[(rows - 1 - i / kRow) * kRow + i % kRow] + b[i];
    }
    return y;
  }
  void ExpectRun(const char* graph = "main") {
    const absl::Status status = session_->Run(graph);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Reads y, as a caller does who may have lent its memory.
  void ExpectY(Values& memory, const Values& expected) {
    const absl::Status status =
        session_->GetInto("y", BytesOf(memory).first(expected.size() * sizeof(float)));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(Values(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(expected.size())),
              expected);
  }

  std::unique_ptr<Session> session_;
  std::mt19937 random_{1};
};

TEST_P(LoansTest, UsesMemoryWhereItIs) {
  Values a = Random(96), b = Random(96), y(96 * kRow);
  Give("a", a, true);
  Give("b", b, true);
  session_->LendOutput("main", "y", BytesOf(y));
  ExpectRun();
  // Before anything is read: the kernel has written here.
  EXPECT_EQ(y == Expected(a, b), borrows());
  ExpectY(y, Expected(a, b));
  session_->EndLoans();

  // What was only in the caller's memory is no longer there.
  const absl::Status run = session_->Run("main");
  EXPECT_EQ(run.ok(), !borrows());
  EXPECT_EQ(session_->Get("y").ok(), !borrows());
  if (borrows()) {
    EXPECT_EQ(run.message(),
              "graph @main needs what is not given: input @a (f32[@n, 64]), input @b "
              "(f32[@n, 64])");
    EXPECT_EQ(session_->Get("a").status().message(),
              "the contents of @a were in memory that was lent for a call");
  }
  ExpectRun("count");

  // Given again, they are.
  const Values a2 = a = Random(96);
  Give("a", a, false);
  Give("b", b, false);
  a.assign(a.size(), -1);
  ExpectRun();
  Values own(96 * kRow);
  ExpectY(own, Expected(a2, b));
}

TEST_P(LoansTest, CopiesWhatIsSmall) {
  Values a = Random(2), b = Random(2), y(96 * kRow);
  Give("a", a, true);
  Give("b", b, true);
  ExpectRun();
  session_->EndLoans();
  const Values expected = Expected(a, b);
  a.assign(a.size(), -1);
  ExpectRun();
  ExpectY(y, expected);
}

TEST_P(LoansTest, CopiesAResultThatLiesOverAnInput) {
  Values a = Random(96), b = Random(96);
  const Values expected = Expected(a, b);
  Give("a", a, true);
  Give("b", b, true);
  session_->LendOutput("main", "y", BytesOf(a));
  ExpectRun();
  ExpectY(a, expected);
  session_->EndLoans();
}

TEST_P(LoansTest, CopiesWhatIsTooSmallOrCrooked) {
  Values a = Random(96), b = Random(96), y(95 * kRow), z(96 * kRow);
  std::vector<std::byte> crooked(sizeof(float) * (96 * kRow + 1));
  std::memcpy(crooked.data() + 1, a.data(), a.size() * sizeof(float));
  const int64_t shape[] = {96, kRow};
  ASSERT_TRUE(session_
                  ->Lend("a", ElementType::kF32, shape,
                         std::span(crooked).subspan(1, a.size() * sizeof(float)))
                  .ok());
  Give("b", b, false);
  session_->LendOutput("main", "y", BytesOf(y));
  session_->LendOutput("count", "z", BytesOf(z));  // which @count does not write
  ExpectRun();
  EXPECT_EQ(y, Values(95 * kRow));
  EXPECT_EQ(z, Values(96 * kRow));
  session_->EndLoans();
  y.resize(96 * kRow);
  ExpectY(y, Expected(a, b));
}

// Any order of loans and copies, at changing sizes, some of which come often enough to be compiled.
TEST_P(LoansTest, AnyOrder) {
  Values a = Random(96), b = Random(96);
  Give("a", a, false);
  Give("b", b, false);
  bool has_a = true, has_b = true;
  for (int i = 0; i < 400; ++i) {
    const bool lend_a = random_() % 2 == 0, lend_b = random_() % 2 == 0;
    const bool resize = random_() % 4 == 0;
    const size_t rows = resize ? (random_() % 2 == 0 ? 96 : 1 + random_() % 96) : a.size() / kRow;
    Values next_a = Random(rows), next_b = Random(rows);
    if (resize || !has_a || random_() % 2 == 0) {
      a = next_a;
      Give("a", a, lend_a);
      has_a = !lend_a;
    }
    if (resize || !has_b || random_() % 2 == 0) {
      b = next_b;
      Give("b", b, lend_b);
      has_b = !lend_b;
    }
    Values y(96 * kRow), z(96 * kRow);
    if (random_() % 2 == 0) session_->LendOutput("main", "y", BytesOf(y));
    if (random_() % 2 == 0) session_->LendOutput("", "z", BytesOf(z));
    ExpectRun();
    ExpectY(y, Expected(a, b));
    ASSERT_TRUE(session_->GetInto("z", BytesOf(z)).ok());
    EXPECT_EQ(z, Values(96 * kRow, 2));
    session_->EndLoans();
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LoansTest, testing::Values("native", "pocl", "reference"));

}  // namespace
}  // namespace tg::runtime
