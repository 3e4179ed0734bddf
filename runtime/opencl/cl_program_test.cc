#include "runtime/opencl/cl_program.h"

#include <unistd.h>

#include <filesystem>

#include "gtest/gtest.h"
#include "runtime/io/file.h"
#include "runtime/opencl/testing.h"

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kSource[] =
    "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2; }\n"
    "__kernel void negate(__global float* x) { x[get_global_id(0)] = -x[get_global_id(0)]; }\n";

class ProgramTest : public testing::Test {
 protected:
  ProgramTest()
      : context_(TestContext()),
        cache_(Cat(testing::TempDir(), "/program_test.", ::getpid(), ".",
                   testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(cache_.directory());
  }
  ~ProgramTest() override { fs::remove_all(cache_.directory()); }

  std::shared_ptr<OpenClContext> context_;
  DiskCache cache_;
};

TEST_F(ProgramTest, HoldsItsKernels) {
  const auto program = BuildProgram(context_, kSource, "", nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_FALSE((*program)->from_cache());
  EXPECT_EQ(*(*program)->KernelNames(), (std::vector<std::string>{"negate", "twice"}));
  EXPECT_TRUE((*program)->CreateKernel("twice").ok());
  const absl::Status missing = (*program)->CreateKernel("thrice").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(missing.message()).find("no kernel 'thrice'"), std::string::npos)
      << missing;
  EXPECT_NE(std::string(missing.message()).find("it has negate, twice"), std::string::npos)
      << missing;
}

TEST_F(ProgramTest, ARefusedSourceIsQuoted) {
  const auto program = BuildProgram(
      context_, "__kernel void bad(__global float* x) {\n  x[0] = nothing_here;\n}\n", "", &cache_);
  ASSERT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(program.status().message());
  EXPECT_NE(message.find(context_->name()), std::string::npos) << message;
  EXPECT_NE(message.find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos) << message;
  EXPECT_NE(message.find("kernel @bad: line 2, column 10: "), std::string::npos) << message;
  EXPECT_NE(message.find("\n      x[0] = nothing_here;\n             ^\n"), std::string::npos)
      << message;
  EXPECT_EQ(cache_.stats().stores, 0u);
}

TEST_F(ProgramTest, WhatOnlyTheOptimizerRefusesIsCompiledWithoutIt) {
  // The call without a body is refused by the linker, which names no line.
  const auto program = BuildProgram(context_,
                                    "void absent(void);\n"
                                    "__kernel void one(__global int* x) {\n"
                                    "#ifdef __OPTIMIZE__\n  absent();\n#endif\n  x[0] = 1;\n}\n",
                                    "", nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE((*program)->CreateKernel("one").ok());
  EXPECT_FALSE(
      BuildProgram(context_,
                   "void absent(void);\n__kernel void one(__global int* x) { absent(); }\n", "",
                   nullptr)
          .ok());
}

TEST_F(ProgramTest, OptionsReachTheCompiler) {
  const std::string source = "#ifndef RIGHT\n#error wrong\n#endif\n" + std::string(kSource);
  EXPECT_FALSE(BuildProgram(context_, source, "", nullptr).ok());
  const auto program = BuildProgram(context_, source, "-DRIGHT=1", nullptr);
  EXPECT_TRUE(program.ok()) << program.status();
}

TEST_F(ProgramTest, ASecondBuildComesFromTheCache) {
  const auto cold = BuildProgram(context_, kSource, "-DA=1", &cache_);
  ASSERT_TRUE(cold.ok()) << cold.status();
  EXPECT_FALSE((*cold)->from_cache());
  const auto warm = BuildProgram(context_, kSource, "-DA=1", &cache_);
  ASSERT_TRUE(warm.ok()) << warm.status();
  EXPECT_TRUE((*warm)->from_cache());
  EXPECT_EQ(*(*warm)->KernelNames(), (std::vector<std::string>{"negate", "twice"}));
  const auto other = BuildProgram(context_, kSource, "-DA=2", &cache_);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_FALSE((*other)->from_cache());
}

TEST_F(ProgramTest, ABinaryThatTheDriverRefusesIsReplaced) {
  const std::string key = ProgramKey(context_->info(), kSource, "");
  cache_.Store(key, "no binary of any driver");
  const auto program = BuildProgram(context_, kSource, "", &cache_);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_FALSE((*program)->from_cache());
  EXPECT_TRUE((*BuildProgram(context_, kSource, "", &cache_))->from_cache());
}

TEST_F(ProgramTest, ATornEntryIsBuiltAgain) {
  ASSERT_TRUE(BuildProgram(context_, kSource, "", &cache_).ok());
  const std::string path = cache_.PathOf(ProgramKey(context_->info(), kSource, ""));
  ASSERT_TRUE(fs::exists(path));
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto program = BuildProgram(context_, kSource, "", &cache_);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_FALSE((*program)->from_cache());
  EXPECT_EQ(cache_.stats().damaged, 1u);
  EXPECT_TRUE((*BuildProgram(context_, kSource, "", &cache_))->from_cache());
}

// Constructs that NVIDIA's assembler miscompiles unless the PTX is repaired: the sign of an operand
// of a three-operand minimum or maximum, 16-bit negations of -32768, and a select between -0.0 and
// -1.0. Other devices must give the same values.
TEST_F(ProgramTest, NegationsKeepTheirSignAndWrap) {
  const std::string source =
      "__kernel void negations(__global const int* x, __global const short* s, __global int* y) {\n"
      "  y[0] = max(max(x[0], -x[1]), x[2]);\n"
      "  y[1] = min(min(x[0], -x[2]), x[1]);\n"
      "  y[2] = max(max(s[0], (short)-s[1]), s[2]);\n"
      "  int acc = INT_MIN;\n"
      "  for (int i = 0; i < 8; i++) acc = max(acc, -max(x[i], 7));\n"
      "  y[3] = acc;\n"
      "  y[4] = (short)-s[3] < s[4];\n"
      "  y[5] = (short)-s[3];\n"
      "  y[6] = as_int(-(s[4] > 12 ? 1.0f : 0.0f));\n"
      "}\n";
  const int32_t x[8] = {-5, 40, 3, 100, 9, 11, 1000, 64};
  const int16_t s[5] = {-5, 40, 3, -32768, 12};
  const int32_t expected[7] = {3, -5, 3, -7, 1, -32768, INT32_MIN};
  const auto program = BuildProgram(context_, source, "", nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto kernel = (*program)->CreateKernel("negations");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto buffer = [&](size_t bytes, const void* from) {
    const cl_mem_flags flags = from != nullptr ? CL_MEM_COPY_HOST_PTR : 0;
    return clCreateBuffer(context_->context(), CL_MEM_READ_WRITE | flags, bytes,
                          const_cast<void*>(from), nullptr);
  };
  const cl_mem arguments[] = {buffer(sizeof x, x), buffer(sizeof s, s),
                              buffer(sizeof expected, nullptr)};
  for (cl_uint i = 0; i < 3; ++i) clSetKernelArg(kernel->get(), i, sizeof(cl_mem), &arguments[i]);
  const size_t one = 1;
  const cl_command_queue queue = context_->queue();
  ASSERT_EQ(
      clEnqueueNDRangeKernel(queue, kernel->get(), 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
      CL_SUCCESS);
  int32_t actual[7] = {};
  ASSERT_EQ(clEnqueueReadBuffer(queue, arguments[2], CL_TRUE, 0, sizeof actual, actual, 0, nullptr,
                                nullptr),
            CL_SUCCESS);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(actual[i], expected[i]) << "y[" << i << "]";
  for (const cl_mem m : arguments) clReleaseMemObject(m);
}

TEST(ProgramKeyTest, DependsOnEverythingThatABinaryDependsOn) {
  DeviceInfo info;
  info.platform = "p";
  info.name = "n";
  info.driver_version = "d";
  const std::string key = ProgramKey(info, "source", "options");
  for (std::string DeviceInfo::*field :
       {&DeviceInfo::platform, &DeviceInfo::platform_version, &DeviceInfo::vendor,
        &DeviceInfo::name, &DeviceInfo::device_version, &DeviceInfo::driver_version}) {
    DeviceInfo other = info;
    other.*field += "x";
    EXPECT_NE(ProgramKey(other, "source", "options"), key);
  }
  EXPECT_NE(ProgramKey(info, "source2", "options"), key);
  EXPECT_NE(ProgramKey(info, "source", "options2"), key);
  EXPECT_NE(ProgramKey(info, "b\nsource", "a"), ProgramKey(info, "source", "a\nb"));
}

}  // namespace
}  // namespace tg::runtime
