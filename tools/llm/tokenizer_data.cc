#include "tools/llm/tokenizer_data.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tg::llm {
namespace {

class Reader {
 public:
  explicit Reader(const gguf::Model& model) : model_(model) {}

  // Sets `to` where the file has the key.
  void Read(const char* key, std::string& to) {
    if (const auto* value = Find(key, model_.String(key), "a text")) to = *value;
  }
  void Read(const char* key, std::optional<int64_t>& to) {
    if (const auto* value = Find(key, model_.Int(key), "an integer")) to = *value;
  }
  void Read(const char* key, std::optional<bool>& to) {
    if (const auto* value = Find(key, model_.Bool(key), "a bool")) to = *value;
  }
  void Read(const char* key, std::vector<std::string>& to) {
    if (const auto* value = Find(key, model_.Strings(key), "a list of texts")) {
      to.assign(value->begin(), value->end());
    }
  }
  void Read(const char* key, std::vector<float>& to) {
    if (const auto* value = Find(key, model_.Floats(key), "a list of floats")) {
      to.assign(value->begin(), value->end());
    }
  }
  void Read(const char* key, std::vector<int32_t>& to) {
    const auto* value = Find(key, model_.Ints(key), "a list of integers");
    for (size_t i = 0; value && i < value->size(); ++i) {
      const int64_t number = (*value)[i];
      if (number != static_cast<int32_t>(number)) return Fail(key, "a list of 32-bit integers");
      to.push_back(static_cast<int32_t>(number));
    }
  }

  const absl::Status& status() const { return status_; }

 private:
  template <typename T>
  const T* Find(const char* key, const T* value, const char* kind) {
    if (!value && model_.metadata.contains(key)) Fail(key, kind);
    return value;
  }
  void Fail(const char* key, const char* kind) {
    status_.Update(
        InvalidArgument(model_.paths[0], ": the value of key '", key, "' is not ", kind));
  }

  const gguf::Model& model_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<tokenizer::TokenizerData> TokenizerDataOf(const gguf::Model& model) {
  tokenizer::TokenizerData data;
  Reader reader(model);
  reader.Read("general.architecture", data.architecture);
  reader.Read("tokenizer.ggml.model", data.model);
  reader.Read("tokenizer.ggml.pre", data.pre);
  reader.Read("tokenizer.ggml.tokens", data.tokens);
  reader.Read("tokenizer.ggml.scores", data.scores);
  reader.Read("tokenizer.ggml.token_type", data.token_types);
  reader.Read("tokenizer.ggml.merges", data.merges);
  reader.Read("tokenizer.ggml.bos_token_id", data.bos_id);
  reader.Read("tokenizer.ggml.eos_token_id", data.eos_id);
  reader.Read("tokenizer.ggml.eot_token_id", data.eot_id);
  reader.Read("tokenizer.ggml.eom_token_id", data.eom_id);
  reader.Read("tokenizer.ggml.unknown_token_id", data.unknown_id);
  reader.Read("tokenizer.ggml.seperator_token_id", data.separator_id);
  reader.Read("tokenizer.ggml.padding_token_id", data.padding_id);
  reader.Read("tokenizer.ggml.mask_token_id", data.mask_id);
  reader.Read("tokenizer.ggml.add_bos_token", data.add_bos);
  reader.Read("tokenizer.ggml.add_eos_token", data.add_eos);
  reader.Read("tokenizer.ggml.add_sep_token", data.add_separator);
  reader.Read("tokenizer.ggml.add_space_prefix", data.add_space_prefix);
  reader.Read("tokenizer.ggml.normalizer.lowercase", data.lowercase);
  reader.Read("tokenizer.ggml.normalizer.strip_accents", data.strip_accents);
  reader.Read("tokenizer.chat_template", data.chat_template);
  if (!reader.status().ok()) return reader.status();
  return data;
}

}  // namespace tg::llm
