#include "tools/llm/http/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tools/llm/http/http_connection.h"

namespace tg::http {
namespace {

namespace asio = boost::asio;

using asio::ip::tcp;

constexpr auto kSweepInterval = std::chrono::milliseconds(100);

}  // namespace

class Server::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}

  absl::StatusOr<int> Listen(const std::string& host, int port);
  absl::Status Run();
  void Stop() {
    asio::post(context_, [this] { Close(); });
  }

 private:
  void Accept();
  void Sweep();
  // Closes the connection whose client has let the server wait for longest.
  void CloseIdlest();
  void Close();

  const Options options_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer sweep_{context_}, retry_{context_};
  asio::signal_set signals_{context_};
  std::vector<std::shared_ptr<Connection>> connections_;
  bool is_closed_ = false;
};

absl::StatusOr<int> Server::Impl::Listen(const std::string& host, int port) {
  boost::system::error_code error;
  tcp::resolver resolver(context_);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  for (const auto& entry : found) {
    if (error) break;
    const tcp::endpoint address = entry.endpoint();
    acceptor_.open(address.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(address, error);
    // A shorter queue of connections to be accepted would let the kernel reset what comes beyond.
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    const int bound = error ? 0 : acceptor_.local_endpoint(error).port();
    if (!error) return bound;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    break;
  }
  return InvalidArgument(host, ":", port, " cannot be listened to");
}

absl::Status Server::Impl::Run() {
  boost::system::error_code error;
  for (const int signal : {SIGINT, SIGTERM}) {
    signals_.add(signal, error);
    if (error) return absl::InternalError(Cat("signals: ", error.message()));
  }
  signals_.async_wait([this](const boost::system::error_code& e, int) {
    if (!e) Close();
  });
  Accept();
  Sweep();
  context_.run();
  return absl::OkStatus();
}

void Server::Impl::Accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
    if (is_closed_) return;
    if (error) {
      CloseIdlest();  // perhaps no file descriptor is left
      retry_.expires_after(kSweepInterval);
      retry_.async_wait([this](const boost::system::error_code& e) {
        if (!e) Accept();
      });
      return;
    }
    if (connections_.size() >= options_.max_connections) CloseIdlest();
    if (connections_.size() < options_.max_connections) {
      connections_.push_back(std::make_shared<Connection>(std::move(socket), options_));
      connections_.back()->Start();
    }
    Accept();
  });
}

void Server::Impl::CloseIdlest() {
  std::shared_ptr<Connection> idlest;
  for (const auto& c : connections_) {
    if (c->waits_for_client() && (!idlest || c->since() < idlest->since())) idlest = c;
  }
  if (idlest) idlest->Close();
  std::erase_if(connections_, [](const auto& c) { return !c->is_open(); });
}

void Server::Impl::Sweep() {
  const Clock::time_point now = Clock::now();
  for (const auto& c : connections_) c->CheckTime(now);
  std::erase_if(connections_, [](const auto& c) { return !c->is_open(); });
  sweep_.expires_after(kSweepInterval);
  sweep_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !is_closed_) Sweep();
  });
}

void Server::Impl::Close() {
  is_closed_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  for (const auto& c : connections_) c->Close();
  context_.stop();
}

Server::Server(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;
absl::StatusOr<int> Server::Listen(const std::string& host, int port) {
  return impl_->Listen(host, port);
}
absl::Status Server::Run() { return impl_->Run(); }
void Server::Stop() { impl_->Stop(); }

}  // namespace tg::http
