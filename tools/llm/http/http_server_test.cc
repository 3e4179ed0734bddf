#include "tools/llm/http/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int failed = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    EXPECT_EQ(failed, 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { Close(); }

  void Close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void EndSending() const { ::shutdown(socket_, SHUT_WR); }
  bool Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // Reads until there is `end`, or the server closes the connection, or five seconds pass.
  std::string ReadTo(std::string_view end) {
    std::string& text = read_;
    char buffer[4096];
    while (end.empty() || text.find(end) == std::string::npos) {
      pollfd poll = {socket_, POLLIN, 0};
      if (::poll(&poll, 1, 5000) <= 0) return text + " (nothing came)";
      const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
      if (n <= 0) return std::exchange(text, "");
      text.append(buffer, static_cast<size_t>(n));
    }
    const size_t size = text.find(end) + end.size();
    std::string found = text.substr(0, size);
    text.erase(0, size);
    return found;
  }
  std::string ReadAll() { return ReadTo(""); }

 private:
  int socket_;
  std::string read_;
};

std::string Get(std::string_view path) { return "GET " + std::string(path) + " HTTP/1.1\r\n\r\n"; }

// Answers /echo with the request's body, leaves /hold to the test, and closes for other paths.
class HttpServerTest : public testing::Test {
 protected:
  ~HttpServerTest() override {
    held_.clear();
    if (server_) server_->Stop();
    if (thread_.joinable()) thread_.join();
  }
  void Start(Options options = {}) {
    options.error_body = [](int status, std::string_view message) {
      return std::to_string(status) + ": " + std::string(message);
    };
    options.handler = [this](std::shared_ptr<Exchange> exchange) {
      const Request& request = exchange->request();
      if (request.path == "/echo") {
        exchange->Answer(200, "<" + request.method + " " + exchange->TakeBody() + ">");
      } else if (request.path == "/hold") {
        const std::lock_guard<std::mutex> hold(mutex_);
        held_.push_back(std::move(exchange));
        changed_.notify_all();
      }
    };
    server_ = std::make_unique<Server>(std::move(options));
    const absl::StatusOr<int> port = server_->Listen("127.0.0.1", 0);
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = *port;
    thread_ = std::thread([this] { EXPECT_TRUE(server_->Run().ok()); });
  }
  std::shared_ptr<Exchange> Held(size_t number) {
    std::unique_lock<std::mutex> hold(mutex_);
    changed_.wait_for(hold, 5s, [&] { return held_.size() > number; });
    return held_.at(number);
  }
  static bool BecomesGone(const Exchange& exchange) {
    for (int i = 0; i < 500 && !exchange.is_gone(); ++i) std::this_thread::sleep_for(10ms);
    return exchange.is_gone();
  }

  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Exchange>> held_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST_F(HttpServerTest, AnswersInOrderOnOneConnection) {
  Start();
  Client client(port_);
  // The third request is cut into bytes.
  ASSERT_TRUE(
      client.Send(Get("/echo?x=1") + "POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"));
  EXPECT_THAT(client.ReadTo(">"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\n<GET >")));
  EXPECT_THAT(client.ReadTo(">"), EndsWith("\r\n\r\n<POST abc>"));
  for (const char c : std::string("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "2\r\nde\r\n1;x=y\r\nf\r\n0\r\n\r\n")) {
    ASSERT_TRUE(client.Send({&c, 1}));
  }
  EXPECT_THAT(client.ReadTo(">"), EndsWith("\r\n\r\n<POST def>"));
}

TEST_F(HttpServerTest, EndsTheConnectionThatIsToEnd) {
  Start();
  Client one(port_), two(port_), three(port_);
  ASSERT_TRUE(one.Send("GET /echo HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(one.ReadAll(), AllOf(HasSubstr("Connection: close\r\n"), EndsWith("<GET >")));
  ASSERT_TRUE(two.Send("GET /echo HTTP/1.0\r\n\r\n"));
  EXPECT_THAT(two.ReadAll(), EndsWith("<GET >"));
  ASSERT_TRUE(three.Send("HEAD /echo HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(three.ReadAll(), AllOf(HasSubstr("Content-Length: 7\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(HttpServerTest, TellsAClientToContinue) {
  Start();
  Client client(port_);
  ASSERT_TRUE(
      client.Send("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  EXPECT_EQ(client.ReadTo("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.Send("ab"));
  EXPECT_THAT(client.ReadTo(">"), EndsWith("<POST ab>"));
}

TEST_F(HttpServerTest, BodiesAreBoundedByLengthAndByChunks) {
  Start({.max_body_bytes = 1000});
  Client length(port_), chunk(port_), chunks(port_), fits(port_);
  ASSERT_TRUE(length.Send("POST /echo HTTP/1.1\r\nContent-Length: 1001\r\n\r\n"));
  EXPECT_THAT(length.ReadAll(), AllOf(StartsWith("HTTP/1.1 413 "),
                                      EndsWith("413: the body has more than 1000 bytes")));
  const std::string head = "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_TRUE(chunk.Send(head + "1000000\r\naaaa"));
  EXPECT_THAT(chunk.ReadAll(), StartsWith("HTTP/1.1 413 "));
  // The answer is not lost although the client sends on.
  ASSERT_TRUE(chunks.Send(head));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(chunks.Send("64\r\n" + std::string(100, 'a') + "\r\n"));
  EXPECT_THAT(chunks.ReadAll(), StartsWith("HTTP/1.1 413 "));
  ASSERT_TRUE(fits.Send(head));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(fits.Send("64\r\n" + std::string(100, 'a') + "\r\n"));
  ASSERT_TRUE(fits.Send("0\r\n\r\n"));
  EXPECT_THAT(fits.ReadTo(">"), EndsWith("<POST " + std::string(1000, 'a') + ">"));
}

TEST_F(HttpServerTest, RefusesWhatIsNoRequest) {
  Start({.max_head_bytes = 4096});
  for (const auto& [sent, answer] : std::vector<std::pair<std::string, const char*>>{
           {"hello\r\n\r\n", "HTTP/1.1 400 "},
           {"POST /echo HTTP/1.1\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 400 "},
           {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 "},
           {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                std::string(100000, 'x'),
            "HTTP/1.1 400 "},
           {"GET /echo HTTP/1.1\r\nx: " + std::string(5000, 'x') + "\r\n\r\n", "HTTP/1.1 431 "}}) {
    Client client(port_);
    client.Send(sent);
    EXPECT_THAT(client.ReadAll(), StartsWith(answer)) << sent.substr(0, 80);
  }
  Client client(port_);
  ASSERT_TRUE(client.Send(Get("/unanswered")));
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(HttpServerTest, StreamsEvents) {
  Start();
  Client client(port_), old(port_);
  ASSERT_TRUE(client.Send(Get("/hold")));
  const std::shared_ptr<Exchange> exchange = Held(0);
  exchange->BeginEvents();
  exchange->SendEvent("one");
  EXPECT_THAT(client.ReadTo("one\n\n\r\n"),
              AllOf(HasSubstr("text/event-stream"), EndsWith("\r\n\r\nb\r\ndata: one\n\n\r\n")));
  exchange->SendEvent("two");
  EXPECT_FALSE(exchange->is_done());
  exchange->EndEvents();
  EXPECT_TRUE(exchange->is_done());
  EXPECT_EQ(client.ReadTo("0\r\n\r\n"), "b\r\ndata: two\n\n\r\n0\r\n\r\n");
  ASSERT_TRUE(client.Send(Get("/echo")));  // the connection goes on
  EXPECT_THAT(client.ReadTo(">"), EndsWith("<GET >"));
  EXPECT_FALSE(exchange->is_gone());

  ASSERT_TRUE(old.Send("GET /hold HTTP/1.0\r\n\r\n"));
  Held(1)->BeginEvents();
  Held(1)->SendEvent("one");
  Held(1)->EndEvents();
  EXPECT_THAT(old.ReadAll(), EndsWith("\r\n\r\ndata: one\n\n"));
}

TEST_F(HttpServerTest, AClientThatLeavesIsGone) {
  Start();
  Client leaves(port_), half(port_), stays(port_);
  ASSERT_TRUE(leaves.Send(Get("/hold")));
  Held(0);
  ASSERT_TRUE(half.Send(Get("/hold")));
  Held(1);
  ASSERT_TRUE(stays.Send(Get("/hold")));
  Held(2);
  leaves.Close();
  half.EndSending();
  EXPECT_TRUE(BecomesGone(*Held(0)));
  EXPECT_TRUE(BecomesGone(*Held(1)));
  Held(0)->Answer(200, "nobody reads this");
  EXPECT_FALSE(Held(2)->is_gone());
  Held(2)->Answer(200, "<read>");
  EXPECT_THAT(stays.ReadTo(">"), EndsWith("<read>"));
}

TEST_F(HttpServerTest, AnAnswerReachesAClientThatHasEndedSending) {
  Start();
  Client client(port_);
  ASSERT_TRUE(client.Send("POST /echo HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" +
                          std::string(1000000, 'a')));
  client.EndSending();
  EXPECT_THAT(client.ReadAll(), EndsWith("aaa>"));
}

TEST_F(HttpServerTest, IdleAndSlowConnectionsDelayNobodyAndEnd) {
  Start({.request_time = 700ms});
  std::vector<std::unique_ptr<Client>> idle, slow;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::make_unique<Client>(port_));
    slow.push_back(std::make_unique<Client>(port_));
    ASSERT_TRUE(slow.back()->Send("POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\na"));
  }
  for (int i = 0; i < 10; ++i) {
    Client client(port_);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(client.Send(Get("/echo")));
    EXPECT_THAT(client.ReadTo(">"), EndsWith("<GET >"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 400ms);
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(idle[i]->ReadAll(), "");
    EXPECT_THAT(slow[i]->ReadAll(), StartsWith("HTTP/1.1 408 "));
  }
}

TEST_F(HttpServerTest, ARequestThatIsAnsweredHasNoLimitOfTime) {
  Start({.request_time = 100ms});
  Client client(port_);
  ASSERT_TRUE(client.Send(Get("/hold")));
  Held(0);
  std::this_thread::sleep_for(500ms);
  EXPECT_FALSE(Held(0)->is_gone());
  Held(0)->Answer(200, "<late>");
  EXPECT_THAT(client.ReadTo(">"), EndsWith("<late>"));
}

TEST_F(HttpServerTest, AClientThatReadsNothingIsClosed) {
  Start({.request_time = 300ms});
  Client client(port_);
  ASSERT_TRUE(client.Send(Get("/hold")));
  Held(0)->BeginEvents();
  Held(0)->SendEvent(std::string(64 << 20, 'x'));
  EXPECT_TRUE(BecomesGone(*Held(0)));
}

TEST_F(HttpServerTest, TheIdlestConnectionMakesPlace) {
  Start({.max_connections = 3});
  Client held(port_), idle(port_), second(port_);
  ASSERT_TRUE(held.Send(Get("/hold")));
  Held(0);
  ASSERT_TRUE(idle.Send(Get("/echo")));
  idle.ReadTo(">");
  ASSERT_TRUE(second.Send(Get("/echo")));
  second.ReadTo(">");
  Client fourth(port_);
  ASSERT_TRUE(fourth.Send(Get("/echo")));
  EXPECT_THAT(fourth.ReadTo(">"), EndsWith("<GET >"));
  EXPECT_EQ(idle.ReadAll(), "");  // and neither the one that waits for its answer nor the next
  ASSERT_TRUE(second.Send(Get("/echo")));
  EXPECT_THAT(second.ReadTo(">"), EndsWith("<GET >"));
  Held(0)->Answer(200, "<held>");
  EXPECT_THAT(held.ReadTo(">"), EndsWith("<held>"));
}

TEST_F(HttpServerTest, TakesAddressesByNameAndNoneTwice) {
  Start();
  Server another({});
  EXPECT_FALSE(another.Listen("127.0.0.1", port_).ok());
  EXPECT_FALSE(another.Listen("no.such.host.invalid", 0).ok());
  EXPECT_TRUE(another.Listen("localhost", 0).ok());
}

TEST_F(HttpServerTest, StopEndsWhatIsHeld) {
  Start();
  Client client(port_);
  ASSERT_TRUE(client.Send(Get("/hold")));
  Held(0);
  server_->Stop();
  EXPECT_TRUE(BecomesGone(*Held(0)));
  EXPECT_EQ(client.ReadAll(), "");
}

}  // namespace
}  // namespace tg::http
