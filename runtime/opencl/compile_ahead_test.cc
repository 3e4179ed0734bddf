#include "runtime/opencl/compile_ahead.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "gtest/gtest.h"
#include "runtime/io/file.h"
#include "runtime/opencl/cl_program.h"
#include "runtime/opencl/testing.h"

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kSource[] =
    "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
    "void twice(__global float* x) { x[get_group_id(0)] *= 2; }\n"
    "__kernel __attribute__((reqd_work_group_size(2, 1, 1)))\n"
    "void fill(__global int* x, int n) { if (get_global_id(0) < n) x[get_global_id(0)] = n; }\n";

// The folder of PoCL's cache, which PoCL reads from the environment when a device is first opened.
const fs::path& CacheFolder() {
  static const auto& folder = *new fs::path(fs::path(testing::TempDir()) / "compile_ahead_pocl");
  return folder;
}

std::vector<fs::path> CompiledKernels() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(CacheFolder())) {
    if (entry.path().extension() == ".so") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

class CompileAheadTest : public testing::Test {
 protected:
  CompileAheadTest() : context_(TestContext()), records_(testing::TempDir() + "/records") {
    fs::remove_all(CacheFolder());
    fs::remove_all(records_.directory());
    options_.worker = "/proc/self/exe";
    options_.progress = [this](size_t done, size_t total) {
      done_ = done;
      total_ = total;
    };
  }
  void SetUp() override {
    if (!context_->info().is_pocl) GTEST_SKIP() << "PoCL only";
  }

  std::vector<KeyedJob> Jobs(const std::string& source = kSource) const {
    CompileJob job;
    job.platform = context_->info().platform;
    job.device = context_->name();
    job.buffer_bytes = 64;
    job.source = source;
    job.kernels = {{"twice", {1, 1, 1}, {{}}}, {"fill", {2, 1, 1}, {{}, {false, 4, 2}}}};
    return {{"key of " + source, job}};
  }

  std::shared_ptr<OpenClContext> context_;
  DiskCache records_;
  CompileAheadOptions options_;
  size_t done_ = 0, total_ = 0;
};

TEST_F(CompileAheadTest, ASecondCallFindsEverything) {
  EXPECT_FALSE(CompileAhead(Jobs(), options_, records_));
  EXPECT_EQ(done_, 2u);
  EXPECT_EQ(total_, 2u);
  EXPECT_EQ(CompiledKernels().size(), 2u);
  for (const auto& entry : fs::directory_iterator(CacheFolder())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("tg-")) << entry.path();
  }
  total_ = 0;
  EXPECT_TRUE(CompileAhead(Jobs(), options_, records_));
  EXPECT_EQ(total_, 0u);
}

TEST_F(CompileAheadTest, TheDeviceRunsWhatWorkersCompiled) {
  CompileAhead(Jobs(), options_, records_);
  const std::vector<fs::path> compiled = CompiledKernels();
  const auto program = BuildProgram(context_, kSource, "", nullptr);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto kernel = (*program)->CreateKernel("fill");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  int32_t x[6] = {};
  const cl_mem mem =
      clCreateBuffer(context_->context(), CL_MEM_COPY_HOST_PTR, sizeof x, x, nullptr);
  const int32_t n = 5;
  clSetKernelArg(kernel->get(), 0, sizeof mem, &mem);
  clSetKernelArg(kernel->get(), 1, sizeof n, &n);
  const size_t global = 6, local = 2;
  ASSERT_EQ(clEnqueueNDRangeKernel(context_->queue(), kernel->get(), 1, nullptr, &global, &local, 0,
                                   nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(
      clEnqueueReadBuffer(context_->queue(), mem, CL_TRUE, 0, sizeof x, x, 0, nullptr, nullptr),
      CL_SUCCESS);
  clReleaseMemObject(mem);
  const int32_t expected[6] = {5, 5, 5, 5, 5, 0};
  EXPECT_TRUE(std::equal(x, x + 6, expected));
  EXPECT_EQ(CompiledKernels(), compiled) << "the launch compiled the kernel once more";
}

TEST_F(CompileAheadTest, ADamagedKernelIsCompiledAgain) {
  CompileAhead(Jobs(), options_, records_);
  const fs::path kernel = CompiledKernels().at(0);
  std::string bytes = *ReadFile(kernel);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  fs::permissions(kernel, fs::perms::owner_all);
  FILE* file = std::fopen(kernel.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  EXPECT_FALSE(CompileAhead(Jobs(), options_, records_));
  EXPECT_NE(*ReadFile(CompiledKernels().at(0)), bytes);
  EXPECT_TRUE(CompileAhead(Jobs(), options_, records_));
}

TEST_F(CompileAheadTest, AMissingKernelIsCompiledAgain) {
  CompileAhead(Jobs(), options_, records_);
  fs::remove(CompiledKernels().at(1));
  EXPECT_FALSE(CompileAhead(Jobs(), options_, records_));
  EXPECT_EQ(CompiledKernels().size(), 2u);
  EXPECT_TRUE(CompileAhead(Jobs(), options_, records_));
}

TEST_F(CompileAheadTest, ARefusedSourceLeavesNothing) {
  EXPECT_FALSE(CompileAhead(Jobs("__kernel void twice(__global float* x) { x[0] = y; }"), options_,
                            records_));
  EXPECT_TRUE(CompiledKernels().empty());
  EXPECT_EQ(records_.stats().stores, 0u);
}

// The worker is a script that writes down what it was started with.
TEST_F(CompileAheadTest, WorkersLeaveFilesOfOpenClLayersAlone) {
  const std::string script = testing::TempDir() + "/worker.sh", seen = testing::TempDir() + "/seen";
  FILE* file = std::fopen(script.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fprintf(file, "#!/bin/sh\necho \"<$LD_PRELOAD> $CLI_AppendPid\" > '%s'\n", seen.c_str());
  std::fclose(file);
  fs::permissions(script, fs::perms::owner_all);
  options_.worker = script;
  for (const auto& [given, expected] : {std::pair("/a/libOpenCL.so", "<> 1\n"),
                                        std::pair("/a/libOpenCL.so:libm.so.6", "<libm.so.6> 1\n"),
                                        std::pair("libm.so.6 libOpenCL.so.1", "<libm.so.6> 1\n")}) {
    ::setenv("LD_PRELOAD", given, /*overwrite=*/1);
    CompileAhead(Jobs(), options_, records_);
    ::unsetenv("LD_PRELOAD");
    EXPECT_EQ(*ReadFile(seen), expected) << given;
  }
}

TEST_F(CompileAheadTest, WhatWorkersDoIsRecorded) {
  SpanLog spans;
  options_.spans = &spans;
  CompileAhead(Jobs(), options_, records_);
  ASSERT_EQ(spans.size(), 3u);
  int64_t end = 0;
  for (const auto& [i, name] :
       {std::pair(0, "parse"), std::pair(1, "twice"), std::pair(2, "fill")}) {
    const Span& span = spans[static_cast<size_t>(i)];
    EXPECT_EQ(span.name, name);
    EXPECT_EQ(span.row, "compiler 1");
    EXPECT_TRUE(span.is_detail);
    EXPECT_GE(span.start, end);
    EXPECT_GE(span.end, span.start);
    end = span.end;
  }
}

TEST_F(CompileAheadTest, AWorkerThatCannotStartIsNoError) {
  options_.worker = "/nonexistent/worker";
  EXPECT_FALSE(CompileAhead(Jobs(), options_, records_));
  EXPECT_EQ(records_.stats().stores, 0u);
}

TEST(CompileJobTest, TextIsParsedBack) {
  CompileJob job;
  job.platform = "Portable Computing Language";
  job.device = "a device";
  job.options = "-w -DX=1";
  job.buffer_bytes = uint64_t{1} << 40;
  job.source = "line 1\nline 2";
  job.kernels = {{"k", {1, 2, 3}, {{}, {false, 8, -5}}}, {"l", {1, 1, 1}, {}}};
  const std::string text = JobText(job);
  const auto parsed = ParseJob(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(JobText(*parsed), text);
  EXPECT_EQ(parsed->source, job.source);
  EXPECT_EQ(parsed->kernels[0].arguments[1].value, -5);
  const size_t header = text.size() - job.source.size();
  for (size_t size = 0; size < header; ++size) EXPECT_FALSE(ParseJob(text.substr(0, size)).ok());
}

}  // namespace
}  // namespace tg::runtime

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == tg::runtime::kCompileWorkerFlag) {
    return tg::runtime::RunCompileWorker();
  }
  ::setenv("POCL_CACHE_DIR", tg::runtime::CacheFolder().c_str(), /*overwrite=*/1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
