// logits_test MODEL.gguf LOGITS.npy TOLERANCE: compares the logits of a small model, for several
// ways of cutting the text into chunks, with those of tools/llm/reference.py. Row i of LOGITS
// follows token i of the text whose tokens are TokenAt(0), TokenAt(1), ... An error may be at most
// TOLERANCE times the largest logit. f16: products of halves; q8_0: the type of the caches, which
// is f32 otherwise.
#include <algorithm>
#include <atomic>
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

class Check {
 public:
  Check(TextModel& model, const runtime::HostTensor& expected, double tolerance)
      : model_(model), expected_(expected) {
    const auto* values = reinterpret_cast<const float*>(expected.data.data());
    double largest = 0;
    for (size_t i = 0; i < expected.data.size() / sizeof(float); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(values[i])));
    }
    tolerance_ = tolerance * largest;
  }

  // Appends tokens in chunks of these sizes in turn.
  absl::Status Run(const std::vector<int64_t>& chunks) {
    model_.Truncate(0);
    for (size_t k = 0; model_.length() < expected_.shape[0]; ++k) {
      const int64_t end = model_.length() + chunks[k % chunks.size()];
      TG_RETURN_IF_ERROR(Append(std::min(expected_.shape[0], end)));
    }
    return absl::OkStatus();
  }
  // Takes tokens back and appends others, as a conversation that goes on in another way does.
  absl::Status Turn(int64_t length, int64_t next) {
    model_.Truncate(length);
    return Append(length + next);
  }
  double largest() const { return largest_; }

 private:
  // Appends tokens until there are `end`, at once.
  absl::Status Append(int64_t end) {
    const int64_t begin = model_.length(), vocabulary = expected_.shape[1];
    const auto* values = reinterpret_cast<const float*>(expected_.data.data());
    std::vector<int32_t> tokens;
    for (int64_t i = begin; i < end; ++i) tokens.push_back(TokenAt(i, vocabulary));
    TG_ASSIGN_OR_RETURN(const std::span<const float> logits, model_.Append(tokens));
    for (int64_t i = 0; i < vocabulary; ++i) {
      const double error = std::abs(logits[static_cast<size_t>(i)] -
                                    static_cast<double>(values[(end - 1) * vocabulary + i]));
      if (!(error <= tolerance_)) {
        return InvalidArgument("logit ", i, " behind token ", end - 1, " is wrong by ",
                               std::to_string(error), " after a chunk of ", end - begin);
      }
      largest_ = std::max(largest_, error);
    }
    return absl::OkStatus();
  }

  TextModel& model_;
  const runtime::HostTensor& expected_;
  double tolerance_ = 0, largest_ = 0;
};

absl::Status Run(const std::string& path, const std::string& logits, double tolerance,
                 const std::string& how) {
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> file, ModelFile::Open(path));
  TG_ASSIGN_OR_RETURN(const runtime::HostTensor expected, runtime::ReadNpy(logits));
  if (expected.type != runtime::ElementType::kF32 || expected.shape.size() != 2) {
    return InvalidArgument(logits, ": no table of float32");
  }
  TextModelOptions options;
  options.cache_programs = false;
  options.model.cache_type = how == "q8_0" ? gguf::CacheType::kQ8_0 : gguf::CacheType::kF32;
  options.half_products = how == "f16";
  options.model.context = expected.shape[0];
  options.model.chunk = 32;
  const char* device = std::getenv("TG_LLM_DEVICE");
  options.device = device ? device : "";
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<TextModel> model, TextModel::Open(*file, options));
  if (model->vocabulary() != expected.shape[1]) {
    return InvalidArgument(logits, ": ", expected.shape[1], " logits, but a vocabulary of ",
                           model->vocabulary());
  }
  Check check(*model, expected, tolerance);
  const int64_t count = expected.shape[0];
  for (const std::vector<int64_t>& chunks :
       std::vector<std::vector<int64_t>>{{count}, {1}, {5, 1, 17}, {3, 16, 8}, {31, 2}}) {
    TG_RETURN_IF_ERROR(check.Run(chunks));
  }
  // From a full text back to a short one, and to a long one again.
  TG_RETURN_IF_ERROR(check.Turn(count / 2, 1));
  TG_RETURN_IF_ERROR(check.Turn(count / 3, count - count / 3));
  std::printf("%s: largest error %.3g, %lld tokens computed again\n", path.c_str(), check.largest(),
              static_cast<long long>(model->recomputed()));
  // An interrupt leaves whole chunks of the text, which can go on.
  model->Truncate(0);
  const std::atomic<bool> interrupt = true;
  const int32_t two[] = {1, 2};
  if (!absl::IsCancelled(model->Append(two, &interrupt).status()) || model->length() != 0) {
    return InvalidArgument("an interrupt did not stop a text");
  }
  TG_RETURN_IF_ERROR(check.Turn(0, count));
  // The context is full now.
  const int32_t one[] = {0};
  if (model->Append(one).status().code() != absl::StatusCode::kResourceExhausted) {
    return InvalidArgument("a token beyond the context was taken");
  }
  model->Truncate(0);
  const int32_t outside[] = {static_cast<int32_t>(model->vocabulary())};
  if (model->Append(outside).status().code() != absl::StatusCode::kInvalidArgument) {
    return InvalidArgument("a token outside of the vocabulary was taken");
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tg::llm

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    std::fprintf(stderr, "usage: logits_test MODEL.gguf LOGITS.npy TOLERANCE [f16|q8_0]\n");
    return 2;
  }
  const absl::Status status =
      tg::llm::Run(argv[1], argv[2], std::atof(argv[3]), argc > 4 ? argv[4] : "");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", argv[1], std::string(status.message()).c_str());
  return 1;
}
