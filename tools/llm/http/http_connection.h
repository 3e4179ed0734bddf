// One connection of an http::Server. All but the calls of its exchange run on the server's thread.
#ifndef TG_TOOLS_LLM_HTTP_HTTP_CONNECTION_H_
#define TG_TOOLS_LLM_HTTP_HTTP_CONNECTION_H_

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/llm/http/http_parser.h"
#include "tools/llm/http/http_server.h"

namespace tg::http {

using Clock = std::chrono::steady_clock;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `options` outlives the connection.
  Connection(boost::asio::ip::tcp::socket socket, const Options& options)
      : socket_(std::move(socket)), options_(options) {}

  void Start();
  // Closes the connection at once, and tells its exchange that the client is gone.
  void Close();
  // Ends what takes too long.
  void CheckTime(Clock::time_point now);

  bool is_open() const { return state_ != State::kClosed; }
  // Whether the client, and not the server, is the next to send something.
  bool waits_for_client() const { return state_ == State::kReading || state_ == State::kLingering; }
  Clock::time_point since() const { return since_; }  // of this state

 private:
  class Reply;
  enum class State : uint8_t {
    kReading,    // a request
    kAnswering,  // the handler has the request
    kFlushing,   // the end of the answer is on its way
    kLingering,  // no answer follows; what the client still sends is discarded
    kClosed,
  };

  void Enter(State state) {
    state_ = state;
    since_ = Clock::now();
  }
  void Read();
  void OnRead(size_t bytes);
  // Parses what has been read.
  void Parse();
  void Dispatch();
  void Refuse(int status, std::string_view message);
  // Appends to what is sent. `is_end`: the answer ends with it.
  void Write(std::string_view bytes, bool is_end);
  void WriteSome();
  void NextRequest();
  void Linger();
  // The first lines of an answer, up to the empty line.
  std::string Head(int status, std::string_view fields) const;

  boost::asio::ip::tcp::socket socket_;
  const Options& options_;
  State state_ = State::kReading;
  Clock::time_point since_;

  std::optional<RequestParser> parser_;
  std::array<char, 8192> buffer_;
  std::string unparsed_;
  bool reads_ = false;  // a read is pending
  size_t discarded_ = 0;
  bool told_to_continue_ = false;

  // Of the request that is answered.
  std::weak_ptr<Reply> reply_;
  bool keeps_alive_ = true, is_http_1_0_ = false, is_head_ = false;

  std::string sending_, pending_;  // pending: behind what is being sent
  size_t sent_ = 0;                // of `sending_`
  Clock::time_point sent_at_;
};

}  // namespace tg::http

#endif  // TG_TOOLS_LLM_HTTP_HTTP_CONNECTION_H_
