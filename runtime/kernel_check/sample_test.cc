// interpret::SampleKernel against RunKernel, on the kernels of random graphs.
#include "ir/interpret/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ir/interpret/kernel.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/run.h"
#include "ir/testing/random_graph.h"
#include "ir/text/testing.h"
#include "ir/value.h"
#include "passes/kernelize/kernelize.h"
#include "passes/pass_manager.h"
#include "runtime/plan/launch_order.h"

namespace tg::kernel_check {
namespace {

constexpr const passes::Pass* kKernelize[] = {&kernelize::kKernelizePass};

// A kernel call on random contents.
struct Call {
  const Kernel* kernel = nullptr;
  interpret::VarValues vars;
  std::map<int, interpret::HostBuffer> buffers;
  std::map<int, std::vector<uint8_t>> bytes;
  std::vector<interpret::KernelArg> whole;
  std::vector<interpret::SampleArg> sample;
};

void FillCall(const Module& module, const runtime::ScheduledKernel& item,
              const interpret::VarValues& vars, uint64_t seed, Call& call) {
  call.kernel = module.kernels[static_cast<size_t>(item.kernel)].get();
  call.vars = vars;
  for (const runtime::VarUse& var : item.vars) {
    if (var.bound) call.vars[var.name] = *var.bound;
  }
  for (const runtime::BufferSlice& slice : item.buffers) {
    if (call.buffers.contains(slice.buffer)) continue;
    const BufferDecl& decl = module.buffers[static_cast<size_t>(slice.buffer)];
    interpret::RandomDataOptions options;
    options.seed = seed + static_cast<uint64_t>(slice.buffer);
    options.special_values = seed % 4 == 0;
    interpret::HostBuffer& buffer = call.buffers[slice.buffer];
    buffer = interpret::RandomBuffer(decl.dtype, interpret::ShapeUnder(decl, call.vars), options);
    buffer.written.assign(buffer.data.size(), 0);
    call.bytes[slice.buffer] = interpret::BufferToBytes(buffer);
  }
  for (const runtime::BufferSlice& slice : item.buffers) {
    const BufferDecl& decl = module.buffers[static_cast<size_t>(slice.buffer)];
    interpret::HostBuffer& buffer = call.buffers[slice.buffer];
    const auto total = static_cast<int64_t>(buffer.data.size());
    const int64_t size = slice.size < 0 ? total - slice.offset : slice.size;
    const bool is_symbolic = std::any_of(decl.shape.begin(), decl.shape.end(),
                                         [](const DeclDim& d) { return d.is_symbolic(); });
    const Scalar scalar = decl.dtype.scalar();
    call.whole.push_back({&buffer, slice.offset, size, is_symbolic});
    const auto* bytes = reinterpret_cast<const std::byte*>(call.bytes[slice.buffer].data());
    call.sample.push_back({scalar, size, bytes + slice.offset * ByteSize(scalar), is_symbolic});
  }
}

class SampleTest : public ::testing::Test {
 protected:
  // Compares what the sample has with the whole; `all`: it must have every element.
  void Compare(const runtime::ScheduledKernel& item, Call& call,
               const interpret::InterpretOptions& options, const interpret::SampleOptions& limits,
               bool all) {
    const auto sampled =
        interpret::SampleKernel(*call.kernel, call.sample, call.vars, options, limits);
    if (absl::IsUnimplemented(sampled.status())) {
      ++unsupported_;
      return;
    }
    if (!interpret::RunKernel(*call.kernel, call.whole, call.vars, options).ok()) return;
    ASSERT_TRUE(sampled.ok()) << sampled.status();
    ++kernels_;
    std::map<int, std::vector<uint8_t>> seen;
    for (const interpret::StoredSample& store : *sampled) {
      const runtime::BufferSlice& slice = item.buffers[store.slot];
      const interpret::HostBuffer& expected = call.buffers[slice.buffer];
      seen[slice.buffer].resize(expected.data.size());
      for (size_t i = 0; i < store.elements.size(); ++i) {
        const auto at = static_cast<size_t>(slice.offset + store.elements[i]);
        ASSERT_TRUE(expected.written[at]);
        seen[slice.buffer][at] = 1;
        EXPECT_EQ((*store.values.data)[i], expected.data[at]) << call.kernel->name << " at " << at;
        const double error = expected.error.empty() ? 0 : expected.error[at];
        EXPECT_EQ(store.values.ErrorAt(i), error) << call.kernel->name << " at " << at;
        ++elements_;
      }
    }
    for (const auto& [number, buffer] : call.buffers) {
      for (size_t i = 0; all && i < buffer.data.size(); ++i) {
        if (!buffer.written[i]) continue;
        ASSERT_TRUE(seen[number].size() > i && seen[number][i]) << call.kernel->name << " at " << i;
      }
    }
  }

  int kernels_ = 0, unsupported_ = 0, elements_ = 0;
};

TEST_F(SampleTest, EqualsTheWholeOnKernelsOfRandomGraphs) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    testing::RandomProgram program = testing::MakeRandomProgram(seed);
    Module& module = *program.module;
    ASSERT_TRUE(passes::PassManager(passes::MakePipeline(kKernelize)).Run(module).ok());
    const auto schedule = runtime::MakeSchedule(module, *module.FindGraph("main"));
    if (!schedule.ok()) continue;  // loops
    interpret::InterpretOptions options = interpret::OptionsFor(module);
    options.track_error = true;
    for (const runtime::ScheduledKernel& item : *schedule) {
      if (item.is_copy()) continue;
      Call call;
      FillCall(module, item, program.vars, seed, call);
      Compare(item, call, options, {}, /*all=*/true);
      Call other;
      FillCall(module, item, program.vars, seed, other);
      interpret::SampleOptions few;
      few.max_elements = 20;
      few.seed = seed;
      Compare(item, other, options, few, /*all=*/false);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(kernels_, 400);
  EXPECT_LT(unsupported_, kernels_ / 4);
  EXPECT_GT(elements_, 10000);
}

// One row of a product of matrices, each with 2^22 elements, depends on few of them.
TEST_F(SampleTest, TakesWhatTheElementsNeed) {
  const auto module = ParseOrFail(R"(tg 1
module @m
kernel @k : kernel {} {
  %0 = define_global {arg = 0} : ptr<f32, 4194304>
  %1 = reshape %0 {shape = [2048, 2048]} : ptr<f32, 4194304>
  %2 = define_global {arg = 1} : ptr<f32, 4194304>
  %3 = reshape %2 {shape = [2048, 1, 2048]} : ptr<f32, 4194304>
  %4 = load %3 : f32
  %5 = expand %4 {shape = [2048, 2048, 2048]} : f32
  %6 = reduce_axis %5 {op = add, axes = [2]} : f32
  %7 = reshape %6 {shape = [2048, 2048]} : f32
  %8 = store %1, %7
  sink %8
}
)");
  ASSERT_NE(module, nullptr);
  constexpr int64_t kSize = int64_t{1} << 22;
  std::vector<float> x(kSize);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i / 2048 == 2047 ? 2 : 1;
  const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
  const std::vector<interpret::SampleArg> args = {{Scalar::kF32, kSize, bytes},
                                                  {Scalar::kF32, kSize, bytes}};
  const auto count = interpret::CountEvaluations(*module->kernels[0], args, {});
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_GT(*count, int64_t{1} << 33);
  interpret::SampleOptions limits;
  limits.max_evaluations = 1 << 18;
  const auto sampled = interpret::SampleKernel(*module->kernels[0], args, {}, {}, limits);
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  const interpret::StoredSample& store = (*sampled)[0];
  EXPECT_EQ(store.total, kSize);
  EXPECT_GT(store.elements.size(), size_t{16});
  EXPECT_LT(store.elements.size(), size_t{4096});
  EXPECT_EQ(store.elements.front(), 0);
  EXPECT_EQ(store.elements.back(), kSize - 1);
  EXPECT_EQ(DoubleFromBits(Scalar::kF32, store.values.data->front()), 2048);
  EXPECT_EQ(DoubleFromBits(Scalar::kF32, store.values.data->back()), 4096);
}

}  // namespace
}  // namespace tg::kernel_check
