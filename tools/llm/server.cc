#include "tools/llm/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tools/llm/conversation.h"
#include "tools/llm/http/http_server.h"
#include "tools/llm/server_queue.h"
#include "tools/llm/server_reply.h"
#include "tools/llm/server_request.h"

namespace tg::llm {
namespace {

constexpr int kOk = 200, kBadRequest = 400, kNotFound = 404, kInternalError = 500,
              kUnavailable = 503;
constexpr char kModels[] = "/v1/models";
constexpr char kChats[] = "/v1/chat/completions", kTexts[] = "/v1/completions";

using ExchangePtr = std::shared_ptr<http::Exchange>;

ReplyEnd EndOf(const Reply& reply) {
  return {.is_cut = reply.end == EndOfReply::kMaxTokens || reply.end == EndOfReply::kContext,
          .tokens = reply.tokens};
}

int64_t UnixTime() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Returns how many connections may be open, at most `most`. Each takes a file descriptor, so the
// process raises its own limit of these as far as it may.
size_t ConnectionLimit(size_t most) {
  constexpr rlim_t kOthers = 64;  // descriptors for what is no connection
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  const rlim_t wanted = std::min<rlim_t>(most + kOthers, limit.rlim_max);
  if (limit.rlim_cur < wanted) {
    rlimit raised = limit;
    raised.rlim_cur = wanted;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur >= most + kOthers) return most;
  return static_cast<size_t>(limit.rlim_cur > 2 * kOthers ? limit.rlim_cur - kOthers
                                                          : limit.rlim_cur / 2);
}

// Three threads: the HTTP server's, one that parses requests, and one that runs the model, so that
// neither a long prompt nor the model delays other answers.
class LlmServer {
 public:
  LlmServer(TextModel& model, const tokenizer::Tokenizer& tokenizer,
            const std::optional<tokenizer::ChatTemplate>& chat, const ServerOptions& options)
      : model_(model),
        tokenizer_(tokenizer),
        chat_(chat),
        options_(options),
        generator_(model, tokenizer) {}

  absl::Status Run();

 private:
  struct Received {
    ExchangePtr exchange;
    bool is_gone() const { return exchange->is_gone(); }
  };
  struct Job {
    ExchangePtr exchange;
    ServerRequest request;
    ReplyHead head;
    std::vector<tokenizer::TokenId> prompt;
    bool is_gone() const { return exchange->is_gone(); }
  };

  void Handle(ExchangePtr exchange);
  void Complete(ExchangePtr exchange);
  absl::StatusOr<Job> MakeJob(const ExchangePtr& exchange);
  void ParseRequests();
  void RunJobs();
  void AnswerWhole(const Job& job);
  void Stream(const Job& job);

  TextModel& model_;
  const tokenizer::Tokenizer& tokenizer_;
  const std::optional<tokenizer::ChatTemplate>& chat_;
  const ServerOptions& options_;
  Generator generator_;
  const int64_t created_ = UnixTime();
  ServerQueue<Received> received_;
  ServerQueue<Job> jobs_;
  std::vector<ExchangePtr> unanswered_;  // of the HTTP server's thread
  int64_t number_ = 0;                   // of the last request, of the parsing thread
};

void LlmServer::Handle(ExchangePtr exchange) {
  const http::Request& request = exchange->request();
  const bool is_get = request.method == "GET" || request.method == "HEAD";
  const bool is_post = request.method == "POST";
  const std::string& path = request.path;
  if (is_get && path == "/health") return exchange->Answer(kOk, R"({"status":"ok"})");
  if (is_get && path == kModels) {
    return exchange->Answer(kOk, ModelList(options_.model_name, created_));
  }
  if (is_get && path == Cat(kModels, "/", options_.model_name)) {
    return exchange->Answer(kOk, ModelObject(options_.model_name, created_));
  }
  if (is_post && (path == kChats || path == kTexts)) return Complete(std::move(exchange));
  const std::string message = Cat("there is no ", request.method, " ", path);
  exchange->Answer(kNotFound, ErrorObject(kNotFound, message));
}

void LlmServer::Complete(ExchangePtr exchange) {
  std::erase_if(unanswered_, [](const auto& e) { return e->is_done() || e->is_gone(); });
  if (static_cast<int64_t>(unanswered_.size()) >= options_.max_waiting) {
    return exchange->Answer(kUnavailable,
                            ErrorObject(kUnavailable, "too many requests are waiting"));
  }
  unanswered_.push_back(exchange);
  received_.Push({std::move(exchange)});
}

absl::StatusOr<LlmServer::Job> LlmServer::MakeJob(const ExchangePtr& exchange) {
  Job job{.exchange = exchange};
  const bool is_chat = exchange->request().path == kChats;
  TG_ASSIGN_OR_RETURN(job.request,
                      ParseServerRequest(exchange->TakeBody(), is_chat, options_.defaults));
  if (is_chat) {
    Conversation conversation(tokenizer_, chat_);
    for (const tokenizer::ChatMessage& message : job.request.messages) {
      conversation.Add(message.role, message.content);
    }
    TG_ASSIGN_OR_RETURN(job.prompt, conversation.Prompt());
  } else {
    job.prompt = tokenizer_.Encode(job.request.prompt, {.add_special = true});
  }
  if (job.prompt.empty()) return InvalidArgument("the prompt has no token");
  const auto tokens = static_cast<int64_t>(job.prompt.size());
  if (tokens > model_.context()) {
    return InvalidArgument("the prompt has ", tokens, " tokens, but the context holds ",
                           model_.context());
  }
  job.head = {.is_chat = is_chat,
              .includes_usage = job.request.includes_usage,
              .id = Cat(is_chat ? "chatcmpl-" : "cmpl-", ++number_),
              .model = options_.model_name,
              .created = UnixTime(),
              .prompt_tokens = tokens};
  return job;
}

void LlmServer::ParseRequests() {
  while (std::optional<Received> next = received_.Pop()) {
    absl::StatusOr<Job> job = MakeJob(next->exchange);
    if (job.ok()) {
      jobs_.Push(*std::move(job));
    } else {
      const std::string message(job.status().message());
      next->exchange->Answer(kBadRequest, ErrorObject(kBadRequest, message));
    }
  }
}

void LlmServer::RunJobs() {
  while (const std::optional<Job> job = jobs_.Pop()) {
    job->request.stream ? Stream(*job) : AnswerWhole(*job);
  }
}

void LlmServer::AnswerWhole(const Job& job) {
  const absl::StatusOr<Reply> reply = generator_.Run(
      job.prompt, job.request.generate, [](std::string_view) {}, job.exchange->is_gone());
  if (reply.ok())
    return job.exchange->Answer(kOk, WholeReply(job.head, reply->text, EndOf(*reply)));
  const std::string message(reply.status().message());
  job.exchange->Answer(kInternalError, ErrorObject(kInternalError, message));
}

void LlmServer::Stream(const Job& job) {
  http::Exchange& to = *job.exchange;
  to.BeginEvents();
  to.SendEvent(FirstEvent(job.head));
  const auto show = [&](std::string_view text) { to.SendEvent(TextEvent(job.head, text)); };
  const absl::StatusOr<Reply> reply =
      generator_.Run(job.prompt, job.request.generate, show, to.is_gone());
  if (reply.ok()) {
    to.SendEvent(LastEvent(job.head, EndOf(*reply)));
    if (job.head.includes_usage) to.SendEvent(UsageEvent(job.head, EndOf(*reply)));
  } else {
    to.SendEvent(ErrorObject(kInternalError, std::string(reply.status().message())));
  }
  to.SendEvent("[DONE]");
  to.EndEvents();
}

absl::Status LlmServer::Run() {
  http::Options options;
  options.max_body_bytes = options_.max_body_bytes;
  options.max_connections = ConnectionLimit(options.max_connections);
  options.error_body = &ErrorObject;
  options.handler = [this](ExchangePtr exchange) { Handle(std::move(exchange)); };
  http::Server server(std::move(options));
  const absl::StatusOr<int> port = server.Listen(options_.host, options_.port);
  if (!port.ok()) {
    return InvalidArgument("--serve: ", std::string(port.status().message()));
  }
  std::fprintf(stderr, "tg-llm: http://%s:%d\n", options_.host.c_str(), *port);
  std::thread parser([this] { ParseRequests(); });
  std::thread worker([this] { RunJobs(); });
  const absl::Status status = server.Run();
  received_.Close();
  jobs_.Close();
  parser.join();
  worker.join();
  unanswered_.clear();  // exchanges must not outlive the server
  return status;
}

}  // namespace

absl::Status Serve(TextModel& model, const tokenizer::Tokenizer& tokenizer,
                   const std::optional<tokenizer::ChatTemplate>& chat,
                   const ServerOptions& options) {
  return LlmServer(model, tokenizer, chat, options).Run();
}

}  // namespace tg::llm
