// An HTTP/1.1 server for a program that works on one request at a time.
//
// One thread reads and writes all connections and waits for none of them. A connection that is
// idle, sends its request slowly or reads its answer slowly costs some memory, and no thread.
// Requests go to a handler only when they are complete. Limits bound their size, the time that they
// take, and the number of connections.
#ifndef TG_TOOLS_LLM_HTTP_HTTP_SERVER_H_
#define TG_TOOLS_LLM_HTTP_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tg::http {

struct Request {
  std::string method, path, body;  // the path without a query
};

// A request and its answer, which is either Answer or the three calls for events, in order. Any
// thread may make the calls; none of them blocks. An exchange that ends without an answer closes
// the connection.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Sends a whole answer, which is JSON.
  virtual void Answer(int status, std::string body) = 0;

  // Sends a stream of server-sent events with status 200.
  virtual void BeginEvents() = 0;
  virtual void SendEvent(std::string_view data) = 0;
  virtual void EndEvents() = 0;

  // Set when the client has closed the connection, or the sending half of it.
  const std::atomic<bool>& is_gone() const { return is_gone_; }
  // Set by the call that ends the answer.
  bool is_done() const { return is_done_; }
  const Request& request() const { return request_; }
  // The body, which the exchange then no longer keeps.
  std::string TakeBody() { return std::move(request_.body); }

 protected:
  Request request_;
  std::atomic<bool> is_gone_ = false, is_done_ = false;
};

struct Options {
  size_t max_head_bytes = size_t{16} << 10;
  size_t max_body_bytes = size_t{1} << 20;  // with Content-Length, and of all chunks together
  // Beyond it, the connection whose client has let the server wait for longest is closed.
  size_t max_connections = 1000;
  // From a connection's begin, or its previous answer, to the end of a request. Also the time
  // within which a client must take some bytes of an answer.
  std::chrono::milliseconds request_time = std::chrono::seconds(60);
  // The body of an answer to a request that never reached the handler.
  std::function<std::string(int status, std::string_view message)> error_body;
  // Called with each request by the thread that runs the server, so it must not block.
  std::function<void(std::shared_ptr<Exchange>)> handler;
};

class Server {
 public:
  explicit Server(Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Begins to listen; `port` 0 takes any that is free. Returns the port, or InvalidArgument.
  absl::StatusOr<int> Listen(const std::string& host, int port);

  // Serves until the process gets SIGINT or SIGTERM, or Stop is called. Then all connections are
  // closed.
  absl::Status Run();

  // Any thread may call this.
  void Stop();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tg::http

#endif  // TG_TOOLS_LLM_HTTP_HTTP_SERVER_H_
