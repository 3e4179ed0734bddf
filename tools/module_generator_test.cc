#include "tools/module_generator.h"

#include <string>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

namespace tg::tools {
namespace {

TEST(ModuleGenerator, ModulesAreValidAndAsBigAsAsked) {
  for (const ModuleKind kind : {ModuleKind::kMixture, ModuleKind::kChain, ModuleKind::kIndex}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const auto module =
          GenerateModule({.nodes = 5000, .kind = kind, .names = seed % 2 == 0, .seed = seed});
      const absl::Status status = VerifyModule(*module);
      EXPECT_TRUE(status.ok()) << status.message();
      const size_t nodes = PostOrder(module->kernels.empty() ? module->graphs[0]->body.root
                                                             : module->kernels[0]->body.root)
                               .size();
      EXPECT_NEAR(static_cast<double>(nodes), 5000, 10) << static_cast<int>(kind) << " " << seed;
      const std::string text = PrintModule(*module);
      Diagnostics diags;
      const auto again = ParseModule(text, "generated", diags);
      ASSERT_TRUE(again) << diags.ToString();
      EXPECT_EQ(PrintModule(*again), text);
    }
  }
}

TEST(ModuleGenerator, TheSameOptionsGiveTheSameText) {
  const GeneratorOptions options{.nodes = 1000};
  const std::string text = PrintModule(*GenerateModule(options));
  EXPECT_EQ(PrintModule(*GenerateModule(options)), text);
  EXPECT_NE(PrintModule(*GenerateModule({.nodes = 1000, .seed = 2})), text);
}

}  // namespace
}  // namespace tg::tools
