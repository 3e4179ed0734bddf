#include "codegen/opencl/spelling.h"

#include "gtest/gtest.h"

namespace tg::opencl {
namespace {

TEST(IsSpelled, FunctionsAndTypes) {
  for (const char* name : {"exp2", "trunc", "half", "max", "float"}) {
    EXPECT_TRUE(Spellings().IsSpelled(name)) << name;
  }
  for (const char* name : {"", "exp", "exp2f", "x", "one", "_", "0"}) {
    EXPECT_FALSE(Spellings().IsSpelled(name)) << name;
  }
}

TEST(IsSpelled, FunctionsOfTypes) {
  for (const char* name : {"floordiv_int", "sin_float4", "max_half", "pow_double8"}) {
    EXPECT_TRUE(Spellings().IsSpelled(name)) << name;
  }
  for (const char* name : {"floordiv", "floordiv_", "sin_x_", "exp2_float"}) {
    EXPECT_FALSE(Spellings().IsSpelled(name)) << name;
  }
}

}  // namespace
}  // namespace tg::opencl
