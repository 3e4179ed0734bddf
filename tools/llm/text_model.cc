#include "tools/llm/text_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/arithmetic.h"
#include "base/status.h"
#include "ir/verify/verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/device_target.h"
#include "runtime/session/open.h"
#include "runtime/session/open_devices.h"
#include "runtime/session/params.h"

namespace tg::llm {
namespace {

constexpr int64_t kBlock = gguf::LanguageModelOptions::kBlockTokens;
constexpr int64_t kFew = gguf::LanguageModelOptions::kFewTokens;

// Bytes that are uploaded before the first run.
size_t BytesToUpload(const Declarations& module) {
  size_t bytes = 0;
  for (const BufferDecl& buffer : module.buffers) {
    if (!runtime::HasContents(buffer)) continue;
    const absl::StatusOr<size_t> size = runtime::BufferBytes(module, buffer);
    if (size.ok()) bytes += *size;
  }
  return bytes;
}

void SetProgress(const Declarations& module, const TextModelOptions& options,
                 runtime::SessionOptions& session) {
  if (!options.on_uploaded) return;
  session.on_upload = [done = size_t{0}, total = BytesToUpload(module),
                       tell = options.on_uploaded](size_t bytes) mutable {
    done += bytes;
    tell(std::min(done, total), total);
  };
}

// What the model's form does not decide.
runtime::OpenOptions OpenOptionsFor(const Declarations& module, const TextModelOptions& options,
                                    runtime::DiskCache* cache) {
  runtime::OpenOptions session;
  session.devices.plain = options.device;
  session.devices.specialize = false;  // the steps of a text have the same sizes
  session.time_kernels = options.time_kernels;
  session.cache = cache;
  session.verify = options.verify;
  session.note = options.note;
  SetProgress(module, options, session);
  return session;
}

absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> OpenOnDevice(
    std::unique_ptr<Module> module, const TextModelOptions& options, runtime::DiskCache* cache) {
  runtime::OpenOptions session = OpenOptionsFor(*module, options, cache);
  if (cache) {
    if (options.has_workers) session.ahead.worker = "/proc/self/exe";
    session.ahead.progress = options.on_compiled;
  }
  session.schedules = options.schedules;
  std::string said;
  llvm::raw_string_ostream log(said);
  if (!options.schedules.empty()) session.passes.log = &log;
  session.on_compiled = [&](const Module&, runtime::DeviceSessionOptions&) {
    if (!said.empty() && options.note) options.note(llvm::StringRef(said).rtrim().str());
    return absl::OkStatus();
  };
  return runtime::OpenDeviceSession(std::move(module), session);
}

}  // namespace

absl::Status FitToDevice(const runtime::DeviceRequest& request, std::string_view target,
                         std::optional<bool> half_products, gguf::LanguageModelOptions& options) {
  TG_ASSIGN_OR_RETURN(const std::vector<runtime::ChosenDevice> chosen,
                      runtime::ChooseDevices(Module(), request));
  TG_ASSIGN_OR_RETURN(const passes::Target known,
                      runtime::ChooseTarget(target, "", chosen[0].device.info));
  const bool has_matrices = known.HasMatrixInstructions() && known.matrix_flops_per_second > 0;
  options.half_products = half_products.value_or(has_matrices);
  options.fuses_attention = options.half_products ? has_matrices && known.HasAsyncCopies()
                                                  : !known.is_gpu && known.HasVectors();
  return absl::OkStatus();
}

absl::StatusOr<gguf::LanguageModel> BuildTextModule(const ModelFile& file,
                                                    const gguf::LanguageModelOptions& options) {
  TG_ASSIGN_OR_RETURN(gguf::LanguageModel built, gguf::BuildLanguageModel(file.model(), options));
  if (const absl::Status status = VerifyModule(*built.module); !status.ok()) {
    return absl::InternalError(
        Cat(std::string(status.message()),
            "\nthis is a fault of tg; please report it with the model and the command"));
  }
  return built;
}

absl::StatusOr<gguf::LanguageModel> BuildTextModule(const ModelFile& file,
                                                    const TextModelOptions& options) {
  gguf::LanguageModelOptions how = options.model;
  TG_RETURN_IF_ERROR(FitToDevice({options.device, {}}, "", options.half_products, how));
  return BuildTextModule(file, how);
}

TextModelSizes SizesOf(const gguf::LanguageModel& model) {
  return {model.parameters.vocabulary, model.context, model.short_context, model.max_blocks,
          model.weight_bytes};
}

absl::StatusOr<std::unique_ptr<TextModel>> TextModel::Open(const ModelFile& file,
                                                           const TextModelOptions& options) {
  TG_ASSIGN_OR_RETURN(gguf::LanguageModel built, BuildTextModule(file, options));
  std::unique_ptr<TextModel> model(new TextModel());
  model->sizes_ = SizesOf(built);
  model->width_ = built.parameters.width;
  model->pooling_ = built.parameters.pooling;
  model->is_for_embeddings_ = options.model.for_embeddings;
  if (options.cache_programs) {
    model->cache_ = std::make_unique<runtime::DiskCache>(runtime::DefaultCacheDirectory());
  }
  TG_ASSIGN_OR_RETURN(model->session_,
                      OpenOnDevice(std::move(built.module), options, model->cache_.get()));
  TG_ASSIGN_OR_RETURN(model->token_, MakeHostTensor(runtime::ElementType::kI32, {1, 1}));
  TG_ASSIGN_OR_RETURN(model->few_, MakeHostTensor(runtime::ElementType::kI32, {1, kFew}));
  return model;
}

absl::StatusOr<std::unique_ptr<TextModel>> TextModel::Open(artifact::ArtifactFile file,
                                                           const TextModelSizes& sizes,
                                                           const TextModelOptions& options) {
  const runtime::Executable& executable = file.artifact().executable;
  const std::string path = executable.path;
  const BufferDecl* logits = executable.FindBuffer("logits");
  const auto has = [&](std::string_view name) { return FindGraph(executable, name) != nullptr; };
  if (!has("prefill") || !has("few") || !has("decode") || logits == nullptr ||
      logits->dtype != kF32 || logits->shape.size() != 1 || logits->shape[0].is_symbolic() ||
      logits->shape[0].size != sizes.vocabulary) {
    return InvalidArgument(path, ": it has not the graphs of a text model");
  }
  std::unique_ptr<TextModel> model(new TextModel());
  model->sizes_ = sizes;
  if (options.cache_programs) {
    model->cache_ = std::make_unique<runtime::DiskCache>(runtime::DefaultCacheDirectory());
  }
  const runtime::OpenOptions session = OpenOptionsFor(executable, options, model->cache_.get());
  TG_ASSIGN_OR_RETURN(model->session_, runtime::OpenDeviceSession(std::move(file), session));
  TG_ASSIGN_OR_RETURN(model->token_, MakeHostTensor(runtime::ElementType::kI32, {1, 1}));
  TG_ASSIGN_OR_RETURN(model->few_, MakeHostTensor(runtime::ElementType::kI32, {1, kFew}));
  return model;
}

void TextModel::Truncate(int64_t length) {
  text_.resize(static_cast<size_t>(std::clamp<int64_t>(length, 0, this->length())));
}

absl::Status TextModel::RunChunk(std::span<const int32_t> tokens) {
  TG_RETURN_IF_ERROR(session_->SetVar("position", length()));
  if (sizes_.short_context > 0) TG_RETURN_IF_ERROR(session_->SetVar("long", is_long_ ? 1 : 0));
  const auto count = static_cast<int64_t>(tokens.size());
  const auto fill = [&](runtime::HostTensor& tensor) {
    // Token 0 pads the last block.
    std::fill(tensor.data.begin(), tensor.data.end(), std::byte{0});
    std::memcpy(tensor.data.data(), tokens.data(), tokens.size_bytes());
  };
  if (count == 1 && !is_for_embeddings_) {
    fill(token_);
    TG_RETURN_IF_ERROR(session_->Set("token", token_));
    return session_->Run(last_graph_ = "decode");
  }
  if (count <= kFew && !is_for_embeddings_) {
    fill(few_);
    TG_RETURN_IF_ERROR(session_->SetVar("few_last", count - 1));
    TG_RETURN_IF_ERROR(session_->Set("few_tokens", few_));
    return session_->Run(last_graph_ = "few");
  }
  const int64_t blocks = CeilDiv(count, kBlock);
  if (tokens_.shape.empty() || tokens_.shape[0] != blocks) {
    TG_ASSIGN_OR_RETURN(tokens_, MakeHostTensor(runtime::ElementType::kI32, {blocks, kBlock}));
  }
  fill(tokens_);
  TG_RETURN_IF_ERROR(session_->Set("tokens", tokens_));
  if (is_for_embeddings_) return session_->Run(last_graph_ = "embed");
  TG_RETURN_IF_ERROR(session_->SetVar("last", count - 1));
  return session_->Run(last_graph_ = "prefill");
}

size_t TextModel::ChunkOf(size_t count) const {
  // Beyond that a block of rows is faster.
  constexpr size_t kMostByFew = 2 * kFew;
  return std::min(
      count, count <= kMostByFew ? static_cast<size_t>(kFew) : static_cast<size_t>(max_chunk()));
}

absl::Status TextModel::Prepare() {
  // These runs leave keys and values after the end of the text, where later tokens overwrite them.
  if (length() == sizes_.context) return absl::OkStatus();
  const int32_t tokens[kFew + 1] = {};
  for (const int64_t count : {kFew + 1, kFew, int64_t{1}}) {
    if (count > std::min(sizes_.context - length(), max_chunk())) continue;
    TG_RETURN_IF_ERROR(RunChunk(std::span(tokens).first(static_cast<size_t>(count))));
  }
  return absl::OkStatus();
}

absl::Status TextModel::CheckAppended(std::span<const int32_t> tokens) const {
  if (tokens.empty()) return InvalidArgument("no token is appended");
  for (const int32_t token : tokens) {
    if (token < 0 || token >= vocabulary()) {
      return InvalidArgument("token ", token, " is outside of the vocabulary of ", vocabulary());
    }
  }
  const auto count = static_cast<int64_t>(tokens.size());
  if (count > sizes_.context - length()) {
    return absl::ResourceExhaustedError(Cat("the text of ", length(), " tokens and ", count,
                                            " more do not fit a context of ", sizes_.context));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const float>> TextModel::Append(std::span<const int32_t> tokens,
                                                         const std::atomic<bool>* interrupt) {
  if (is_for_embeddings_) {
    return absl::FailedPreconditionError("the model was opened for embeddings");
  }
  TG_RETURN_IF_ERROR(CheckAppended(tokens));
  const bool is_long = IsLong(length() + static_cast<int64_t>(tokens.size()));
  std::vector<int32_t> whole;
  if (is_long != is_long_ && !text_.empty()) {
    recomputed_ += length();
    whole = std::move(text_);
    whole.insert(whole.end(), tokens.begin(), tokens.end());
    tokens = whole;
    text_.clear();
  }
  is_long_ = is_long;
  while (!tokens.empty()) {
    if (interrupt && *interrupt) return absl::CancelledError("interrupted");
    const size_t chunk = ChunkOf(tokens.size());
    TG_RETURN_IF_ERROR(RunChunk(tokens.first(chunk)));
    text_.insert(text_.end(), tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(chunk));
    tokens = tokens.subspan(chunk);
  }
  TG_ASSIGN_OR_RETURN(logits_, session_->Get("logits"));
  return std::span(reinterpret_cast<const float*>(logits_.data.data()),
                   static_cast<size_t>(vocabulary()));
}

absl::StatusOr<std::vector<float>> TextModel::Embed(std::span<const int32_t> tokens,
                                                    const EmbeddingOptions& options) {
  if (!is_for_embeddings_) {
    return absl::FailedPreconditionError("the model was not opened for embeddings");
  }
  text_.clear();
  TG_RETURN_IF_ERROR(CheckAppended(tokens));
  is_long_ = IsLong(static_cast<int64_t>(tokens.size()));
  gguf::Pooling pooling = options.pooling;
  if (pooling == gguf::Pooling::kNone) pooling = pooling_;
  if (pooling == gguf::Pooling::kNone) pooling = gguf::Pooling::kMean;
  const size_t total = tokens.size();
  const auto width = static_cast<size_t>(width_);
  std::vector<double> sums(width, 0.0);
  while (!tokens.empty()) {
    const size_t chunk = std::min(tokens.size(), static_cast<size_t>(max_chunk()));
    TG_RETURN_IF_ERROR(RunChunk(tokens.first(chunk)));
    TG_RETURN_IF_ERROR(session_->GetInto("embeddings", states_));
    const auto* states = reinterpret_cast<const float*>(states_.data.data());
    // The range of those tokens of the chunk whose states count.
    size_t begin = 0, end = chunk;
    if (pooling == gguf::Pooling::kFirst) end = text_.empty() ? 1 : 0;
    if (pooling == gguf::Pooling::kLast) begin = chunk == tokens.size() ? chunk - 1 : chunk;
    for (size_t i = begin; i < end; ++i) {
      for (size_t k = 0; k < width; ++k) sums[k] += static_cast<double>(states[i * width + k]);
    }
    text_.insert(text_.end(), tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(chunk));
    tokens = tokens.subspan(chunk);
  }
  double scale = pooling == gguf::Pooling::kMean ? 1 / static_cast<double>(total) : 1;
  if (options.normalizes) {
    double square = 0;
    for (const double x : sums) square += x * x;
    scale = square > 0 ? 1 / std::sqrt(square) : 0;
  }
  std::vector<float> embedding(width);
  for (size_t k = 0; k < width; ++k) embedding[k] = static_cast<float>(sums[k] * scale);
  return embedding;
}

}  // namespace tg::llm
