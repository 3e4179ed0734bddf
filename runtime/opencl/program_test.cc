#include "runtime/opencl/program.h"

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

  std::shared_ptr<Context> context_;
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
