#include "codegen/opencl/cat.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tg::opencl {
namespace {

TEST(CatTest, TextsAndIntegers) {
  const std::string s(100, 'x');
  EXPECT_EQ(Cat("v", 7, " = ", s, std::string_view("[]").substr(0, 1)), "v7 = " + s + "[");
  EXPECT_EQ(Cat(INT64_MIN, " ", UINT64_MAX, " ", -1, " ", size_t{0}),
            "-9223372036854775808 18446744073709551615 -1 0");
  EXPECT_EQ(Cat(""), "");
}

}  // namespace
}  // namespace tg::opencl
