// Sessions that share kernels and weights.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "runtime/session/device_session.h"
#include "runtime/session/open.h"

namespace tg::runtime {
namespace {

// Two kernels, with a temporary between them; a param with contents and one without; a state.
constexpr char kModel[] = R"(tg 1
module @model
buffer @x : f32[64] input
buffer @w : f32[4] param = [1.0, 2.0, 3.0, 4.0]
buffer @bias : f32[] param
buffer @count : f32[] state
buffer @y : f32[4] output

graph @main {
  %x = buffer @x : f32
  %0 = reduce_axis %x {op = add, axes = [0]} : f32
  %count = buffer @count : f32
  %one = const 1.0 : f32
  %next = add %count, %one : f32
  %w = buffer @w : f32
  %1 = expand %0 {shape = [4]} : f32
  %2 = mul %1, %w : f32
  %bias = buffer @bias : f32
  %3 = add %bias, %next : f32
  %4 = reshape %3 {shape = [1]} : f32
  %5 = expand %4 {shape = [4]} : f32
  %6 = add %2, %5 : f32
  sink %6 -> @y, %next -> @count
}
)";

HostTensor Filled(std::vector<int64_t> shape, float value) {
  HostTensor tensor = *MakeHostTensor(ElementType::kF32, std::move(shape));
  for (size_t i = 0; i < tensor.data.size(); i += 4) {
    std::memcpy(&tensor.data[i], &value, sizeof value);
  }
  return tensor;
}

class SiblingTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    std::unique_ptr<Module> module = ParseModule(kModel, "model.uop", diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    absl::StatusOr<std::unique_ptr<Session>> opened = OpenSession(std::move(module), GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status();
    session_ = *std::move(opened);
  }

  static absl::Status Give(Session& session, float x, float bias) {
    const absl::Status status = session.Set("x", Filled({64}, x));
    return status.ok() ? session.Set("bias", Filled({}, bias)) : status;
  }
  static std::vector<float> Get(Session& session, const char* name) {
    const absl::StatusOr<HostTensor> tensor = session.Get(name);
    if (!tensor.ok()) return {};
    std::vector<float> values(tensor->data.size() / 4);
    std::memcpy(values.data(), tensor->data.data(), tensor->data.size());
    return values;
  }
  // The memory of a buffer in the last run.
  static const Memory* MemoryOf(const Session& session, const char* name) {
    const auto& device = static_cast<const DeviceSession&>(session);
    const auto& buffers = device.executable().buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].name == name)
        return &device.last_plan()->buffer(static_cast<int>(i))->memory();
    }
    return nullptr;
  }

  std::unique_ptr<Session> session_;
};

using Values = std::vector<float>;

TEST_P(SiblingTest, SharesWhatTheModuleDefinesAlone) {
  ASSERT_TRUE(Give(*session_, 1, 100).ok());
  ASSERT_TRUE(session_->Run().ok());
  auto made = session_->NewSibling();
  ASSERT_TRUE(made.ok()) << made.status();
  Session& sibling = **made;
  EXPECT_EQ(sibling.Run().message(),
            "graph @main needs what is not given: input @x (f32[64]), param @bias (f32[])");
  ASSERT_TRUE(Give(sibling, 2, 200).ok());
  ASSERT_TRUE(sibling.Run().ok());
  EXPECT_EQ(Get(sibling, "y"), (Values{329, 457, 585, 713}));
  EXPECT_EQ(Get(sibling, "count"), Values{1});
  ASSERT_TRUE(session_->Run().ok());
  EXPECT_EQ(Get(*session_, "y"), (Values{166, 230, 294, 358}));
  EXPECT_EQ(Get(*session_, "count"), Values{2});
  if (GetParam() == std::string_view("reference")) return;
  EXPECT_EQ(MemoryOf(sibling, "w"), MemoryOf(*session_, "w"));
  for (const char* own : {"x", "bias", "count", "y"}) {
    EXPECT_NE(MemoryOf(sibling, own), MemoryOf(*session_, own)) << own;
  }
}

// A sibling of one that has never run, which it outlives.
TEST_P(SiblingTest, LivesAlone) {
  auto first = session_->NewSibling();
  ASSERT_TRUE(first.ok()) << first.status();
  session_.reset();
  auto second = (*first)->NewSibling();
  ASSERT_TRUE(second.ok()) << second.status();
  first->reset();
  ASSERT_TRUE(Give(**second, 1, 0).ok());
  ASSERT_TRUE((*second)->Run().ok());
  EXPECT_EQ(Get(**second, "y"), (Values{65, 129, 193, 257}));
}

TEST_P(SiblingTest, RunOnThreads) {
  constexpr int kThreads = 4, kRuns = 40;
  std::vector<std::unique_ptr<Session>> siblings;
  for (int t = 0; t < kThreads; ++t) {
    auto made = session_->NewSibling();
    ASSERT_TRUE(made.ok()) << made.status();
    siblings.push_back(*std::move(made));
  }
  std::vector<std::thread> threads;
  std::vector<int> right(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Session& session = *siblings[static_cast<size_t>(t)];
      for (int run = 0; run < kRuns; ++run) {
        const auto x = static_cast<float>(t * kRuns + run);
        if (!Give(session, x, static_cast<float>(t)).ok() || !session.Run().ok()) return;
        const float rest = static_cast<float>(t + run + 1);
        right[static_cast<size_t>(t)] +=
            Get(session, "y") ==
            Values{64 * x + rest, 128 * x + rest, 192 * x + rest, 256 * x + rest};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, kRuns));
}

// @init computes @table of @w. @bias has no part in it.
constexpr char kInitModel[] = R"(tg 1
module @model
buffer @w : f32[4] param = [1.0, 2.0, 3.0, 4.0]
buffer @bias : f32[4] param
buffer @table : f32[4] state
buffer @y : f32[4] output

graph @main {
  %table = buffer @table : f32
  %bias = buffer @bias : f32
  %0 = add %table, %bias : f32
  sink %0 -> @y
}

graph @init {
  %w = buffer @w : f32
  %0 = mul %w, %w : f32
  sink %0 -> @table
}
)";

TEST_P(SiblingTest, ShareWhatInitComputes) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ParseModule(kInitModel, "model.uop", diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  auto opened = OpenSession(std::move(module), GetParam());
  ASSERT_TRUE(opened.ok()) << opened.status();
  Session& first = **opened;
  const auto made = first.NewSibling();
  ASSERT_TRUE(made.ok()) << made.status();
  Session& second = **made;
  // A param that @init does not read is set: @init does not run again.
  ASSERT_TRUE(first.Set("bias", Filled({4}, 1)).ok());
  ASSERT_TRUE(second.Set("bias", Filled({4}, 2)).ok());
  ASSERT_TRUE(first.Run().ok());
  ASSERT_TRUE(second.Run().ok());
  EXPECT_EQ(Get(first, "y"), (Values{2, 5, 10, 17}));
  EXPECT_EQ(Get(second, "y"), (Values{3, 6, 11, 18}));
  const bool shares = GetParam() != std::string_view("reference");
  if (shares) {
    EXPECT_EQ(MemoryOf(second, "table"), MemoryOf(first, "table"));
    EXPECT_EQ(static_cast<DeviceSession&>(second).init_plan(), nullptr);
  }
  // Whose state is set, or computed again, gets other memory.
  ASSERT_TRUE(second.Set("table", Filled({4}, 5)).ok());
  ASSERT_TRUE(second.Run().ok());
  ASSERT_TRUE(first.Run().ok());
  EXPECT_EQ(Get(second, "y"), (Values{7, 7, 7, 7}));
  EXPECT_EQ(Get(first, "y"), (Values{2, 5, 10, 17}));
  ASSERT_TRUE(first.Run("init").ok());
  ASSERT_TRUE(first.Run().ok());
  ASSERT_TRUE(second.Run().ok());
  EXPECT_EQ(Get(first, "y"), (Values{2, 5, 10, 17}));
  EXPECT_EQ(Get(second, "y"), (Values{7, 7, 7, 7}));
}

INSTANTIATE_TEST_SUITE_P(Devices, SiblingTest, testing::Values("native", "pocl", "reference"));

}  // namespace
}  // namespace tg::runtime
