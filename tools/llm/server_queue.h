// A queue between the server's threads, from which work is dropped when its client is gone.
#ifndef TG_TOOLS_LLM_SERVER_QUEUE_H_
#define TG_TOOLS_LLM_SERVER_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace tg::llm {

// T has a function is_gone(), which other threads may make true at any time.
template <typename T>
class ServerQueue {
 public:
  void Push(T item) {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (is_closed_) return;
    std::erase_if(items_, [](const T& i) { return i.is_gone(); });
    items_.push_back(std::move(item));
    changed_.notify_one();
  }
  // Waits for the oldest item whose client is there. Returns nothing once the queue is closed.
  std::optional<T> Pop() {
    std::unique_lock<std::mutex> hold(mutex_);
    while (true) {
      changed_.wait(hold, [&] { return is_closed_ || !items_.empty(); });
      if (is_closed_) return std::nullopt;
      T item = std::move(items_.front());
      items_.pop_front();
      if (!item.is_gone()) return item;
    }
  }
  void Close() {
    const std::lock_guard<std::mutex> hold(mutex_);
    is_closed_ = true;
    items_.clear();
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool is_closed_ = false;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_SERVER_QUEUE_H_
