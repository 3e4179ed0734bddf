#include "frontend/gguf/language_model.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "base/check.h"
#include "gtest/gtest.h"
#include "ir/module.h"

namespace tg::gguf {
namespace {

class LanguageModelTest : public testing::TestWithParam<CacheType> {
 protected:
  LanguageModelTest() {
    const std::string path = "testdata/gguf/llama.gguf";
    std::stringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    bytes_ = bytes.str();
    auto model = ReadModel(
        path, [&](const std::string&) -> absl::StatusOr<std::string_view> { return bytes_; });
    TG_CHECK(model.ok());
    model_.emplace(*std::move(model));
  }

  LanguageModel Build(const LanguageModelOptions& options) {
    auto built = BuildLanguageModel(*model_, options);
    TG_CHECK(built.ok());
    return *std::move(built);
  }

  std::string bytes_;
  std::optional<Model> model_;
};

// Products of which both factors are widened halves, in the graph that reads chunks.
int64_t ProductsOfHalves(const LanguageModel& model) {
  const auto is_half = [](const UOp* u) {
    while (IsMovement(u->op)) u = u->src(0);
    return u->op == Op::kCast && u->src(0)->dtype.scalar() == Scalar::kF16;
  };
  int64_t count = 0;
  for (const auto& graph : model.module->graphs) {
    if (graph->name != "prefill") continue;
    for (const UOp* u : graph->body.Order()) {
      count += u->op == Op::kMul && is_half(u->src(0)) && is_half(u->src(1));
    }
  }
  return count;
}

// A layer has seven products of weights, and the scores. (What values are multiplied by is divided
// behind its rounding.)
TEST_P(LanguageModelTest, AttentionOfAChunkMultipliesHalves) {
  LanguageModelOptions options{.cache_type = GetParam()};
  EXPECT_EQ(ProductsOfHalves(Build(options)), 0);
  options.half_products = true;
  const LanguageModel model = Build(options);
  EXPECT_EQ(ProductsOfHalves(model), 8 * model.parameters.layers);
}

TEST_P(LanguageModelTest, ChunksAreLongWhereNoScoresAreStored) {
  constexpr int64_t kContext = 1 << 20;
  model_->metadata["llama.context_length"] = kContext;
  LanguageModelOptions options{
      .context = kContext, .cache_type = GetParam(), .half_products = true};
  const int64_t limited = Build(options).max_blocks;
  options.fuses_attention = true;
  const int64_t most = LanguageModelOptions::kMaxChunk / LanguageModelOptions::kBlockTokens;
  EXPECT_LT(limited, most);
  EXPECT_EQ(Build(options).max_blocks, most);
}

INSTANTIATE_TEST_SUITE_P(Caches, LanguageModelTest,
                         testing::Values(CacheType::kF16, CacheType::kF32, CacheType::kQ8_0));

}  // namespace
}  // namespace tg::gguf
