// ThreadPool: runs independent jobs on several threads.
#ifndef TG_PASSES_THREAD_POOL_H_
#define TG_PASSES_THREAD_POOL_H_

#include <cstddef>

#include "llvm/ADT/STLExtras.h"

namespace tg::passes {

class ThreadPool {
 public:
  // `threads` includes the calling thread; 0: one per core.
  explicit ThreadPool(int threads);

  // Calls job(0) ... job(n - 1), each once, in any order and concurrently, and returns when all are
  // done. Each call starts and joins its threads, so a job should take much longer than that; a
  // call with few jobs runs them all on the calling thread.
  void ForEach(size_t n, llvm::function_ref<void(size_t)> job);

 private:
  const size_t threads_;
};

}  // namespace tg::passes

#endif  // TG_PASSES_THREAD_POOL_H_
