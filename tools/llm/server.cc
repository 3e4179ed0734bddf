#include "tools/llm/server.h"

#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/llm/conversation.h"
#include "tools/llm/server_request.h"

namespace tg::llm {
namespace {

namespace json = llvm::json;

constexpr char kJson[] = "application/json";
constexpr int kBadRequest = 400, kUnavailable = 503, kInternalError = 500;

std::string Text(json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

// Gives the model to one request at a time, in the order in which they came.
class TicketLock {
 public:
  void Lock() {
    std::unique_lock<std::mutex> hold(mutex_);
    const uint64_t own = next_++;
    is_served_.wait(hold, [&] { return served_ == own; });
  }
  void Unlock() {
    const std::lock_guard<std::mutex> hold(mutex_);
    ++served_;
    is_served_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable is_served_;
  uint64_t next_ = 0, served_ = 0;
};

// While one is alive, SIGINT and SIGTERM, on whatever thread, wake the one that waits here.
class SignalPipe {
 public:
  SignalPipe() {
    if (::pipe(ends_) != 0) ends_[0] = ends_[1] = -1;
    write_end = ends_[1];
    struct sigaction action = {};
    action.sa_handler = [](int) { WriteByte(); };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, &before_[0]);
    ::sigaction(SIGTERM, &action, &before_[1]);
  }
  ~SignalPipe() {
    ::sigaction(SIGINT, &before_[0], nullptr);
    ::sigaction(SIGTERM, &before_[1], nullptr);
    for (const int end : ends_) ::close(end);
  }
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  void Wait() const {
    char byte = 0;
    while (::read(ends_[0], &byte, 1) < 0 && errno == EINTR) {
    }
  }
  void Wake() const { WriteByte(); }

 private:
  // What a handler of signals may do.
  static void WriteByte() {
    const int error = errno;
    (void)!::write(write_end, "", 1);
    errno = error;
  }

  static inline int write_end = -1;
  int ends_[2];
  struct sigaction before_[2] = {};
};

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
  // Counts a request for text for as long as it waits or runs.
  class Slot {
   public:
    explicit Slot(std::atomic<int64_t>& count) : count_(count), others_(count.fetch_add(1)) {}
    ~Slot() { --count_; }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    int64_t others() const { return others_; }

   private:
    std::atomic<int64_t>& count_;
    const int64_t others_;
  };
  struct Job {
    std::shared_ptr<Slot> slot;
    bool is_chat = false;
    std::string id;
    int64_t created = 0;
    ServerRequest request;
    std::vector<tokenizer::TokenId> prompt;
  };

  void Complete(const httplib::Request& from, httplib::Response& to, bool is_chat);
  absl::StatusOr<Job> MakeJob(const std::string& body, bool is_chat);
  absl::StatusOr<Reply> Generate(const Job& job, const std::function<void(std::string_view)>& show,
                                 const std::atomic<bool>& interrupt);
  json::Object Answer(const Job& job, json::Object choice, bool is_chunk) const;
  json::Object Choice(const Job& job, std::string_view text, bool is_chunk) const;
  void AnswerWhole(const Job& job, httplib::Response& to);
  void Stream(Job job, httplib::Response& to);
  static void Fail(httplib::Response& to, int status, const absl::Status& error) {
    to.status = status;
    to.set_content(Text(ErrorObject(std::string(error.message()), status)), kJson);
  }
  static json::Object ErrorObject(const std::string& message, int status) {
    const char* type = status < kInternalError ? "invalid_request_error" : "server_error";
    return json::Object{
        {"error", json::Object{{"message", json::fixUTF8(message)}, {"type", type}}}};
  }

  TextModel& model_;
  const tokenizer::Tokenizer& tokenizer_;
  const std::optional<tokenizer::ChatTemplate>& chat_;
  const ServerOptions& options_;
  Generator generator_;
  TicketLock turn_;
  std::atomic<int64_t> waiting_ = 0, number_ = 0;
  std::atomic<bool> is_stopping_ = false;
};

absl::StatusOr<LlmServer::Job> LlmServer::MakeJob(const std::string& body, bool is_chat) {
  Job job;
  job.is_chat = is_chat;
  job.id = Cat(is_chat ? "chatcmpl-" : "cmpl-", ++number_);
  job.created = std::chrono::duration_cast<std::chrono::seconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
  TG_ASSIGN_OR_RETURN(job.request, ParseServerRequest(body, is_chat, options_.defaults));
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
  if (static_cast<int64_t>(job.prompt.size()) > model_.context()) {
    return InvalidArgument("the prompt has ", job.prompt.size(), " tokens, but the context holds ",
                           model_.context());
  }
  return job;
}

absl::StatusOr<Reply> LlmServer::Generate(const Job& job,
                                          const std::function<void(std::string_view)>& show,
                                          const std::atomic<bool>& interrupt) {
  turn_.Lock();
  absl::StatusOr<Reply> reply = generator_.Run(job.prompt, job.request.generate, show, interrupt);
  turn_.Unlock();
  return reply;
}

json::Object LlmServer::Answer(const Job& job, json::Object choice, bool is_chunk) const {
  const char* kind =
      job.is_chat ? (is_chunk ? "chat.completion.chunk" : "chat.completion") : "text_completion";
  json::Array choices;
  choices.push_back(std::move(choice));
  return json::Object{{"id", job.id},
                      {"object", kind},
                      {"created", job.created},
                      {"model", options_.model_name},
                      {"choices", std::move(choices)}};
}

json::Object LlmServer::Choice(const Job& job, std::string_view text, bool is_chunk) const {
  json::Object choice{{"index", 0}, {"finish_reason", nullptr}};
  // Replies are valid UTF-8 (TextStream).
  const std::string content(text);
  if (!job.is_chat) {
    choice["text"] = content;
  } else if (is_chunk) {
    choice["delta"] = json::Object{{"content", content}};
  } else {
    choice["message"] = json::Object{{"role", "assistant"}, {"content", content}};
  }
  return choice;
}

const char* FinishReason(EndOfReply end) {
  return end == EndOfReply::kMaxTokens || end == EndOfReply::kContext ? "length" : "stop";
}

void LlmServer::AnswerWhole(const Job& job, httplib::Response& to) {
  const absl::StatusOr<Reply> reply = Generate(
      job, [](std::string_view) {}, is_stopping_);
  if (!reply.ok()) return Fail(to, kInternalError, reply.status());
  json::Object choice = Choice(job, reply->text, /*is_chunk=*/false);
  choice["finish_reason"] = FinishReason(reply->end);
  json::Object answer = Answer(job, std::move(choice), /*is_chunk=*/false);
  const auto prompt_tokens = static_cast<int64_t>(job.prompt.size());
  answer["usage"] = json::Object{{"prompt_tokens", prompt_tokens},
                                 {"completion_tokens", reply->tokens},
                                 {"total_tokens", prompt_tokens + reply->tokens}};
  to.set_content(Text(std::move(answer)), kJson);
}

void LlmServer::Stream(Job job, httplib::Response& to) {
  // The provider is called when the head of the response has been sent, and is copied.
  auto shared = std::make_shared<Job>(std::move(job));
  to.set_chunked_content_provider(
      "text/event-stream", [this, shared](size_t, httplib::DataSink& sink) {
        std::atomic<bool> is_gone = false;
        const auto send = [&](json::Object object) {
          const std::string event = "data: " + Text(std::move(object)) + "\n\n";
          if (is_stopping_ || !sink.write(event.data(), event.size())) is_gone = true;
        };
        const auto show = [&](std::string_view text) {
          send(Answer(*shared, Choice(*shared, text, /*is_chunk=*/true), /*is_chunk=*/true));
        };
        const absl::StatusOr<Reply> reply = Generate(*shared, show, is_gone);
        if (reply.ok()) {
          json::Object last = Choice(*shared, "", /*is_chunk=*/true);
          last["finish_reason"] = FinishReason(reply->end);
          send(Answer(*shared, std::move(last), /*is_chunk=*/true));
        } else {
          send(ErrorObject(std::string(reply.status().message()), kInternalError));
        }
        constexpr std::string_view kEnd = "data: [DONE]\n\n";
        if (is_gone || !sink.write(kEnd.data(), kEnd.size())) return false;
        sink.done();
        return true;
      });
}

void LlmServer::Complete(const httplib::Request& from, httplib::Response& to, bool is_chat) {
  auto slot = std::make_shared<Slot>(waiting_);
  if (slot->others() >= options_.max_waiting) {
    return Fail(to, kUnavailable, absl::UnavailableError("too many requests are waiting"));
  }
  absl::StatusOr<Job> job = MakeJob(from.body, is_chat);
  if (!job.ok()) return Fail(to, kBadRequest, job.status());
  job->slot = std::move(slot);
  if (job->request.stream) return Stream(*std::move(job), to);
  AnswerWhole(*job, to);
}

absl::Status LlmServer::Run() {
  httplib::Server server;
  // A thread for each request that may wait, and some that refuse others.
  const auto threads = static_cast<size_t>(options_.max_waiting) + 8;
  server.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  server.set_payload_max_length(options_.max_body_bytes);
  server.set_keep_alive_max_count(1000);
  server.set_tcp_nodelay(true);
  // The library's default lets a second process listen at the same port.
  socket_t listener = -1;
  server.set_socket_options([&listener](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    listener = socket;
  });
  server.Get("/health", [](const httplib::Request&, httplib::Response& to) {
    to.set_content(Text(json::Object{{"status", "ok"}}), kJson);
  });
  server.Get("/v1/models", [&](const httplib::Request&, httplib::Response& to) {
    json::Array models;
    models.push_back(json::Object{{"id", options_.model_name}, {"object", "model"}});
    to.set_content(Text(json::Object{{"object", "list"}, {"data", std::move(models)}}), kJson);
  });
  for (const bool is_chat : {true, false}) {
    server.Post(is_chat ? "/v1/chat/completions" : "/v1/completions",
                [this, is_chat](const httplib::Request& from, httplib::Response& to) {
                  Complete(from, to, is_chat);
                });
  }
  server.set_error_handler([](const httplib::Request& from, httplib::Response& to) {
    if (!to.body.empty()) return;
    const std::string message = to.status == 404 ? "there is no " + from.method + " " + from.path
                                                 : "the request is refused";
    to.set_content(Text(ErrorObject(json::fixUTF8(message), to.status)), kJson);
  });
  const int port = options_.port == 0 ? server.bind_to_any_port(options_.host)
                   : server.bind_to_port(options_.host, options_.port) ? options_.port
                                                                       : -1;
  if (port < 0) {
    return InvalidArgument("--serve: ", options_.host, ":", options_.port,
                           " cannot be listened to");
  }
  // The library lets five connections wait to be accepted; the kernel resets what comes beyond.
  ::listen(listener, SOMAXCONN);
  SignalPipe signals;
  std::thread stopper([&] {
    signals.Wait();
    is_stopping_ = true;
    server.stop();
  });
  std::fprintf(stderr, "tg-llm: http://%s:%d\n", options_.host.c_str(), port);
  const bool was_listening = server.listen_after_bind();
  signals.Wake();
  stopper.join();
  if (!was_listening) return absl::UnavailableError("--serve: the server stopped listening");
  return absl::OkStatus();
}

}  // namespace

absl::Status Serve(TextModel& model, const tokenizer::Tokenizer& tokenizer,
                   const std::optional<tokenizer::ChatTemplate>& chat,
                   const ServerOptions& options) {
  return LlmServer(model, tokenizer, chat, options).Run();
}

}  // namespace tg::llm
