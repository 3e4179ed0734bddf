#include "runtime/cpu/worker_pool.h"

#include <algorithm>

#include "base/arithmetic.h"
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

// The state of a share: chunks [begin, end) are left.
constexpr int kPlaceBits = 16;
constexpr int64_t kMostChunks = (int64_t{1} << kPlaceBits) - 1;

struct Left {
  uint32_t round;
  int64_t begin, end;

  static Left Of(uint64_t packed) {
    return {static_cast<uint32_t>(packed >> 32),
            static_cast<int64_t>(packed >> kPlaceBits) & kMostChunks,
            static_cast<int64_t>(packed) & kMostChunks};
  }
  uint64_t Packed() const {
    return uint64_t{round} << 32 | static_cast<uint64_t>(begin << kPlaceBits | end);
  }
};

}  // namespace

WorkerPool::WorkerPool(int threads) : shares_(static_cast<size_t>(std::max(threads, 1))) {
  for (size_t i = 1; i < shares_.size(); ++i) {
    threads_.emplace_back([this, i, &scratch = scratch_.emplace_back()] { Work(i, scratch); });
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
  const int64_t parts = threads();
  chunk_ = std::max({int64_t{1}, n / (parts * kChunksPerThread), CeilDiv(n, kMostChunks)});
  const int64_t chunks = CeilDiv(n, chunk_);
  done_.store(0, std::memory_order_relaxed);
  const uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  for (int64_t t = 0; t < parts; ++t) {
    const Left share = {round, chunks * t / parts, chunks * (t + 1) / parts};
    shares_[static_cast<size_t>(t)].left.store(share.Packed(), std::memory_order_release);
  }
  round_.store(round, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) > 0) round_.notify_all();
  RunChunks(0, round);
  while (done_.load(std::memory_order_acquire) != chunks) Pause();
}

int64_t WorkerPool::Take(Share& share, uint32_t round, bool first) {
  uint64_t packed = share.left.load(std::memory_order_acquire);
  for (;;) {
    Left left = Left::Of(packed);
    if (left.round != round || left.begin >= left.end) return -1;
    const int64_t chunk = first ? left.begin++ : --left.end;
    if (share.left.compare_exchange_weak(packed, left.Packed(), std::memory_order_acq_rel)) {
      return chunk;
    }
  }
}

void WorkerPool::RunChunks(size_t thread, uint32_t round) {
  int64_t done = 0;
  for (size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[(thread + k) % shares_.size()];
    // The round cannot end before the chunks that are taken here are counted.
    for (int64_t c; (c = Take(share, round, k == 0)) >= 0; ++done) {
      (*job_)(c * chunk_, std::min((c + 1) * chunk_, n_));
    }
  }
  if (done > 0) done_.fetch_add(done, std::memory_order_release);
}

void WorkerPool::Work(size_t thread, Scratch& scratch) {
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
    RunChunks(thread, round);
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
