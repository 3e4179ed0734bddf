// embed_test MODEL.gguf STATES.npy TOLERANCE: compares embeddings of a small model with those made
// of the states of tools/llm/reference.py. Row i of STATES belongs to token i of the text of
// logits_test. An error may be at most TOLERANCE times the largest state.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontend/gguf/language_model.h"
#include "runtime/io/npy.h"
#include "tools/llm/model_file.h"
#include "tools/llm/text_model.h"

namespace tg::llm {
namespace {

// As tools/llm/make_logits.py has it.
int32_t TokenAt(int64_t i, int64_t vocabulary) {
  return static_cast<int32_t>((i * 37 + i * i * 11 + 5) % vocabulary);
}

// The embedding of the first `count` tokens.
std::vector<double> Expected(const runtime::HostTensor& states, int64_t count,
                             const EmbeddingOptions& options) {
  const auto* values = reinterpret_cast<const float*>(states.data.data());
  const int64_t width = states.shape[1];
  std::vector<double> sum(static_cast<size_t>(width), 0.0);
  for (int64_t i = 0; i < count; ++i) {
    if (options.pooling == gguf::Pooling::kFirst && i > 0) continue;
    if (options.pooling == gguf::Pooling::kLast && i + 1 < count) continue;
    for (int64_t k = 0; k < width; ++k) {
      const double share = options.pooling == gguf::Pooling::kMean ? static_cast<double>(count) : 1;
      sum[static_cast<size_t>(k)] += static_cast<double>(values[i * width + k]) / share;
    }
  }
  double square = 0;
  for (const double x : sum) square += x * x;
  for (double& x : sum) x /= options.normalizes ? std::sqrt(square) : 1;
  return sum;
}

absl::Status Compare(TextModel& model, const runtime::HostTensor& states, int64_t count,
                     const EmbeddingOptions& options, double tolerance) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(TokenAt(i, model.vocabulary()));
  TG_ASSIGN_OR_RETURN(const std::vector<float> embedding, model.Embed(tokens, options));
  const std::vector<double> expected = Expected(states, count, options);
  if (embedding.size() != expected.size()) return InvalidArgument("the width is wrong");
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  for (size_t k = 0; k < expected.size(); ++k) {
    const double error = std::abs(static_cast<double>(embedding[k]) - expected[k]);
    if (!(error <= tolerance * largest)) {
      return InvalidArgument("number ", k, " of an embedding of ", count, " tokens by pooling ",
                             static_cast<int>(options.pooling), " is wrong by ",
                             std::to_string(error));
    }
  }
  return absl::OkStatus();
}

absl::Status Run(const std::string& path, const std::string& file, double tolerance) {
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> opened, ModelFile::Open(path));
  TG_ASSIGN_OR_RETURN(const runtime::HostTensor states, runtime::ReadNpy(file));
  if (states.type != runtime::ElementType::kF32 || states.shape.size() != 2) {
    return InvalidArgument(file, ": no table of float32");
  }
  const int64_t count = states.shape[0];
  TextModelOptions options;
  options.cache_programs = false;
  options.model.cache_type = gguf::CacheType::kF32;
  options.half_products = false;
  options.model.context = count;
  options.model.chunk = 32;
  options.model.for_embeddings = true;
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<TextModel> model, TextModel::Open(*opened, options));
  TG_RETURN_IF_ERROR(model->Prepare());
  if (model->pooling() != gguf::Pooling::kNone) return InvalidArgument("the file says a pooling");
  for (const gguf::Pooling pooling :
       {gguf::Pooling::kMean, gguf::Pooling::kFirst, gguf::Pooling::kLast}) {
    for (const bool normalizes : {true, false}) {
      const EmbeddingOptions how = {.pooling = pooling, .normalizes = normalizes};
      // In two chunks, of which the last one is padded or not, and in one. Of a text that is a long
      // one all states differ from those of its beginning.
      TG_RETURN_IF_ERROR(Compare(*model, states, count, how, tolerance));
      TG_RETURN_IF_ERROR(Compare(*model, states, 41, how, tolerance));
      if (path.find("longrope") != std::string::npos) continue;
      for (const int64_t shorter : {33, 32, 17, 1}) {
        TG_RETURN_IF_ERROR(Compare(*model, states, shorter, how, tolerance));
      }
    }
  }
  const int32_t one[] = {0};
  if (!absl::IsFailedPrecondition(model->Append(one).status())) {
    return InvalidArgument("a model for embeddings took a text");
  }
  const int32_t outside[] = {static_cast<int32_t>(model->vocabulary())};
  if (!absl::IsInvalidArgument(model->Embed(outside, {}).status())) {
    return InvalidArgument("a token outside of the vocabulary was taken");
  }
  const std::vector<int32_t> many(static_cast<size_t>(count) + 1, 0);
  if (!absl::IsResourceExhausted(model->Embed(many, {}).status())) {
    return InvalidArgument("a text beyond the context was taken");
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tg::llm

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: embed_test MODEL.gguf STATES.npy TOLERANCE\n");
    return 2;
  }
  const absl::Status status = tg::llm::Run(argv[1], argv[2], std::atof(argv[3]));
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", argv[1], std::string(status.message()).c_str());
  return 1;
}
