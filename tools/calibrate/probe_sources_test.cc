// Kernels that only some devices compile: their text.
#include "tools/calibrate/probe_sources.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace tg::calibrate {
namespace {

int Count(const std::string& text, std::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Each chain has four other sums, so that no instruction waits for the one before it.
TEST(ProbeSources, MatrixInstructions) {
  const std::string source = MatrixSource();
  EXPECT_EQ(Count(source, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), kChains);
  EXPECT_EQ(Count(source, "\"+f\"(x"), 4 * kChains);
  EXPECT_EQ(Count(source, "  float x"), 4 * kChains);
  EXPECT_EQ(Count(source, "{"), Count(source, "}"));
}

TEST(ProbeSources, ChainsOfMultiplyAdds) {
  const std::string source = MultiplyAddSource(Scalar::kF16, 4);
  EXPECT_EQ(Count(source, "fma("), kChains);
  EXPECT_EQ(Count(source, "cl_khr_fp16"), 1);
  EXPECT_EQ(Count(MultiplyAddSource(Scalar::kI32, 1), " * vm + va"), kChains);
}

}  // namespace
}  // namespace tg::calibrate
