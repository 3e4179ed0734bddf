#include "runtime/cpu/worker_pool.h"

#include <algorithm>

#include "base/check.h"
#include "runtime/cpu/processor.h"

namespace tg::cpu {
namespace {

// Looks at the next round before a thread sleeps: some tens of microseconds, more than there are
// between most launches of a run.
constexpr int kSpins = 2000;

// Chunks for each thread, so that threads which start late or are interrupted do not delay the
// others for long.
constexpr int64_t kChunksPerThread = 16;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

uint64_t Packed(uint32_t round, uint32_t chunks) { return uint64_t{round} << 32 | chunks; }

}  // namespace

WorkerPool::WorkerPool(int threads) {
  for (int i = 1; i < threads; ++i) {
    threads_.emplace_back([this, &scratch = scratch_.emplace_back()] { Work(scratch); });
  }
}

WorkerPool::~WorkerPool() {
  stop_ = true;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Run(int64_t n, Job job) {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (n <= 1 || threads_.empty() || !lock.owns_lock()) {
    if (n > 0) job(0, n);
    return;
  }
  job_ = &job;
  n_ = n;
  chunk_ = std::max<int64_t>(1, n / (threads() * kChunksPerThread));
  const auto chunks = static_cast<uint32_t>((n + chunk_ - 1) / chunk_);
  done_.store(0, std::memory_order_relaxed);
  const uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  left_.store(Packed(round, chunks), std::memory_order_release);
  round_.store(round, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) > 0) round_.notify_all();
  while (TakeChunk(round)) {
  }
  while (done_.load(std::memory_order_acquire) != chunks) Pause();
}

bool WorkerPool::TakeChunk(uint32_t round) {
  uint64_t left = left_.load(std::memory_order_acquire);
  do {
    if (left >> 32 != round || static_cast<uint32_t>(left) == 0) return false;
  } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel));
  // The round cannot end before this chunk is done. Chunks are taken from the front.
  const int64_t all = (n_ + chunk_ - 1) / chunk_;
  const int64_t begin = (all - static_cast<uint32_t>(left)) * chunk_;
  (*job_)(begin, std::min(begin + chunk_, n_));
  done_.fetch_add(1, std::memory_order_release);
  return true;
}

void WorkerPool::Work(Scratch& scratch) {
  PoolScratch() = &scratch;
  uint32_t seen = 0;
  for (;;) {
    uint32_t round = round_.load(std::memory_order_acquire);
    for (int spin = 0; round == seen && spin < kSpins; ++spin) {
      Pause();
      round = round_.load(std::memory_order_acquire);
    }
    if (round == seen) {
      sleeping_.fetch_add(1, std::memory_order_seq_cst);
      round_.wait(seen, std::memory_order_seq_cst);
      sleeping_.fetch_sub(1, std::memory_order_relaxed);
      continue;
    }
    seen = round;
    if (stop_.load(std::memory_order_relaxed)) return;
    while (TakeChunk(round)) {
    }
  }
}

// Not destroyed: a process may end while another thread launches kernels.
WorkerPool& SharedWorkers() {
  static WorkerPool& pool = *new WorkerPool(UsableProcessors());
  return pool;
}

void WorkerPool::Scratch::Reserve(size_t bytes) {
  if (bytes <= size) return;
  constexpr size_t kAlignment = 64;
  size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  memory.reset();
  memory.reset(std::aligned_alloc(kAlignment, size));
  TG_CHECK(memory != nullptr);
}

WorkerPool::Scratch*& WorkerPool::PoolScratch() {
  thread_local Scratch* scratch = nullptr;
  return scratch;
}

WorkerPool::Scratch& WorkerPool::OwnScratch() {
  if (Scratch* scratch = PoolScratch()) return *scratch;
  thread_local Scratch scratch;
  return scratch;
}

void WorkerPool::ReserveScratch(size_t bytes) {
  OwnScratch().Reserve(bytes);
  // No thread of the pool uses its memory outside of Run.
  const std::lock_guard lock(mutex_);
  for (Scratch& scratch : scratch_) scratch.Reserve(bytes);
}

void* ThreadScratch(size_t bytes) {
  WorkerPool::Scratch& scratch = WorkerPool::OwnScratch();
  scratch.Reserve(bytes);
  return scratch.memory.get();
}

}  // namespace tg::cpu
