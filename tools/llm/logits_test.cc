// logits_test MODEL.gguf LOGITS.npy TOLERANCE: compares the logits of a small model, for several
// ways of cutting the text into chunks, with those of tools/llm/reference.py. Row i of LOGITS
// follows token i of the text whose tokens are TokenAt(0), TokenAt(1), ... An error may be at most
// TOLERANCE times the largest logit.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
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
    const int64_t count = expected_.shape[0], vocabulary = expected_.shape[1];
    const auto* values = reinterpret_cast<const float*>(expected_.data.data());
    for (size_t k = 0; model_.length() < count; ++k) {
      std::vector<int32_t> tokens;
      const int64_t begin = model_.length();
      const int64_t end = std::min(count, begin + chunks[k % chunks.size()]);
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
    }
    return absl::OkStatus();
  }
  double largest() const { return largest_; }

 private:
  TextModel& model_;
  const runtime::HostTensor& expected_;
  double tolerance_ = 0, largest_ = 0;
};

absl::Status Run(const std::string& path, const std::string& logits, double tolerance) {
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> file, ModelFile::Open(path));
  TG_ASSIGN_OR_RETURN(const runtime::HostTensor expected, runtime::ReadNpy(logits));
  if (expected.type != runtime::ElementType::kF32 || expected.shape.size() != 2) {
    return InvalidArgument(logits, ": no table of float32");
  }
  TextModelOptions options;
  options.cache_programs = false;
  options.model.cache_f32 = true;
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
       std::vector<std::vector<int64_t>>{{count}, {1}, {5, 1, 17}, {16}, {31, 2}}) {
    TG_RETURN_IF_ERROR(check.Run(chunks));
  }
  std::printf("%s: largest error %.3g\n", path.c_str(), check.largest());
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
  if (argc != 4) {
    std::fprintf(stderr, "usage: logits_test MODEL.gguf LOGITS.npy TOLERANCE\n");
    return 2;
  }
  const absl::Status status = tg::llm::Run(argv[1], argv[2], std::atof(argv[3]));
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", argv[1], std::string(status.message()).c_str());
  return 1;
}
