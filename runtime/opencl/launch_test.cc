#include "runtime/device/launch.h"

#include <random>

#include "gtest/gtest.h"
#include "runtime/device/buffer_pool.h"
#include "runtime/opencl/cl_program.h"
#include "runtime/opencl/testing.h"

namespace tg::runtime {
namespace {

constexpr char kSource[] = R"(
__kernel void add(__global float* out, __global const float* a, __global const float* b) {
  const int i = get_global_id(0) + get_global_size(0) * get_global_id(1);
  out[i] = a[i] + b[i];
}
__kernel void axpy(__global float* x, const float a, const int n) {
  const int i = get_global_id(0);
  if (i < n) x[i] = a * x[i] + 1.0f;
}
__kernel void reverse_in_group(__global int* x, __local int* tile) {
  const int i = get_local_id(0), n = get_local_size(0);
  tile[i] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = tile[n - 1 - i];
}
__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void fixed_size(__global int* x) { x[get_global_id(0)] = 1; }
)";

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() : context_(TestContext()), pool_(context_) {
    auto program = BuildProgram(context_, kSource, "", nullptr);
    EXPECT_TRUE(program.ok()) << program.status();
    program_ = *program;
  }

  template <typename T>
  BufferRef Upload(const std::vector<T>& values) {
    const BufferRef buffer = *pool_.Allocate(values.size() * sizeof(T));
    EXPECT_TRUE(Write(*buffer, 0, std::as_bytes(std::span(values))).ok());
    return buffer;
  }

  template <typename T>
  std::vector<T> Download(const BufferRef& buffer) {
    std::vector<T> values(buffer->size() / sizeof(T));
    EXPECT_TRUE(Read(*buffer, 0, std::as_writable_bytes(std::span(values))).ok());
    return values;
  }

  absl::StatusOr<Launch> Make(const std::string& kernel, std::vector<KernelArg> args,
                              NDRange range) {
    return Launch::Create(program_, kernel, args, range);
  }

  // Returns the message of a launch that must be refused.
  std::string Refusal(const std::string& kernel, std::vector<KernelArg> args, NDRange range) {
    const auto launch = Make(kernel, std::move(args), range);
    EXPECT_FALSE(launch.ok());
    EXPECT_EQ(launch.status().code(), absl::StatusCode::kInvalidArgument) << launch.status();
    return std::string(launch.status().message());
  }

  std::shared_ptr<OpenClContext> context_;
  BufferPool pool_;
  std::shared_ptr<const OpenClProgram> program_;
};

std::vector<float> RandomFloats(size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-3, 3);
  std::vector<float> out(n);
  for (float& f : out) f = uniform(rng);
  return out;
}

TEST_F(LaunchTest, AddsVectors) {
  const std::vector<float> a = RandomFloats(96, 1), b = RandomFloats(96, 2);
  const BufferRef out = *pool_.Allocate(96 * 4);
  const auto launch = Make("add", {out, Upload(a), Upload(b)}, {{16, 6, 1}, {8, 3, 1}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  EXPECT_EQ(launch->kernel_name(), "add");
  ASSERT_TRUE(launch->Enqueue().ok());
  const std::vector<float> got = Download<float>(out);
  for (int i = 0; i < 96; ++i) EXPECT_EQ(got[i], a[i] + b[i]) << i;
}

TEST_F(LaunchTest, APlanIsReplayedAndItsArgumentsReplaced) {
  std::vector<float> want = RandomFloats(10, 3);
  const BufferRef x = Upload(want);
  std::vector<Launch> plan;
  for (const float a : {2.0f, -1.0f, 0.5f}) {
    auto launch =
        Make("axpy", {x, ScalarArg::Of(a), ScalarArg::Of(int32_t{7})}, {{16, 1, 1}, {4, 1, 1}});
    ASSERT_TRUE(launch.ok()) << launch.status();
    plan.push_back(std::move(*launch));
  }
  const auto reference = [&](float last) {
    for (const float a : {2.0f, -1.0f, last}) {
      for (int i = 0; i < 7; ++i) want[i] = a * want[i] + 1.0f;
    }
  };
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(EnqueueAll(plan).ok());
    reference(0.5f);
  }
  // Replacing an argument right after enqueueing does not affect the enqueued launch.
  ASSERT_TRUE(plan[2].SetArg(1, ScalarArg::Of(0.25f)).ok());
  ASSERT_TRUE(EnqueueAll(plan).ok());
  reference(0.25f);
  const std::vector<float> got = Download<float>(x);
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;

  const BufferRef y = Upload(want);
  ASSERT_TRUE(plan[0].SetArg(0, y).ok());
  ASSERT_TRUE(plan[0].Enqueue().ok());
  EXPECT_NEAR(Download<float>(y)[0], 2 * want[0] + 1, 1e-5);
  EXPECT_EQ(Download<float>(x), got);
  EXPECT_FALSE(plan[0].SetArg(3, y).ok());
}

TEST_F(LaunchTest, LocalMemoryIsGivenPerGroup) {
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[i] = i * i;
  const BufferRef x = Upload(values);
  auto launch = Make("reverse_in_group", {x, LocalArg{16 * 4}}, {{64, 1, 1}, {16, 1, 1}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  ASSERT_TRUE(launch->Enqueue().ok());
  const std::vector<int> got = Download<int>(x);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[i], values[i / 16 * 16 + 15 - i % 16]);
  EXPECT_FALSE(launch->SetArg(1, LocalArg{1 << 10}).ok());
}

TEST_F(LaunchTest, EventsGiveTimesInOrder) {
  const BufferRef x = Upload(RandomFloats(1 << 16, 4));
  std::vector<Launch> plan;
  for (int i = 0; i < 2; ++i) {
    plan.push_back(std::move(*Make("axpy", {x, ScalarArg::Of(1.5f), ScalarArg::Of(1 << 16)},
                                   {{1 << 16, 1, 1}, {64, 1, 1}})));
  }
  std::vector<Event> events;
  ASSERT_TRUE(EnqueueAll(plan, &events).ok());
  ASSERT_EQ(events.size(), 2u);
  const auto first = WaitForTimes(*context_, events[0]),
             second = WaitForTimes(*context_, events[1]);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_LE(first->queued, first->submitted);
  EXPECT_LE(first->submitted, first->started);
  EXPECT_LT(first->started, first->ended);
  EXPECT_LE(first->ended, second->started);
  EXPECT_GT(first->seconds(), 0);
  EXPECT_LT(first->seconds(), 10);
  const auto plain = OpenClContext::Create(context_->device(), /*profiling=*/false);
  EXPECT_EQ(WaitForTimes(**plain, events[0]).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(LaunchTest, RefusesSizesThatDoNotFit) {
  const BufferRef x = Upload(RandomFloats(64, 5));
  const std::vector<KernelArg> args = {x, ScalarArg::Of(1.0f), ScalarArg::Of(64)};
  EXPECT_NE(Refusal("axpy", args, {{10, 1, 1}, {4, 1, 1}})
                .find("(10, 1, 1) is not a positive multiple of "
                      "local size (4, 1, 1)"),
            std::string::npos);
  EXPECT_NE(Refusal("axpy", args, {{0, 1, 1}, {1, 1, 1}}).find("not a positive multiple"),
            std::string::npos);
  EXPECT_NE(Refusal("axpy", args, {{4, 1, 1}, {0, 1, 1}}).find("not a positive multiple"),
            std::string::npos);
  const size_t widest = context_->info().max_work_item_sizes[0],
               group = context_->info().max_work_group_size;
  EXPECT_NE(Refusal("axpy", args, {{2 * widest, 1, 1}, {2 * widest, 1, 1}}).find("is above"),
            std::string::npos);
  EXPECT_NE(Refusal("axpy", args, {{group, 2, 1}, {group, 2, 1}})
                .find(Cat("is ", 2 * group, " work-items")),
            std::string::npos);
  EXPECT_NE(
      Refusal("fixed_size", {x}, {{8, 2, 1}, {8, 1, 1}}).find("compiled for local size (4, 2, 1)"),
      std::string::npos);
  EXPECT_TRUE(Make("fixed_size", {x}, {{8, 2, 1}, {4, 2, 1}}).ok());
}

TEST(GroupLimit, IsTheDevicesForAKernelOfThatSize) {
  EXPECT_EQ(GroupLimit(/*fixed=*/true, 256, 1024), 1024u);
  EXPECT_EQ(GroupLimit(/*fixed=*/false, 256, 1024), 256u);
  EXPECT_EQ(GroupLimit(/*fixed=*/false, 4096, 1024), 1024u);
}

TEST_F(LaunchTest, RefusesWrongArguments) {
  const BufferRef x = Upload(RandomFloats(64, 6));
  const NDRange range = {{64, 1, 1}, {16, 1, 1}};
  EXPECT_EQ(Refusal("axpy", {x}, range), "kernel @axpy takes 3 arguments, but was given 1");
  EXPECT_EQ(Refusal("axpy", {BufferRef(), ScalarArg::Of(1.0f), ScalarArg::Of(1)}, range),
            "kernel @axpy: argument 0 is a buffer that is not allocated");
  EXPECT_FALSE(Make("axpy", {x, ScalarArg::Of(1.0), ScalarArg::Of(1)}, range).ok());  // a double
  EXPECT_NE(
      Refusal("reverse_in_group", {x, LocalArg{0}}, range).find("local argument 1 of 0 bytes"),
      std::string::npos);
  EXPECT_NE(Refusal("reverse_in_group", {x, LocalArg{context_->info().local_memory + 4}}, range)
                .find("needs more local memory than"),
            std::string::npos);
  EXPECT_NE(Refusal("reverse_in_group", {x, LocalArg{~size_t{0}}}, range).find("needs more local"),
            std::string::npos);
  EXPECT_EQ(Make("subtract", {x}, range).status().code(), absl::StatusCode::kNotFound);

  BufferPool elsewhere(*OpenClContext::Create(context_->device(), false));
  EXPECT_NE(Refusal("fixed_size", {*elsewhere.Allocate(64)}, {{8, 2, 1}, {4, 2, 1}})
                .find("is a buffer on"),
            std::string::npos);
}

TEST_F(LaunchTest, CountsTheKernelsOwnLocalMemory) {
  const size_t size = context_->info().local_memory / 4 + 1;  // as ints, just above the limit
  const std::string source =
      Cat("__kernel void big(__global int* x, __local int* l) { __local int own[", size / 2,
          "]; own[get_local_id(0)] = x[0]; barrier(CLK_LOCAL_MEM_FENCE); "
          "l[0] = own[0]; x[1] = l[0]; }");
  const auto program = BuildProgram(context_, source, "", nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const BufferRef x = Upload(std::vector<int>{5, 6});
  const auto make = [&](size_t local) {
    const std::vector<KernelArg> args = {x, LocalArg{local}};
    return Launch::Create(*program, "big", args, {});
  };
  EXPECT_TRUE(make(16).ok());
  const auto named = Launch::Create(*program, "big", {}, {}, "E_4");
  EXPECT_EQ(named.status().message(), "kernel @E_4 takes 2 arguments, but was given 0");
  EXPECT_EQ(make(size * 4 - size / 2 * 4 + 4).status().code(), absl::StatusCode::kInvalidArgument);
}

// What the driver reports of a kernel's own memory may exceed the limit by padding.
TEST_F(LaunchTest, LeavesAKernelsOwnLocalMemoryToItsCompiler) {
  const std::string source =
      Cat("__kernel void pads(__global int* x) { __local int own[",
          context_->info().local_memory / 4 + 4,
          "]; own[get_local_id(0)] = x[0]; barrier(CLK_LOCAL_MEM_FENCE); x[1] = own[0]; }");
  const auto program = BuildProgram(context_, source, "", nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto made = Launch::Create(*program, "pads", {{Upload(std::vector<int>{5, 6})}}, {});
  EXPECT_TRUE(made.ok()) << made.status();
}

// PoCL aborts if a buffer is released while a kernel has it as an argument, so a launch keeps its
// buffers.
TEST_F(LaunchTest, ALaunchKeepsItsBuffers) {
  const std::vector<float> values = RandomFloats(16, 7);
  BufferRef out = *pool_.Allocate(64);
  auto launch = Make("add", {out, Upload(values), Upload(values)}, {{16, 1, 1}, {16, 1, 1}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  pool_.Trim();
  for (int i = 0; i < 5; ++i) Upload(RandomFloats(16, 8));  // would overwrite a reused input
  ASSERT_TRUE(launch->Enqueue().ok());
  const std::vector<float> got = Download<float>(out);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(got[i], 2 * values[i]);
  // Replacing a launch destroys the old kernel before its buffers.
  *launch = std::move(
      *Make("axpy", {out, ScalarArg::Of(1.0f), ScalarArg::Of(16)}, {{16, 1, 1}, {1, 1, 1}}));
  pool_.Trim();
  EXPECT_TRUE(launch->Enqueue().ok());
  EXPECT_TRUE(context_->Finish().ok());
}

}  // namespace
}  // namespace tg::runtime
