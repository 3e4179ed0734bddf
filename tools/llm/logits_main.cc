// logits MODEL.gguf TOKENS.npy OUTPUT [GREEDY [f16|f32 [DEVICE [f16|f32]]]], where the types are
// those of the caches and of products: writes the logits that follow each token to
// OUTPUT.logits.npy. Then continues the text by GREEDY tokens, each time the
// likeliest one, and writes these to OUTPUT.tokens.npy. tools/llm/versus.py compares both with
// other programs' results.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

using runtime::ElementType;
using runtime::HostTensor;

absl::Status Write(const std::string& path, ElementType type, std::vector<int64_t> shape,
                   const void* data) {
  TG_ASSIGN_OR_RETURN(HostTensor tensor, MakeHostTensor(type, std::move(shape)));
  std::memcpy(tensor.data.data(), data, tensor.data.size());
  return runtime::WriteNpy(path, tensor);
}

absl::Status Run(int argc, char** argv) {
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> file, ModelFile::Open(argv[1]));
  TG_ASSIGN_OR_RETURN(const HostTensor given, runtime::ReadNpy(argv[2]));
  if (given.type != ElementType::kI32 || given.shape.size() != 1) {
    return InvalidArgument(argv[2], ": no list of int32");
  }
  std::vector<int32_t> tokens(static_cast<size_t>(given.shape[0]));
  std::memcpy(tokens.data(), given.data.data(), given.data.size());
  const int64_t greedy = argc > 4 ? std::atoll(argv[4]) : 0;
  TextModelOptions options;
  if (argc > 5) options.model.cache_type = gguf::CacheTypeNamed(argv[5]);
  options.device = argc > 6 ? argv[6] : "";
  options.half_products = argc > 7 && std::string(argv[7]) == "f16";
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<TextModel> model, TextModel::Open(*file, options));

  std::vector<float> rows;
  std::span<const float> logits;
  for (const int32_t token : tokens) {
    TG_ASSIGN_OR_RETURN(logits, model->Append(std::span(&token, 1)));
    rows.insert(rows.end(), logits.begin(), logits.end());
  }
  // The whole text in chunks gives the same last row.
  model->Truncate(0);
  TG_ASSIGN_OR_RETURN(logits, model->Append(tokens));
  rows.insert(rows.end(), logits.begin(), logits.end());
  std::vector<int32_t> made;
  while (static_cast<int64_t>(made.size()) < greedy) {
    made.push_back(
        static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    TG_ASSIGN_OR_RETURN(logits, model->Append(std::span(&made.back(), 1)));
  }
  const std::string output = argv[3];
  TG_RETURN_IF_ERROR(Write(output + ".logits.npy", ElementType::kF32,
                           {given.shape[0] + 1, model->vocabulary()}, rows.data()));
  return Write(output + ".tokens.npy", ElementType::kI32, {static_cast<int64_t>(made.size())},
               made.data());
}

}  // namespace
}  // namespace tg::llm

int main(int argc, char** argv) {
  if (argc < 4 || argc > 8) {
    std::fprintf(stderr,
                 "usage: logits MODEL.gguf TOKENS.npy OUTPUT [GREEDY [f16|f32|q8_0 [DEVICE "
                 "[f16|f32]]]]\n");
    return 2;
  }
  const absl::Status status = tg::llm::Run(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "logits: %s\n", std::string(status.message()).c_str());
  return 1;
}
