#include "runtime/artifact/compress.h"

#include <gtest/gtest.h>

#include <random>

namespace tg::artifact {
namespace {

TEST(Compress, GivesTheTextBack) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const size_t letters = 1 + random() % 256;
    while (text.size() < static_cast<size_t>(round) * 20) {
      if (random() % 3 == 0 && !text.empty()) {
        text += text.substr(random() % text.size(), random() % 300);
      } else {
        text += static_cast<char>(random() % letters);
      }
    }
    const auto again = Unpack(Pack(text), text.size());
    ASSERT_TRUE(again.has_value()) << round;
    ASSERT_EQ(*again, text);
  }
}

TEST(Compress, MakesRepetitionsSmall) {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    text += "  %v" + std::to_string(i) + " = fmul <16 x float> %v" + std::to_string(i / 2) + "\n";
  }
  EXPECT_LT(Pack(text).size(), text.size() / 3);
  EXPECT_LT(Pack(std::string(100000, 'x')).size(), 20u);
}

// The packed form of a file that was written before is still read.
TEST(Compress, Form) {
  EXPECT_EQ(Pack(""), std::string("\0\0", 2));
  EXPECT_EQ(Pack("abc"), std::string("\3abc\0", 5));
  EXPECT_EQ(Pack("ababababab"), std::string("\2ab\5\2\0\0", 7));
}

TEST(Compress, WhatIsNoPackedFormIsNotUnpacked) {
  const std::string text = "ababababab", packed = Pack(text);
  EXPECT_FALSE(Unpack(packed, text.size() - 1).has_value());
  EXPECT_FALSE(Unpack(packed, text.size() + 1).has_value());
  EXPECT_FALSE(Unpack(packed + "x", text.size()).has_value());
  for (size_t i = 0; i < packed.size(); ++i) {
    EXPECT_FALSE(Unpack(packed.substr(0, i), text.size()).has_value()) << i;
  }
  EXPECT_FALSE(Unpack(std::string("\2ab\5\3\0\0", 7), 10).has_value());  // before the beginning
  EXPECT_FALSE(Unpack(std::string("\2ab\5\0\0\0", 7), 10).has_value());
  EXPECT_FALSE(Unpack("\xff\xff\xff\xff\xff\xff", 10).has_value());
  // Of other bytes comes nothing, or a text of that size.
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = packed;
    changed[random() % changed.size()] = static_cast<char>(random());
    const auto unpacked = Unpack(changed, text.size());
    EXPECT_EQ(unpacked.value_or(text).size(), text.size());
  }
}

}  // namespace
}  // namespace tg::artifact
