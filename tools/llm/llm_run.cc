#include "tools/llm/llm_run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <utility>

#include "base/status.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/io/file.h"
#include "runtime/report/format.h"
#include "runtime/report/kernel_table.h"
#include "tools/llm/bench.h"
#include "tools/llm/conversation.h"
#include "tools/llm/line_reader.h"
#include "tools/llm/server.h"
#include "tools/llm/tokenizer_data.h"
#include "tools/run/progress.h"

namespace tg::llm {
namespace {

using runtime::FormatSeconds;

// The tokens of a text for which --search measures the next one.
constexpr int64_t kSearchedLength = 255;

std::atomic<bool> interrupted = false;

// While one is alive, an interrupt (Ctrl-C) sets `interrupted` instead of ending the process.
class CatchInterrupts {
 public:
  CatchInterrupts() {
    interrupted = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, &before_);
  }
  ~CatchInterrupts() { ::sigaction(SIGINT, &before_, nullptr); }
  CatchInterrupts(const CatchInterrupts&) = delete;
  CatchInterrupts& operator=(const CatchInterrupts&) = delete;

 private:
  struct sigaction before_ = {};
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string Rate(double count, double seconds, const char* unit) {
  return Cat(runtime::FormatNumber("%.1f", seconds > 0 ? count / seconds : 0.0), " ", unit, "/s");
}

}  // namespace

absl::Status LlmRun::LoadTokenizer(tokenizer::TokenizerData data, const std::string& path) {
  const std::string chat = data.chat_template;
  absl::StatusOr<std::unique_ptr<tokenizer::Tokenizer>> tokenizer =
      tokenizer::MakeTokenizer(std::move(data));
  if (!tokenizer.ok()) {
    return InvalidArgument(path, ": ", std::string(tokenizer.status().message()));
  }
  tokenizer_ = *std::move(tokenizer);
  if (chat.empty() || flags_.raw) return absl::OkStatus();
  absl::StatusOr<tokenizer::ChatTemplate> parsed = tokenizer::ChatTemplate::Parse(chat);
  if (!parsed.ok()) {
    return InvalidArgument(path, ": key 'tokenizer.chat_template': ",
                           std::string(parsed.status().message()), "; --raw does without it");
  }
  chat_ = *std::move(parsed);
  return absl::OkStatus();
}

absl::Status LlmRun::OpenModel(const std::string& path, const TextModelOptions& options) {
  TG_ASSIGN_OR_RETURN(file_, ModelFile::Open(path));
  // Reports an unknown architecture before errors about the vocabulary.
  TG_RETURN_IF_ERROR(gguf::ReadHyperparameters(file_->model()).status());
  if (!flags_.bench) {
    TG_ASSIGN_OR_RETURN(tokenizer::TokenizerData data, TokenizerDataOf(file_->model()));
    TG_RETURN_IF_ERROR(LoadTokenizer(std::move(data), file_->model().paths[0]));
  }
  if (!flags_.search) {
    TG_ASSIGN_OR_RETURN(model_, TextModel::Open(*file_, options));
    return absl::OkStatus();
  }
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<driver::FoundSchedules> found, Search(options));
  TextModelOptions searched = options;
  searched.schedules = found->file();
  TG_ASSIGN_OR_RETURN(model_, TextModel::Open(*file_, searched));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<driver::FoundSchedules>> LlmRun::Search(
    const TextModelOptions& options) const {
  TG_ASSIGN_OR_RETURN(const gguf::LanguageModel built, BuildTextModule(*file_, options));
  driver::TuneRequest request;
  request.seconds = *flags_.search;
  request.device = flags_.device;
  request.pipeline = "default";
  // A prompt's first chunk, and a token of a text of this length.
  const int64_t length = std::min(kSearchedLength, built.context - 1);
  request.graphs = {{"decode", {{"position", length}}}, {"prefill", {{"position", 0}}}};
  if (built.short_context > 0) {
    for (auto& run : request.graphs) run.vars["long"] = 0;
  }
  return driver::SearchWithTune(*built.module, request);
}

absl::Status LlmRun::OpenCompiled(const std::string& path, const TextModelOptions& options) {
  for (const auto& [flag, given] : {std::pair("--ctx", flags_.context.has_value()),
                                    std::pair("--chunk", flags_.chunk.has_value()),
                                    std::pair("--schedules", !flags_.schedules.empty()),
                                    std::pair("--search", flags_.search.has_value()),
                                    std::pair("--cache-type", flags_.cache_type != "f16"),
                                    std::pair("--products", flags_.products != "auto")}) {
    if (given) return InvalidArgument(flag, " needs the model; ", path, " is compiled");
  }
  TG_ASSIGN_OR_RETURN(artifact::ArtifactFile file, artifact::ArtifactFile::Open(path));
  const absl::StatusOr<std::string> bytes = artifact::UnpackAttachment(file.artifact(), kTextModel);
  if (!bytes.ok()) return InvalidArgument(path, ": ", std::string(bytes.status().message()));
  absl::StatusOr<CompiledText> text = DecodeText(*bytes);
  if (!text.ok()) return InvalidArgument(path, ": ", std::string(text.status().message()));
  // The tables of the tokenizer are made while the weights are read.
  std::future<absl::Status> tokenizer = std::async(std::launch::async, [&] {
    if (flags_.bench) return absl::OkStatus();
    return LoadTokenizer(std::move(text->tokenizer), path);
  });
  absl::StatusOr<std::unique_ptr<TextModel>> model =
      TextModel::Open(std::move(file), text->sizes, options);
  TG_RETURN_IF_ERROR(tokenizer.get());
  TG_ASSIGN_OR_RETURN(model_, std::move(model));
  return absl::OkStatus();
}

absl::Status LlmRun::Load(const std::string& path) {
  const double begin = Now();
  TextModelOptions options;
  options.model.context = flags_.context.value_or(0);
  options.model.chunk = flags_.chunk.value_or(0);
  options.model.cache_type = gguf::CacheTypeNamed(flags_.cache_type);
  if (flags_.products != "auto") options.half_products = flags_.products == "f16";
  options.device = flags_.device;
  options.schedules = flags_.schedules;
  options.time_kernels = flags_.verbose.value_or(0) > 0;
  options.cache_programs = flags_.cache;
  options.verify = flags_.verify;
  // The model keeps these functions, and calls them for what it compiles or uploads later.
  const auto compiling = std::make_shared<run::CompileProgress>("compiling", "kernels");
  const auto loading = std::make_shared<run::CompileProgress>("loading", "MB");
  options.on_compiled = [compiling](size_t done, size_t total) { compiling->Show(done, total); };
  options.on_uploaded = [loading](size_t done, size_t total) {
    loading->Show(done / 1'000'000, total / 1'000'000);
  };
  options.note = [](const std::string& text) {
    std::fprintf(stderr, "tg-llm: %s\n", text.c_str());
  };
  const bool is_compiled = artifact::IsArtifactFile(path);
  TG_RETURN_IF_ERROR(is_compiled ? OpenCompiled(path, options) : OpenModel(path, options));
  // The first run of a compiled model compiles nothing, so a single prompt is answered at once.
  const bool is_one_prompt = flags_.prompt || flags_.prompt_file;
  if (!is_compiled || !is_one_prompt) TG_RETURN_IF_ERROR(model_->Prepare());
  if (tokenizer_ && static_cast<int64_t>(tokenizer_->size()) != model_->vocabulary()) {
    return InvalidArgument(path, ": ", tokenizer_->size(), " tokens, but an embedding of ",
                           model_->vocabulary());
  }
  load_seconds_ = Now() - begin;
  return absl::OkStatus();
}

absl::StatusOr<std::string> LlmRun::ReadPrompt() const {
  if (flags_.prompt) return *flags_.prompt;
  return runtime::ReadFile(*flags_.prompt_file);
}

void LlmRun::TellKernels() const {
  if (flags_.verbose.value_or(0) < 1) return;
  const runtime::DeviceSession& session = model_->session();
  const runtime::Plan* plan = session.last_plan();
  if (!plan) return;
  const runtime::RunTimes& times = session.last_times();
  std::fprintf(stderr, "@%s:\n%s%s\n", model_->last_graph(),
               runtime::KernelTable(plan->kernels(), times.kernels, false).c_str(),
               runtime::RunSummary(plan->kernels(), times.kernels, times.seconds()).c_str());
}

void LlmRun::Summarize(const Reply& reply, bool is_first_reply) const {
  const auto bytes = static_cast<double>(model_->weight_bytes());
  std::string line;
  if (is_first_reply) line = Cat("load ", FormatSeconds(load_seconds_), ", ");
  line +=
      Cat("first token ", FormatSeconds(reply.prompt_seconds), "; prompt of ", reply.prompt_tokens);
  if (reply.reused_tokens > 0) line += Cat(" tokens behind ", reply.reused_tokens);
  line += Cat(" tokens at ",
              Rate(static_cast<double>(reply.prompt_tokens), reply.prompt_seconds, "tokens"));
  if (reply.decode_steps > 0) {
    const auto steps = static_cast<double>(reply.decode_steps);
    const double rate = steps * bytes / reply.decode_seconds;
    const double limit = model_->session().devices()[0]->code().bytes_per_second;
    char share[64];
    std::snprintf(share, sizeof share, "%.2f GB/s of weights, %.0f %% of the target's memory rate",
                  rate * 1e-9, 100 * rate / limit);
    line += Cat("; reply of ", reply.tokens, " tokens at ",
                Rate(steps, reply.decode_seconds, "tokens"), ", ", share);
  }
  if (reply.recomputed_tokens > 0) {
    line +=
        Cat("; ", reply.recomputed_tokens, " tokens computed again, for a text of another length");
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

absl::StatusOr<Reply> LlmRun::Print(const std::vector<tokenizer::TokenId>& prompt) {
  const CatchInterrupts guard;
  bool is_first = true;
  const auto show = [&](std::string_view text) {
    if (std::exchange(is_first, false)) TellKernels();
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  TG_ASSIGN_OR_RETURN(Reply reply, generator_->Run(prompt, options_, show, interrupted));
  std::fputs("\n", stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return absl::UnknownError("standard output cannot be written");
  }
  if (reply.decode_steps > 0) TellKernels();
  if (reply.end == EndOfReply::kContext) {
    std::fprintf(stderr, "tg-llm: the context of %lld tokens is full; --ctx sets it\n",
                 static_cast<long long>(model_->context()));
  }
  return reply;
}

absl::Status LlmRun::Answer(const std::string& prompt) {
  std::vector<tokenizer::TokenId> tokens;
  if (flags_.raw) {
    tokens = tokenizer_->Encode(prompt, {.parse_special = true, .add_special = true});
  } else {
    Conversation conversation(*tokenizer_, chat_);
    if (flags_.system) conversation.Add("system", *flags_.system);
    conversation.Add("user", prompt);
    TG_ASSIGN_OR_RETURN(tokens, conversation.Prompt());
  }
  TG_ASSIGN_OR_RETURN(const Reply reply, Print(tokens));
  Summarize(reply, true);
  return absl::OkStatus();
}

absl::Status LlmRun::Chat() {
  Conversation conversation(*tokenizer_, chat_);
  if (flags_.system) conversation.Add("system", *flags_.system);
  bool is_first = true;
  while (std::optional<std::string> line = ReadTurn()) {
    if (line->empty()) continue;
    conversation.Add("user", *std::move(line));
    TG_ASSIGN_OR_RETURN(const std::vector<tokenizer::TokenId> prompt, conversation.Prompt());
    absl::StatusOr<Reply> reply = Print(prompt);
    if (absl::IsResourceExhausted(reply.status())) {
      std::fprintf(stderr, "tg-llm: the conversation ends: %s\n",
                   std::string(reply.status().message()).c_str());
      return absl::OkStatus();
    }
    if (!reply.ok()) return reply.status();
    if (::isatty(STDERR_FILENO) != 0 || flags_.verbose.value_or(0) > 0) {
      Summarize(*reply, is_first);
    }
    is_first = false;
    if (reply->end == EndOfReply::kContext) return absl::OkStatus();
    conversation.Add("assistant", reply->text);
  }
  if (::isatty(STDIN_FILENO) != 0) std::fputs("\n", stdout);
  return absl::OkStatus();
}

absl::Status LlmRun::ServeModel(const std::string& path) {
  ServerOptions options;
  options.host = flags_.host;
  options.port = static_cast<int>(flags_.port.value_or(options.port));
  options.model_name = std::filesystem::path(path).stem().string();
  options.defaults = options_;
  return Serve(*model_, *tokenizer_, chat_, options);
}

absl::Status LlmRun::Run(const std::string& path) {
  TG_RETURN_IF_ERROR(Load(path));
  if (flags_.bench) return RunBench(*model_);
  if (flags_.serve) return ServeModel(path);
  generator_ = std::make_unique<Generator>(*model_, *tokenizer_);
  if (!flags_.prompt && !flags_.prompt_file) return Chat();
  TG_ASSIGN_OR_RETURN(const std::string prompt, ReadPrompt());
  return Answer(prompt);
}

}  // namespace tg::llm
