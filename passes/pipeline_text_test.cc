#include "passes/pipeline_text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "passes/pass_registry.h"

namespace tg::passes {
namespace {

using ::testing::HasSubstr;

absl::Status Ok(Module&, PassContext&) { return absl::OkStatus(); }

constexpr PassOption kOptions[] = {
    {"max", PassOption::Kind::kInt, "4", ""},
    {"explain", PassOption::Kind::kFlag, "false", ""},
    {"opts", PassOption::Kind::kString, "", ""},
};
constexpr Pass kLower = {"lower", "", kOptions, &Ok};
constexpr Pass kPlain = {"plain", "", {}, &Ok, /*former=*/"simple"};

PassRegistry Registry() {
  PassRegistry registry;
  registry.AddAll(std::vector<const Pass*>{&kLower, &kPlain});
  return registry;
}

absl::StatusOr<Pipeline> Parse(std::string_view text) {
  const Pass* const defaults[] = {&kPlain, &kLower};
  return ParsePipeline(text, Registry(), defaults);
}

std::string Error(std::string_view text) {
  const absl::StatusOr<Pipeline> pipeline = Parse(text);
  return pipeline.ok() ? "no error" : std::string(pipeline.status().message());
}

std::string Option(std::string_view text, std::string_view name) {
  const absl::StatusOr<Pipeline> pipeline = Parse(text);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return (*pipeline)[0].options.find(name)->second;
}

TEST(PipelineText, EmptyTextIsNoPass) {
  EXPECT_EQ(Parse("")->size(), 0u);
  EXPECT_EQ(Parse("  ")->size(), 0u);
}

TEST(PipelineText, OptionsHaveTheirDefaults) {
  EXPECT_EQ(Option("lower", "max"), "4");
  EXPECT_EQ(Option("lower", "explain"), "false");
  EXPECT_EQ(Option("lower", "opts"), "");
}

TEST(PipelineText, OptionsAreRead) {
  EXPECT_EQ(Option("lower:max=-8:explain", "max"), "-8");
  EXPECT_EQ(Option("lower:max=8:explain", "explain"), "true");
  EXPECT_EQ(Option("lower:explain=true", "explain"), "true");
  EXPECT_EQ(Option("lower:explain=false", "explain"), "false");
}

TEST(PipelineText, ValuesMayHoldBracketsAndQuotes) {
  EXPECT_EQ(Option("lower:opts=[local(i0, 4):x]:explain,plain", "opts"), "[local(i0, 4):x]");
  EXPECT_EQ(Option(R"(lower:opts="a,b:c\"]",plain)", "opts"), R"("a,b:c\"]")");
  EXPECT_EQ(Option("lower:opts=a=b", "opts"), "a=b");
}

TEST(PipelineText, SpacesAreSkipped) {
  const auto pipeline = Parse(" plain , lower : max = 8 ");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(PrintPipeline(*pipeline), "plain,lower:max=8");
}

TEST(PipelineText, DefaultStandsForTheDefaultPipeline) {
  EXPECT_EQ(PrintPipeline(*Parse("lower:explain,default")), "lower:explain,plain,lower");
  EXPECT_EQ(Error("default:max=1"),
            "pipeline, column 8: 'default' has no options; name its passes instead");
}

TEST(PipelineText, PrintsWhatDiffersFromTheDefaultAndReadsItBack) {
  for (const char* text :
       {"", "plain", "lower,lower:max=8,plain", "lower:max=7:explain:opts=[a(b, 4), c]"}) {
    const auto pipeline = Parse(text);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    EXPECT_EQ(PrintPipeline(*pipeline), text);
  }
  EXPECT_EQ(PrintPipeline(*Parse("lower:max=4:explain=false")), "lower");
}

TEST(PipelineText, Errors) {
  EXPECT_EQ(Error("plain,lowr"), "pipeline, column 7: unknown pass 'lowr'; did you mean 'lower'?");
  EXPECT_EQ(Error("frobnicate"),
            "pipeline, column 1: unknown pass 'frobnicate'; there are: lower, plain");
  EXPECT_EQ(Error("plain,"), "pipeline, column 7: expected the name of a pass");
  EXPECT_EQ(Error(",plain"), "pipeline, column 1: expected the name of a pass");
  EXPECT_EQ(Error("lower=3"), "pipeline, column 6: expected a pass, not '='");
  EXPECT_EQ(Error("lower:"), "pipeline, column 7: expected the name of an option of pass 'lower'");
  EXPECT_EQ(Error("lower:maxx=3"),
            "pipeline, column 7: pass 'lower' has no option 'maxx'; did you mean 'max'?");
  EXPECT_EQ(Error("lower:zzz"),
            "pipeline, column 7: pass 'lower' has no option 'zzz'; it has: max, explain, opts");
  EXPECT_EQ(Error("plain:max=1"),
            "pipeline, column 7: pass 'plain' has no option 'max'; it has none");
  EXPECT_EQ(Error("lower:max"),
            "pipeline, column 7: option 'max' of pass 'lower' needs a value: max=...");
  EXPECT_EQ(Error("lower:max=4x"),
            "pipeline, column 11: option 'max' of pass 'lower' must be an integer, not '4x'");
  EXPECT_EQ(Error("lower:max="),
            "pipeline, column 11: option 'max' of pass 'lower' must be an integer, not ''");
  EXPECT_THAT(Error("lower:max=99999999999999999999"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(Error("lower:explain=yes"), HasSubstr("must be true or false, not 'yes'"));
  EXPECT_THAT(Error("lower:max=1:max=2"), HasSubstr("is given twice"));
  EXPECT_THAT(Error("lower:opts=[a(b]"), HasSubstr("unbalanced ']'"));
  EXPECT_THAT(Error("lower:opts=[a,plain"), HasSubstr("the value lacks a ']'"));
  EXPECT_THAT(Error("lower:opts=\"a,plain"), HasSubstr("is not closed"));
}

TEST(PassRegistry, FindsByName) {
  const PassRegistry registry = Registry();
  EXPECT_EQ(registry.Find("lower"), &kLower);
  EXPECT_EQ(registry.Find("upper"), nullptr);
  EXPECT_EQ(registry.Find(""), nullptr);
  EXPECT_EQ(registry.Find("simple"), &kPlain);
  EXPECT_EQ(PrintPipeline(*Parse("simple,lower:max=8")),
            PrintPipeline(*Parse("plain,lower:max=8")));
  EXPECT_EQ(registry.passes().size(), 2u);
}

TEST(PassRegistry, RefusesWhatIsNoPass) {
  static constexpr PassOption kBadDefault[] = {{"n", PassOption::Kind::kInt, "x", ""}};
  static constexpr PassOption kBadName[] = {{"N", PassOption::Kind::kInt, "1", ""}};
  static constexpr PassOption kTwice[] = {{"n", PassOption::Kind::kInt, "1", ""},
                                          {"n", PassOption::Kind::kFlag, "true", ""}};
  struct {
    Pass pass;
    const char* message;
  } const kCases[] = {
      {{"lower", "", {}, &Ok}, "pass 'lower' is already registered"},
      {{"simple", "", {}, &Ok}, "pass 'simple' is already registered"},
      {{"x", "", {}, &Ok, "simple"}, "pass 'x' is already registered"},
      {{"Upper", "", {}, &Ok}, "pass 'Upper': a name is [a-z][a-z0-9-]*"},
      {{"", "", {}, &Ok}, "pass '': a name is [a-z][a-z0-9-]*"},
      {{"default", "", {}, &Ok}, "pass 'default': the name means the default pipeline"},
      {{"x", "", {}, nullptr}, "pass 'x' has no function"},
      {{"x", "", kBadDefault, &Ok}, "pass 'x': option 'n': the default must be an integer"},
      {{"x", "", kBadName, &Ok}, "pass 'x': option 'N': a name is [a-z][a-z0-9-]*"},
      {{"x", "", kTwice, &Ok}, "pass 'x': option 'n' is declared twice"},
  };
  PassRegistry registry = Registry();
  for (const auto& c : kCases) EXPECT_EQ(registry.Add(c.pass).message(), c.message);
  EXPECT_EQ(registry.passes().size(), 2u);
}

}  // namespace
}  // namespace tg::passes
