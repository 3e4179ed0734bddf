// WorkerPool: the threads that run a kernel's work-groups.
//
// A launch costs less than a microsecond while the threads are awake, and they stay awake for a
// short time after one. The calling thread works too, and waits only for work that another thread
// has begun. So a machine with other work on its processors delays a launch by no more than that
// work takes: a pool that waits until each of its threads has seen the launch waits for the
// scheduler.
//
// Each thread begins with its share, the same part of each launch. What it reads again launch after
// launch, such as its rows of a matrix in a loop, is then in its own cache, and so is much of what
// the launch before has written. A thread that has finished takes work from the end of another's
// share.
#ifndef TG_RUNTIME_CPU_WORKER_POOL_H_
#define TG_RUNTIME_CPU_WORKER_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace tg::cpu {

class WorkerPool {
 public:
  using Job = absl::FunctionRef<void(int64_t begin, int64_t end)>;

  // `threads` includes the calling thread.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls `job` with ranges that make up [0, n), concurrently, and returns when all are done. If
  // another thread is inside, the calling thread does everything.
  void Run(int64_t n, Job job);

  // Makes ThreadScratch(bytes) allocate nothing in the threads of this pool and in the calling one.
  void ReserveScratch(size_t bytes);

  int threads() const { return static_cast<int>(threads_.size()) + 1; }
  // How many calls of Run other threads were told of.
  uint32_t rounds() const { return round_.load(std::memory_order_relaxed); }

 private:
  // Memory of a thread, which only grows.
  struct Scratch {
    std::unique_ptr<void, void (*)(void*)> memory{nullptr, std::free};
    size_t size = 0;
    void Reserve(size_t bytes);
  };
  friend void* ThreadScratch(size_t bytes);
  // That of the calling thread.
  static Scratch& OwnScratch();
  static Scratch*& PoolScratch();

  // The chunks of a thread's share that nobody has taken, with the number of the round in the upper
  // half. A thread that is late fails to take a chunk of a round that is over.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};
  };

  // `thread`: 0 for the caller of Run.
  void Work(size_t thread, Scratch& scratch);
  // Runs chunks until none is left to take.
  void RunChunks(size_t thread, uint32_t round);
  // Takes the first chunk of a share, or the last one. -1: none is left.
  static int64_t Take(Share& share, uint32_t round, bool first);

  // What is to be done in the current round. Written while no chunk is left to take.
  const Job* job_ = nullptr;
  int64_t n_ = 0, chunk_ = 1;
  std::mutex mutex_;  // of Run

  std::vector<Share> shares_;                   // by thread
  alignas(64) std::atomic<int64_t> done_{0};    // chunks
  alignas(64) std::atomic<uint32_t> round_{0};  // sleeping threads wait for a change
  std::atomic<int> sleeping_{0};
  std::atomic<bool> stop_{false};
  std::deque<Scratch> scratch_;  // of each thread
  std::vector<std::thread> threads_;
};

// The pool of this process, with a thread for each usable processor. Made when it is first needed.
WorkerPool& SharedWorkers();

// Memory of the calling thread, aligned to a cache line, that stays valid until the thread asks for
// more.
void* ThreadScratch(size_t bytes);

}  // namespace tg::cpu

#endif  // TG_RUNTIME_CPU_WORKER_POOL_H_
