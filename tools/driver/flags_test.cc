#include "tools/driver/flags.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() {
    flags_.Bool("quick", &quick_, "be quick");
    flags_.Int("count", "N", &count_, "how many");
    flags_.Group("More");
    flags_.String("o", "FILE", &output_, "where to");
    flags_.String("maybe", "TEXT", &maybe_, "or not");
    flags_.List("names", "NAME,...", &names_, "who");
    flags_.Choice("color", {"auto", "always"}, &color_,
                  "when to use colours; this text is so long that it has to be broken into lines");
    flags_.OptionalChoice("check", {"results", "kernels"}, "results", &check_, "what to check");
  }

  // The positional arguments, joined; or the error.
  std::string Parse(const std::vector<std::string>& arguments) {
    const auto rest = flags_.Parse(arguments);
    if (!rest.ok()) return "error: " + std::string(rest.status().message());
    std::string joined;
    for (const std::string& r : *rest) joined += "<" + r + ">";
    return joined;
  }

  Flags flags_{"tool", "[options] x", "Does things."};
  bool quick_ = false;
  std::optional<int64_t> count_;
  std::string output_ = "-", color_ = "auto";
  std::optional<std::string> maybe_;
  std::string check_;
  std::vector<std::string> names_;
};

TEST_F(FlagsTest, NothingGivenChangesNothing) {
  EXPECT_EQ(Parse({}), "");
  EXPECT_FALSE(quick_);
  EXPECT_FALSE(count_);
  EXPECT_FALSE(maybe_);
  EXPECT_EQ(output_, "-");
}

TEST_F(FlagsTest, AChoiceThatMayBeLeftOut) {
  EXPECT_EQ(Parse({"--check", "in"}), "<in>");
  EXPECT_EQ(check_, "results");
  EXPECT_EQ(Parse({"--check=kernels"}), "");
  EXPECT_EQ(check_, "kernels");
  EXPECT_EQ(Parse({"--no-check"}), "");
  EXPECT_EQ(check_, "");
  EXPECT_THAT(Parse({"--check=kernel"}), HasSubstr("must be one of results, kernels"));
  EXPECT_THAT(Parse({"--no-color"}), HasSubstr("unknown option"));
  EXPECT_THAT(flags_.Help(), HasSubstr("--check[=results|kernels]"));
}

TEST_F(FlagsTest, EveryFormOfAValue) {
  EXPECT_EQ(Parse({"in", "--count=3", "-o", "out", "-color=always", "--maybe", "-5", "-"}),
            "<in><->");
  EXPECT_EQ(count_, 3);
  EXPECT_EQ(output_, "out");
  EXPECT_EQ(color_, "always");
  EXPECT_EQ(maybe_, "-5");
  EXPECT_EQ(Parse({"--maybe=", "--count", "-7", "-o=x=y"}), "");
  EXPECT_EQ(maybe_, "");
  EXPECT_EQ(count_, -7);
  EXPECT_EQ(output_, "x=y");
}

TEST_F(FlagsTest, Bools) {
  EXPECT_EQ(Parse({"--quick"}), "");
  EXPECT_TRUE(quick_);
  EXPECT_EQ(Parse({"--no-quick"}), "");
  EXPECT_FALSE(quick_);
  EXPECT_EQ(Parse({"--quick=true"}), "");
  EXPECT_TRUE(quick_);
  EXPECT_EQ(Parse({"--quick=false", "--quick", "x"}), "<x>");
  EXPECT_TRUE(quick_);
}

TEST_F(FlagsTest, RepeatedOptionsAreNotSplit) {
  std::vector<std::string> inputs;
  flags_.Repeated("input", "NAME=FILE", &inputs, "what to read");
  EXPECT_EQ(Parse({"--input=a=b,c", "--input", "d=e", "x"}), "<x>");
  EXPECT_THAT(inputs, ElementsAre("a=b,c", "d=e"));
}

TEST_F(FlagsTest, LevelMayStandAlone) {
  std::optional<int64_t> level;
  flags_.Level("verbose", "LEVEL", 2, &level, "say more");
  EXPECT_EQ(Parse({"--verbose", "x"}), "<x>");
  EXPECT_EQ(level, 2);
  EXPECT_EQ(Parse({"--verbose=4"}), "");
  EXPECT_EQ(level, 4);
  EXPECT_EQ(Parse({"--verbose=high"}), "error: --verbose must be an integer (it is 'high')");
  EXPECT_THAT(flags_.Help(), HasSubstr("--verbose[=LEVEL]"));
}

TEST_F(FlagsTest, ListsGrow) {
  EXPECT_EQ(Parse({"--names=a,b", "--names", "c"}), "");
  EXPECT_THAT(names_, ElementsAre("a", "b", "c"));
}

TEST_F(FlagsTest, TwoDashesEndTheOptions) {
  EXPECT_EQ(Parse({"--quick", "--", "--count=3", "-"}), "<--count=3><->");
  EXPECT_FALSE(count_);
}

TEST_F(FlagsTest, Errors) {
  EXPECT_EQ(Parse({"--qick"}), "error: unknown option --qick; did you mean '--quick'?");
  EXPECT_EQ(Parse({"-qick=3"}), "error: unknown option -qick; did you mean '--quick'?");
  EXPECT_EQ(Parse({"--elephants"}), "error: unknown option --elephants; see tool --help");
  EXPECT_THAT(Parse({"--no-count"}), HasSubstr("error: unknown option --no-count"));
  EXPECT_EQ(Parse({"--count"}), "error: --count needs a value: N");
  EXPECT_EQ(Parse({"-o"}), "error: -o needs a value: FILE");
  EXPECT_EQ(Parse({"--count=3x"}), "error: --count must be an integer (it is '3x')");
  EXPECT_EQ(Parse({"--count="}), "error: --count must be an integer (it is '')");
  EXPECT_EQ(Parse({"--quick=1"}), "error: --quick must be true or false (it is '1')");
  EXPECT_EQ(Parse({"--color=alwas"}),
            "error: --color must be one of auto, always; did you mean 'always'? (it is 'alwas')");
  EXPECT_EQ(Parse({"--names=a,,b"}), "error: --names has an empty item (it is 'a,,b')");
}

TEST_F(FlagsTest, HelpKeepsLineBreaks) {
  std::string text;
  flags_.String("lines", "X", &text, "one:\n  two\n  three");
  const std::string indent(30, ' ');
  EXPECT_THAT(flags_.Help(), HasSubstr("one:\n" + indent + "  two\n" + indent + "  three\n"));
}

TEST_F(FlagsTest, Help) {
  EXPECT_EQ(flags_.Help(), R"(Usage: tool [options] x
Does things.
  --quick                     be quick
  --count=N                   how many

More:
  -o FILE                     where to
  --maybe=TEXT                or not
  --names=NAME,...            who
  --color=auto|always         when to use colours; this text is so long that it has to be broken
                              into lines
  --check[=results|kernels]   what to check
)");
}

}  // namespace
}  // namespace tg
