#include "tools/llm/text_stream.h"

#include "gtest/gtest.h"

namespace tg::llm {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

TEST(TextStreamTest, ShowsWholeCharactersOnly) {
  TextStream stream({});
  EXPECT_EQ(stream.Add("a\xC3"), "a");
  EXPECT_EQ(stream.Add("\xA4"), "\xC3\xA4");
  EXPECT_EQ(stream.Add("\xF0\x9F"), "");
  EXPECT_EQ(stream.Add("\x98"), "");
  EXPECT_EQ(stream.Add("\x80!"), "\xF0\x9F\x98\x80!");
  EXPECT_EQ(stream.Finish(), "");
}

TEST(TextStreamTest, WhatIsNoUtf8IsReplaced) {
  TextStream stream({});
  EXPECT_EQ(stream.Add("\xFFz"), std::string(kReplacement) + "z");
  // An overlong form, a surrogate, and a number beyond U+10FFFF.
  EXPECT_EQ(stream.Add("\xC0\x80"), std::string(kReplacement) + kReplacement);
  EXPECT_EQ(stream.Add("\xED\xA0"), std::string(kReplacement) + kReplacement);
  EXPECT_EQ(stream.Add("\xF4\x90"), std::string(kReplacement) + kReplacement);
  EXPECT_EQ(stream.Add("\xE2\x82"), "");
  EXPECT_EQ(stream.Finish(), kReplacement);
}

TEST(TextStreamTest, StopsAreNotShown) {
  TextStream stream({"END", "stop"});
  EXPECT_EQ(stream.Add("one E"), "one ");
  EXPECT_EQ(stream.Add("N"), "");
  EXPECT_EQ(stream.Add("T"), "ENT");
  EXPECT_FALSE(stream.is_stopped());
  EXPECT_EQ(stream.Add(" two ENDthree"), " two ");
  EXPECT_TRUE(stream.is_stopped());
  EXPECT_EQ(stream.Add("four"), "");
  EXPECT_EQ(stream.Finish(), "");
}

TEST(TextStreamTest, TheFirstStopCounts) {
  TextStream stream({"b", "a"});
  EXPECT_EQ(stream.Add("xab"), "x");
  EXPECT_TRUE(stream.is_stopped());
}

TEST(TextStreamTest, WhatBeganAStopIsShownAtTheEnd) {
  TextStream stream({"###", ""});
  EXPECT_EQ(stream.Add("a##"), "a");
  EXPECT_EQ(stream.Finish(), "##");
}

TEST(TextStreamTest, AStopBehindAnUnfinishedCharacter) {
  TextStream stream({"!"});
  EXPECT_EQ(stream.Add("\xC3!"), kReplacement);
  EXPECT_TRUE(stream.is_stopped());
}

}  // namespace
}  // namespace tg::llm
