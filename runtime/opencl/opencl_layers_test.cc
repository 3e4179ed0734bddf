#include "runtime/opencl/opencl_layers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace tg::runtime {
namespace {

TEST(OpenClLayers, OnlyTheyAreLeftOut) {
  EXPECT_EQ(WithoutOpenClLayers(""), "");
  EXPECT_EQ(WithoutOpenClLayers("/a/libOpenCL.so"), "");
  EXPECT_EQ(WithoutOpenClLayers("/a/libOpenCL.so.1:/b/libmalloc.so"), "/b/libmalloc.so");
  EXPECT_EQ(WithoutOpenClLayers("x.so  /libOpenCL.so/y.so:libOpenCL.so"),
            "x.so:/libOpenCL.so/y.so");
}

TEST(OpenClLayers, ChildrenDoNotInheritThem) {
  ::setenv("LD_PRELOAD", "libOpenCL.so:other.so", /*overwrite=*/1);
  KeepOpenClLayersFromChildren();
  EXPECT_STREQ(::getenv("LD_PRELOAD"), "other.so");
  ::setenv("LD_PRELOAD", "libOpenCL.so", /*overwrite=*/1);
  KeepOpenClLayersFromChildren();
  EXPECT_EQ(::getenv("LD_PRELOAD"), nullptr);
  KeepOpenClLayersFromChildren();
  EXPECT_EQ(::getenv("LD_PRELOAD"), nullptr);
}

}  // namespace
}  // namespace tg::runtime
