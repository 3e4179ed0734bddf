#include "runtime/cpu/native_program.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "codegen/llvm/renderer.h"
#include "gtest/gtest.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "passes/linearize/linearize.h"
#include "runtime/cpu/launch_choice.h"
#include "runtime/cpu/native_context.h"
#include "runtime/cpu/worker_pool.h"
#include "runtime/device/buffer_pool.h"
#include "runtime/device/launch.h"

namespace tg::cpu {

using runtime::BufferPool;
using runtime::BufferRef;
using runtime::Context;
using runtime::Device;
using runtime::DiskCache;
using runtime::Event;
using runtime::KernelArg;
using runtime::Launch;
using runtime::NDRange;
using runtime::Program;
using runtime::ScalarArg;
using runtime::WaitForTimes;

namespace {

namespace fs = std::filesystem;

// y[g] = x[g] + n for 100 groups.
constexpr char kModule[] = R"(tg 1
module @m {target = "cpu-avx2"}
var @n : [0, 1000]
kernel @E_100 : expanded {
  %y = define_global {arg = 0} : ptr<i32, 100>
  %x = define_global {arg = 1} : ptr<i32, 100>
  %n = var @n : i32
  %c = const 100 : i32
  %g = special %c {name = grid0} : i32
  %px = index %x, %g : ptr<i32, 100>
  %v = load %px : i32
  %s = add %v, %n : i32
  %py = index %y, %g : ptr<i32, 100>
  %st = store %py, %s
  sink %st
}
)";

class NativeProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<Device> devices = ListNativeDevices();
    if (devices.empty()) GTEST_SKIP() << "the processor is not supported";
    context_ = OpenNative(devices[0], /*profiling=*/true);
    Diagnostics diagnostics;
    module_ = ParseModule(kModule, "test.uop", diagnostics);
    ASSERT_NE(module_, nullptr) << diagnostics.ToString();
    ASSERT_TRUE(linearize::LinearizeKernel(*module_->kernels[0]).ok());
    const auto target = passes::FindTarget(module_->target);
    auto rendered = codegen::RenderAll(llvm_ir::LlvmRenderer(), *module_, *target);
    ASSERT_TRUE(rendered.ok()) << rendered.status();
    kernels_ = std::move(rendered->kernels);
    folder_ = testing::TempDir() + "/native-" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
  }
  std::shared_ptr<const Program> Build(DiskCache* cache) {
    std::vector<NativeKernel> kernels;
    for (const codegen::RenderedKernel& kernel : kernels_) kernels.push_back({&kernel, {}});
    auto program = BuildNative(context_, kernels, cache);
    EXPECT_TRUE(program.ok()) << program.status();
    return program.ok() ? *program : nullptr;
  }
  // Runs the kernel with n = 7.
  void Check(std::shared_ptr<const Program> program) {
    ASSERT_NE(program, nullptr);
    BufferPool pool(context_);
    const BufferRef y = *pool.Allocate(400), x = *pool.Allocate(400);
    std::vector<int32_t> data(100), result(100);
    for (int i = 0; i < 100; ++i) data[static_cast<size_t>(i)] = 3 * i;
    ASSERT_TRUE(Write(*x, 0, std::as_bytes(std::span(data))).ok());
    const std::vector<KernelArg> args = {y, x, ScalarArg::Of<int32_t>(7)};
    auto launch = Launch::Create(std::move(program), "E_100", args, {{100, 1, 1}, {1, 1, 1}});
    ASSERT_TRUE(launch.ok()) << launch.status();
    Event event;
    ASSERT_TRUE(launch->Enqueue(&event).ok());
    const auto times = WaitForTimes(*context_, event);
    ASSERT_TRUE(times.ok()) << times.status();
    EXPECT_LE(times->started, times->ended);
    ASSERT_TRUE(Read(*y, 0, std::as_writable_bytes(std::span(result))).ok());
    for (int i = 0; i < 100; ++i) EXPECT_EQ(result[static_cast<size_t>(i)], 3 * i + 7);
  }
  std::vector<fs::path> Entries() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) all.push_back(entry.path());
    }
    return all;
  }

  std::shared_ptr<Context> context_;
  std::unique_ptr<Module> module_;
  std::vector<codegen::RenderedKernel> kernels_;
  std::string folder_;
};

TEST_F(NativeProgramTest, IsCompiledOnceAndThenCached) {
  DiskCache cache(folder_);
  const auto first = Build(&cache);
  EXPECT_FALSE(first->from_cache());
  Check(first);
  const auto second = Build(&cache);
  EXPECT_TRUE(second->from_cache());
  Check(second);
}

TEST_F(NativeProgramTest, SmallKernelsAreNotShared) {
  if (SharedWorkers().threads() == 1) GTEST_SKIP() << "there is one processor";
  BufferPool pool(context_);
  const std::vector<KernelArg> args = {*pool.Allocate(400), *pool.Allocate(400),
                                       ScalarArg::Of<int32_t>(7)};
  const auto launch = Launch::Create(Build(nullptr), "E_100", args, {{2, 1, 1}, {1, 1, 1}});
  ASSERT_TRUE(launch.ok()) << launch.status();
  const uint32_t before = SharedWorkers().rounds();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(launch->Enqueue(nullptr).ok());
  const uint32_t shared = SharedWorkers().rounds() - before;
  EXPECT_GT(shared, 0);
  EXPECT_LE(shared, LaunchChoice::kTrials);
}

TEST_F(NativeProgramTest, ADamagedEntryIsCompiledAgain) {
  DiskCache cache(folder_);
  Check(Build(&cache));
  for (const fs::path& path : Entries()) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-20, std::ios::end);
    file << "damage";
  }
  const auto program = Build(&cache);
  EXPECT_FALSE(program->from_cache());
  Check(program);
  EXPECT_TRUE(Build(&cache)->from_cache());
}

TEST_F(NativeProgramTest, RunsWhereTheCacheCannotBeWritten) {
  int warnings = 0;
  DiskCache cache("/proc/no-such-folder", DiskCache::kDefaultBound,
                  [&](std::string_view) { ++warnings; });
  Check(Build(&cache));
  Check(Build(&cache));
  EXPECT_EQ(warnings, 1);
}

TEST_F(NativeProgramTest, RefusesWhatDoesNotFit) {
  const auto program = Build(nullptr);
  BufferPool pool(context_);
  const BufferRef x = *pool.Allocate(400);
  const NDRange range = {{100, 1, 1}, {1, 1, 1}};
  const auto refusal = [&](const std::vector<KernelArg>& args, const NDRange& r) {
    return std::string(Launch::Create(program, "E_100", args, r).status().message());
  };
  EXPECT_EQ(refusal({x}, range), "kernel @E_100 takes 3 arguments, but was given 1");
  EXPECT_EQ(refusal({x, x, ScalarArg::Of<int64_t>(1)}, range),
            "kernel @E_100: argument 2 is of another kind");
  EXPECT_EQ(refusal({x, ScalarArg::Of<int32_t>(1), ScalarArg::Of<int32_t>(1)}, range),
            "kernel @E_100: argument 1 is of another kind");
  EXPECT_NE(refusal({x, x, ScalarArg::Of<int32_t>(1)}, {{100, 1, 1}, {2, 1, 1}})
                .find("compiled for local size"),
            std::string::npos);
  EXPECT_EQ(Launch::Create(program, "other", {}, range).status().code(),
            absl::StatusCode::kNotFound);
}

// Zeros of a large buffer take no memory until they are used, and no byte behind them changes.
TEST_F(NativeProgramTest, LargeBuffersAreClearedByPages) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const size_t size : {size_t{100}, size_t{3} << 20, size_t{9} << 20}) {
    const auto memory = context_->Allocate(size);
    ASSERT_TRUE(memory.ok()) << memory.status();
    ASSERT_TRUE(context_->Fill(**memory, size, std::byte{0xab}).ok());
    const size_t cleared = size - 10;
    ASSERT_TRUE(context_->Fill(**memory, cleared, std::byte{0}).ok());
    std::byte* bytes = context_->HostAddress(**memory);
    if (size > 100) {
      const auto middle = (reinterpret_cast<uintptr_t>(bytes) + size / 2) / page * page;
      unsigned char is_resident = 1;
      ASSERT_EQ(mincore(reinterpret_cast<void*>(middle), page, &is_resident), 0);
      EXPECT_EQ(is_resident & 1, 0) << size;
    }
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    EXPECT_TRUE(std::all_of(bytes, bytes + cleared, is_zero)) << size;
    EXPECT_EQ(std::count(bytes + cleared, bytes + size, std::byte{0xab}), 10) << size;
  }
}

}  // namespace
}  // namespace tg::cpu
