#include "ir/text/constant.h"

#include <cmath>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "ir/value.h"

namespace tg {
namespace {

std::string Print(Scalar s, int64_t bits) {
  std::string out;
  AppendConstant(out, s, bits);
  return out;
}

void ExpectRoundTrip(Scalar s, int64_t bits) {
  const std::string text = Print(s, bits);
  int64_t back = 0;
  std::string error;
  ASSERT_TRUE(ParseConstant(s, text, &back, &error)) << text << ": " << error;
  ASSERT_EQ(back, bits) << GetScalarInfo(s).text << " " << text;
}

TEST(Constant, EveryValueOfTheNarrowFloats) {
  for (Scalar s : {Scalar::kFp8E4M3, Scalar::kFp8E5M2, Scalar::kF16, Scalar::kBF16}) {
    for (int64_t bits = 0; bits < int64_t{1} << BitWidth(s); ++bits) ExpectRoundTrip(s, bits);
  }
}

TEST(Constant, RandomBitsOfTheWideTypes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t any = random();
    ExpectRoundTrip(Scalar::kF32, static_cast<int64_t>(any & 0xffffffff));
    ExpectRoundTrip(Scalar::kF64, static_cast<int64_t>(any));
    for (Scalar s : {Scalar::kI8, Scalar::kU8, Scalar::kI16, Scalar::kU16, Scalar::kI32,
                     Scalar::kU32, Scalar::kI64, Scalar::kU64, Scalar::kIndex}) {
      ExpectRoundTrip(s, WrapInt(s, static_cast<int64_t>(any)));
    }
  }
}

TEST(Constant, Spelling) {
  struct Case {
    Scalar type;
    double value;
    const char* text;
  };
  const Case cases[] = {
      {Scalar::kF32, 1.0, "1.0"},
      {Scalar::kF32, -0.0, "-0.0"},
      {Scalar::kF32, 0.1, "0.1"},
      {Scalar::kF32, 1e-5, "1e-05"},
      {Scalar::kF32, 1e20, "1e+20"},
      {Scalar::kF64, 0.1, "0.1"},
      {Scalar::kF16, 0.1, "0.1"},
      {Scalar::kF16, 65504, "65504.0"},
      {Scalar::kBF16, 0.1, "0.1"},
      {Scalar::kFp8E4M3, 448, "448.0"},
      {Scalar::kF32, INFINITY, "inf"},
      {Scalar::kF16, -INFINITY, "-inf"},
      {Scalar::kF32, NAN, "nan"},
      {Scalar::kFp8E4M3, NAN, "nan"},
      {Scalar::kF32, 16777216, "16777216.0"},
  };
  for (const Case& c : cases) EXPECT_EQ(Print(c.type, BitsFromDouble(c.type, c.value)), c.text);
  EXPECT_EQ(Print(Scalar::kF32, 0x7fc01234), "nan(0x7fc01234)");
  EXPECT_EQ(Print(Scalar::kBool, 1), "true");
  EXPECT_EQ(Print(Scalar::kU64, -1), "18446744073709551615");
  // Not a value of its type, but a message still shows it.
  EXPECT_EQ(Print(Scalar::kBool, 7), "7");
  EXPECT_EQ(Print(Scalar::kF16, 0x12345), "74565");
}

TEST(Constant, OtherSpellingsOfFloats) {
  struct Case {
    Scalar type;
    const char* text;
    double value;
  };
  const Case cases[] = {
      {Scalar::kF32, "1", 1},       {Scalar::kF32, "-3", -3},    {Scalar::kF16, "1E3", 1000},
      {Scalar::kF32, "0.50", 0.5},  {Scalar::kF64, "1e+2", 100}, {Scalar::kF32, "16777216", 0x1p24},
      {Scalar::kF32, "1e-46", 0.0},
  };
  for (const Case& c : cases) {
    int64_t bits = 0;
    std::string error;
    const bool ok = ParseConstant(c.type, c.text, &bits, &error);
    if (c.value == 0.0) {
      // The value is below the least positive one.
      EXPECT_FALSE(ok) << c.text;
      continue;
    }
    EXPECT_TRUE(ok) << error;
    EXPECT_EQ(bits, BitsFromDouble(c.type, c.value)) << c.text;
  }
}

TEST(Constant, Refused) {
  for (const char* text : {"", "-", "1.5x", "0x10", "infinity", "nan(", "nan(0x)", "--1", "+1",
                           "1e", ".5", "nan(0x7fc000000)", "nan(0x7f800000)"}) {
    int64_t bits = 0;
    std::string error;
    EXPECT_FALSE(ParseConstant(Scalar::kF32, text, &bits, &error)) << text;
    EXPECT_FALSE(error.empty());
    EXPECT_FALSE(ParseConstant(Scalar::kI32, text, &bits, &error)) << text;
    EXPECT_FALSE(ParseConstant(Scalar::kBool, text, &bits, &error)) << text;
  }
}

}  // namespace
}  // namespace tg
