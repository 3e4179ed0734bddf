#include "tools/llm/http/http_connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/status.h"

namespace tg::http {
namespace {

namespace asio = boost::asio;

// A client that still sends after it was refused would lose the answer if the connection were
// closed at once. So this much is read for so long.
constexpr size_t kMaxDiscarded = size_t{16} << 20;
constexpr auto kLingerTime = std::chrono::seconds(2);

}  // namespace

// Passes the calls of any thread on to the server's.
class Connection::Reply : public Exchange {
 public:
  Reply(std::shared_ptr<Connection> connection, Request request)
      : executor_(connection->socket_.get_executor()), connection_(std::move(connection)) {
    request_ = std::move(request);
  }
  ~Reply() override {
    if (!is_done_) {
      Pass([](Connection& c) { c.Close(); });
    }
  }

  void Answer(int status, std::string body) override {
    is_done_ = true;
    Pass([status, body = std::move(body)](Connection& c) {
      const std::string head = c.Head(
          status, Cat("Content-Type: application/json\r\nContent-Length: ", body.size(), "\r\n"));
      c.Write(c.is_head_ ? head : head + body, /*is_end=*/true);
    });
  }
  void BeginEvents() override {
    Pass([](Connection& c) {
      // Without chunks, the end of the connection is the end of the stream.
      if (c.is_http_1_0_) c.keeps_alive_ = false;
      std::string fields = "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n";
      if (!c.is_http_1_0_) fields += "Transfer-Encoding: chunked\r\n";
      c.Write(c.Head(200, fields), /*is_end=*/false);
    });
  }
  void SendEvent(std::string_view data) override {
    Pass([event = Cat("data: ", data, "\n\n")](Connection& c) {
      if (c.is_http_1_0_) return c.Write(event, /*is_end=*/false);
      char size[32];
      std::snprintf(size, sizeof size, "%zx\r\n", event.size());
      c.Write(Cat(size, event, "\r\n"), /*is_end=*/false);
    });
  }
  void EndEvents() override {
    is_done_ = true;
    Pass([](Connection& c) { c.Write(c.is_http_1_0_ ? "" : "0\r\n\r\n", /*is_end=*/true); });
  }
  void SetGone() { is_gone_ = true; }

 private:
  template <typename Function>
  void Pass(Function function) {
    asio::dispatch(executor_, [connection = connection_, function = std::move(function)] {
      if (connection->is_open()) function(*connection);
    });
  }

  const asio::ip::tcp::socket::executor_type executor_;
  const std::shared_ptr<Connection> connection_;
};

void Connection::Start() {
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  // Ends the requests of a client whose machine is gone.
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  NextRequest();
}

void Connection::Close() {
  if (!is_open()) return;
  Enter(State::kClosed);
  if (const std::shared_ptr<Reply> reply = reply_.lock()) reply->SetGone();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Connection::CheckTime(Clock::time_point now) {
  if (!is_open()) return;
  if (!sending_.empty() && now - sent_at_ > options_.request_time) return Close();
  if (state_ == State::kLingering && now - since_ > kLingerTime) return Close();
  if (state_ != State::kReading || now - since_ <= options_.request_time) return;
  if (unparsed_.empty() && !parser_->has_begun()) return Close();
  Refuse(408, "the request takes too long");
}

void Connection::Read() {
  if (reads_ || !is_open()) return;
  reads_ = true;
  socket_.async_read_some(
      asio::buffer(buffer_),
      [self = shared_from_this()](const boost::system::error_code& error, size_t bytes) {
        self->reads_ = false;
        if (!error) return self->OnRead(bytes);
        // A client that has sent all it has to send still gets the end of its answer.
        self->keeps_alive_ = false;
        if (error != asio::error::eof || self->state_ != State::kFlushing) self->Close();
      });
}

void Connection::OnRead(size_t bytes) {
  if (state_ == State::kLingering) {
    discarded_ += bytes;
    if (discarded_ > kMaxDiscarded) return Close();
    return Read();
  }
  unparsed_.append(buffer_.data(), bytes);
  if (state_ == State::kReading) Parse();
  // While an answer is made, reading shows that the client is gone.
  if (unparsed_.size() < RequestParser::kMaxUnparsed) Read();
}

void Connection::Parse() {
  if (const std::optional<Refusal> refusal = parser_->Put(unparsed_)) {
    return Refuse(refusal->status, refusal->message);
  }
  if (parser_->is_done()) return Dispatch();
  if (parser_->expects_continue() && !std::exchange(told_to_continue_, true)) {
    Write("HTTP/1.1 100 Continue\r\n\r\n", /*is_end=*/false);
  }
}

void Connection::Dispatch() {
  ParsedRequest parsed = parser_->Take();
  keeps_alive_ = parsed.keeps_alive;
  is_http_1_0_ = parsed.is_http_1_0;
  is_head_ = parsed.request.method == "HEAD";
  Enter(State::kAnswering);
  const auto reply = std::make_shared<Reply>(shared_from_this(), std::move(parsed.request));
  reply_ = reply;
  options_.handler(reply);
}

void Connection::Refuse(int status, std::string_view message) {
  keeps_alive_ = false;
  const std::string body = options_.error_body(status, message);
  Enter(State::kAnswering);
  unparsed_.clear();
  Write(Cat(Head(status,
                 Cat("Content-Type: application/json\r\nContent-Length: ", body.size(), "\r\n")),
            body),
        /*is_end=*/true);
}

std::string Connection::Head(int status, std::string_view fields) const {
  std::string head = Cat("HTTP/1.1 ", status, " ", ReasonOf(status), "\r\n", fields);
  if (!keeps_alive_) head += "Connection: close\r\n";
  if (keeps_alive_ && is_http_1_0_) head += "Connection: keep-alive\r\n";
  return head + "\r\n";
}

void Connection::Write(std::string_view bytes, bool is_end) {
  if (!is_open()) return;
  pending_ += bytes;
  if (is_end) Enter(State::kFlushing);
  if (sending_.empty()) {
    sent_at_ = Clock::now();
    WriteSome();
  }
}

void Connection::WriteSome() {
  if (sent_ == sending_.size()) {
    sending_.clear();
    std::swap(sending_, pending_);
    sent_ = 0;
  }
  if (sending_.empty()) {
    if (state_ == State::kFlushing) keeps_alive_ ? NextRequest() : Linger();
    return;
  }
  socket_.async_write_some(
      asio::buffer(sending_.data() + sent_, sending_.size() - sent_),
      [self = shared_from_this()](const boost::system::error_code& error, size_t bytes) {
        if (error) return self->Close();
        self->sent_ += bytes;
        self->sent_at_ = Clock::now();
        self->WriteSome();
      });
}

void Connection::NextRequest() {
  Enter(State::kReading);
  reply_.reset();
  keeps_alive_ = true;
  is_http_1_0_ = is_head_ = told_to_continue_ = false;
  parser_.emplace(options_.max_head_bytes, options_.max_body_bytes);
  Parse();
  Read();
}

void Connection::Linger() {
  Enter(State::kLingering);
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  Read();
}

}  // namespace tg::http
