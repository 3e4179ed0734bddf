#include "codegen/clike/cat.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tg::clike {
namespace {

TEST(CatTest, TextsAndIntegers) {
  const std::string s(100, 'x');
  EXPECT_EQ(Cat("v", 7, " = ", s, std::string_view("[]").substr(0, 1)), "v7 = " + s + "[");
  EXPECT_EQ(Cat(INT64_MIN, " ", UINT64_MAX, " ", -1, " ", size_t{0}),
            "-9223372036854775808 18446744073709551615 -1 0");
  EXPECT_EQ(Cat(""), "");
}

// Covers each code path that copies a piece, by its length, into texts whose sizes are near the
// limit of the inline buffer.
TEST(TextTest, PiecesOfAllLengths) {
  std::string letters;
  for (int i = 0; i < 80; ++i) letters += static_cast<char>('!' + i);
  for (size_t before = 0; before <= 70; ++before) {
    for (size_t n = 0; n <= 70; ++n) {
      const std::string_view first = std::string_view(letters).substr(0, before);
      const std::string_view piece = std::string_view(letters).substr(80 - n);
      Text text(first);
      text.Add(piece);
      ASSERT_EQ(text.view(), std::string(first) + std::string(piece));
      text.Add('.');
      ASSERT_EQ(text.str(), std::string(first) + std::string(piece) + ".");
    }
  }
}

TEST(TextTest, EveryKindOfPiece) {
  Text text;
  const Text other("text");
  Append(text, "literal ", std::string("string "), std::string_view("view "), other, ' ', INT64_MIN,
         " ", uint8_t{200}, " ", -7);
  EXPECT_EQ(text.view(), "literal string view text -9223372036854775808 200 -7");
}

TEST(TextTest, CopiesAndMoves) {
  for (size_t n : {size_t{0}, size_t{5}, size_t{32}, size_t{33}, size_t{500}}) {
    const std::string s(n, 'x');
    Text a(s);
    Text b(a);
    EXPECT_EQ(b.view(), s);
    Text c(std::move(b));
    EXPECT_EQ(c.view(), s);
    EXPECT_EQ(b.view(), "");  // NOLINT: tests the moved-from state
    b = a;
    b.Add("y");
    EXPECT_EQ(b.view(), s + "y");
    EXPECT_EQ(a.view(), s);
    a = std::move(b);
    EXPECT_EQ(a.view(), s + "y");
    a = std::string_view("short");
    EXPECT_EQ(a.view(), "short");
    a.Shrink(2);
    a.Fill(3, '-');
    EXPECT_EQ(a.view(), "sh---");
    a.clear();
    EXPECT_TRUE(a.empty());
  }
}

}  // namespace
}  // namespace tg::clike
