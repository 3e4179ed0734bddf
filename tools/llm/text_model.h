// A text model on a device: appends tokens to a text, and computes the logits of the next token.
//
// The keys and values of the text so far stay on the device. Chunks of tokens and single tokens are
// two graphs of one module, which is compiled once; a step only changes variables and the tokens.
#ifndef TG_TOOLS_LLM_TEXT_MODEL_H_
#define TG_TOOLS_LLM_TEXT_MODEL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/gguf/language_model.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/io/host_tensor.h"
#include "runtime/session/device_request.h"
#include "runtime/session/device_session.h"
#include "tools/llm/compiled_text.h"
#include "tools/llm/model_file.h"

namespace tg::llm {

struct TextModelOptions {
  gguf::LanguageModelOptions model;
  std::string device;  // as for ChooseDevice
  // The type of a prompt's products; empty: as the device prefers.
  std::optional<bool> half_products;
  std::string schedules;      // a file of measured schedules; empty: none
  bool time_kernels = false;  // session().last_times() has the kernels' times
  bool cache_programs = true;
  bool verify = true;       // reads the weights in a compiled model, to find damage
  bool has_workers = true;  // this program is one too (runtime/opencl/compile_job.h)
  // Called with a line where a compiled model's kernels are compiled again.
  std::function<void(const std::string&)> note = {};
  // Called while kernels are compiled: how many are done, of how many.
  std::function<void(size_t done, size_t total)> on_compiled = {};
  // Called while weights are uploaded: bytes, of how many.
  std::function<void(size_t done, size_t total)> on_uploaded = {};
};

// Sets how a module is made for the device that is asked for: whether it has matrix instructions,
// which multiply halves, unless `half_products` says what to do, and whether it fuses attention.
absl::Status FitToDevice(const runtime::DeviceRequest& request, std::string_view target,
                         std::optional<bool> half_products, gguf::LanguageModelOptions& options);

// The module of a model, verified.
absl::StatusOr<gguf::LanguageModel> BuildTextModule(const ModelFile& file,
                                                    const gguf::LanguageModelOptions& options);
// The same with the products of `options`, which the device may decide.
absl::StatusOr<gguf::LanguageModel> BuildTextModule(const ModelFile& file,
                                                    const TextModelOptions& options);
TextModelSizes SizesOf(const gguf::LanguageModel& model);

// How the states of a text's tokens become its embedding.
struct EmbeddingOptions {
  gguf::Pooling pooling = gguf::Pooling::kNone;  // kNone: what the file says, or else the mean
  bool normalizes = true;                        // to a length of 1
};

class TextModel {
 public:
  // Compiles the model and uploads its weights. `file` must outlive it.
  static absl::StatusOr<std::unique_ptr<TextModel>> Open(const ModelFile& file,
                                                         const TextModelOptions& options);
  // The same for a compiled model; `options.model` has no part in it.
  static absl::StatusOr<std::unique_ptr<TextModel>> Open(artifact::ArtifactFile file,
                                                         const TextModelSizes& sizes,
                                                         const TextModelOptions& options);

  // Uploads the weights and makes all plans, by runs whose results are discarded, so that later
  // steps only compute. Without this call, the first steps do so.
  absl::Status Prepare();

  // Appends at least one token. Returns the logits of the token that follows the last one, valid
  // until the next call. Returns InvalidArgument for a token outside of the vocabulary. Returns
  // ResourceExhausted, and appends nothing, if the text would be longer than the context. Returns
  // Cancelled if `interrupt` is set between two chunks; length() is then what was computed.
  //
  // Some models rotate queries and keys in another way once a text passes a length. A text that is
  // taken to the other side of that length, by Append or Truncate, is computed again as a whole by
  // Append, so that the logits depend on the text alone.
  absl::StatusOr<std::span<const float>> Append(std::span<const int32_t> tokens,
                                                const std::atomic<bool>* interrupt = nullptr);

  // The embedding of at least one token: `width()` numbers. Only for a model that was opened for
  // embeddings, which appends nothing. Errors are those of Append; the text so far is given up.
  absl::StatusOr<std::vector<float>> Embed(std::span<const int32_t> tokens,
                                           const EmbeddingOptions& options);

  // Takes back all tokens but the first `length`; none if there are fewer.
  void Truncate(int64_t length);

  int64_t length() const { return static_cast<int64_t>(text_.size()); }  // tokens of the text
  int64_t context() const { return sizes_.context; }                     // the most it may have
  int64_t recomputed() const { return recomputed_; }  // tokens that were computed again, so far
  int64_t vocabulary() const { return sizes_.vocabulary; }
  bool is_for_embeddings() const { return is_for_embeddings_; }
  int64_t width() const { return width_; }  // of an embedding
  // What the file says of embeddings.
  gguf::Pooling pooling() const { return pooling_; }
  int64_t max_chunk() const { return sizes_.max_blocks * gguf::LanguageModelOptions::kBlockTokens; }
  // The bytes of weights that a step of one token reads.
  int64_t weight_bytes() const { return sizes_.weight_bytes; }
  const runtime::DeviceSession& session() const { return *session_; }
  const char* last_graph() const { return last_graph_; }  // that ran

 private:
  TextModel() = default;
  absl::Status CheckAppended(std::span<const int32_t> tokens) const;
  bool IsLong(int64_t length) const {
    return sizes_.short_context > 0 && length > sizes_.short_context;
  }
  absl::Status RunChunk(std::span<const int32_t> tokens);
  // How many of `count` tokens are appended next.
  size_t ChunkOf(size_t count) const;

  TextModelSizes sizes_;
  int64_t width_ = 0;
  gguf::Pooling pooling_ = gguf::Pooling::kNone;
  bool is_for_embeddings_ = false;
  const char* last_graph_ = "";
  int64_t recomputed_ = 0;
  bool is_long_ = false;       // the keys in the caches are those of a text longer than that
  std::vector<int32_t> text_;  // tokens whose keys and values are in the caches
  std::unique_ptr<runtime::DiskCache> cache_;
  std::unique_ptr<runtime::DeviceSession> session_;
  runtime::HostTensor token_, few_, tokens_, logits_, states_;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_TEXT_MODEL_H_
