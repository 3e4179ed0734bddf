#include "passes/instrument/reproducer.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "passes/pass_registry.h"
#include "passes/testing/test_passes.h"

namespace tg::instrument {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kText[] = R"(tg 1
module @m
buffer @x : f32[4] input
buffer @y : f32[4] output

graph @main {
  %x = buffer @x : f32
  %0 = mul %x, %x : f32
  sink %0 -> @y
}
)";

std::string Folder() { return ::testing::TempDir(); }

// Runs the pipeline on a module of this text, with a reproducer.
absl::Status RunPasses(std::string_view pipeline, std::string_view text,
                       ReproducerOptions options) {
  Diagnostics diagnostics;
  const std::unique_ptr<Module> module = ParseModule(text, "test.uop", diagnostics);
  EXPECT_TRUE(module) << diagnostics.ToString();
  passes::PassRegistry registry;
  registry.AddAll(testing::kTestPasses);
  passes::PassManager manager(*passes::ParsePipeline(pipeline, registry));
  manager.AddObserver(WriteReproducer(std::move(options)));
  return manager.Run(*module);
}

std::string Read(const std::string& path) {
  absl::StatusOr<std::string> text = ReadTextFile(path);
  return text.ok() ? *text : std::string(text.status().message());
}

TEST(Reproducer, NothingIsWrittenWhereNothingFails) {
  const std::string path = Folder() + "/nothing.uop";
  ASSERT_TRUE(RunPasses("test-rename", kText, {path, "tg-opt", kText, true}).ok());
  EXPECT_FALSE(ReadTextFile(path).ok());
}

TEST(Reproducer, HoldsTheModuleBeforeTheFailingPass) {
  for (const bool with_input : {true, false}) {
    const std::string path = Folder() + "/fails.uop";
    const absl::Status status = RunPasses(
        "test-rename:times=2,test-fail,test-rename", kText,
        {path, "tg-opt --target=cl-intel", with_input ? kText : std::string_view(), false});
    EXPECT_EQ(status.message(),
              "test-fail (pass 2 of 3): tests want an error here\nreproducer: " + path);
    const std::string text = Read(path);
    EXPECT_THAT(text, StartsWith("// test-fail (pass 2 of 3): tests want an error here\n"
                                 "// Repeat with: tg-opt --target=cl-intel --pass=test-fail " +
                                 path + "\n"));
    EXPECT_THAT(text, HasSubstr("\nmodule @m_renamed_renamed\n"));
    // It does what it says.
    const absl::Status again = RunPasses("test-fail", text, {Folder() + "/again.uop"});
    EXPECT_THAT(std::string(again.message()), HasSubstr("tests want an error here"));
  }
}

TEST(Reproducer, ChoosesANewFileInTheFolderForTemporaryFiles) {
  ::setenv("TMPDIR", Folder().c_str(), 1);
  const std::string message(RunPasses("test-fail", kText, {}).message());
  const size_t at = message.find("reproducer: ");
  ASSERT_NE(at, std::string::npos) << message;
  const std::string path = message.substr(at + 12);
  EXPECT_THAT(path, HasSubstr("tg-m-test-fail-"));
  EXPECT_THAT(Read(path), HasSubstr("\nmodule @m\n"));
}

TEST(Reproducer, AFileThatCannotBeWrittenIsSaid) {
  const absl::Status status = RunPasses("test-fail", kText, {Folder() + "/no/such/folder/x.uop"});
  EXPECT_THAT(std::string(status.message()), HasSubstr("\nno reproducer: cannot write "));
}

using ReproducerDeathTest = ::testing::Test;

TEST(ReproducerDeathTest, HoldsInputAndPassesAfterACrash) {
  const std::string check = Folder() + "/check.uop", segv = Folder() + "/segv.uop";
  EXPECT_EXIT(
      (void)RunPasses("test-rename,test-crash,test-rename", kText, {check, "tg-opt", {}, true}),
      ::testing::KilledBySignal(SIGABRT), "internal error: unreachable\n.*reproducer: ");
  EXPECT_EXIT(
      (void)RunPasses("test-rename,test-crash:how=segv", kText, {segv, "tg-opt", kText, true}),
      ::testing::KilledBySignal(SIGSEGV), "reproducer: ");
  EXPECT_EQ(Read(check),
            "// crashed in test-crash (pass 2 of 3)\n"
            "// Repeat with: tg-opt --pass=test-rename,test-crash " +
                check + "\n" + kText);
  EXPECT_EQ(Read(segv),
            "// crashed in test-crash:how=segv (pass 2 of 2)\n"
            "// Repeat with: tg-opt --pass=test-rename,test-crash:how=segv " +
                segv + "\n" + kText);
}

}  // namespace
}  // namespace tg::instrument
