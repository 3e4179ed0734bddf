// Compiles programs into PoCL's cache by worker processes, and checks what is in the cache.
//
// A job whose kernels are all in the cache, with the checksums that were recorded when they were
// compiled, needs no work. Otherwise a worker compiles it into a separate cache folder, which is
// then moved into PoCL's. PoCL itself trusts its files, and crashes on a damaged one.
#ifndef TG_RUNTIME_OPENCL_COMPILE_AHEAD_H_
#define TG_RUNTIME_OPENCL_COMPILE_AHEAD_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "runtime/base/spans.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/opencl/compile_job.h"

namespace tg::runtime {

struct CompileAheadOptions {
  // The executable that runs RunCompileWorker if its argument is kCompileWorkerFlag; empty: none,
  // and the device compiles at the first launch.
  std::string worker;
  // Called in this thread with the number of compiled kernels and of all of them.
  std::function<void(size_t done, size_t total)> progress;
  // Receives what each worker does, as details in rows "compiler 1", "compiler 2" and so on: the
  // span "parse" from the worker's start until its program is parsed, then one for each kernel.
  SpanLog* spans = nullptr;
};

// A job, and the key of the record of its files: every input that determines them.
struct KeyedJob {
  std::string key;
  CompileJob job;
};

// Compiles the jobs that are not in PoCL's cache, each in a process, and records them in `records`.
// Returns whether all were there. Failures are not errors: the device compiles what is missing, and
// reports what it refuses.
bool CompileAhead(std::span<const KeyedJob> jobs, const CompileAheadOptions& options,
                  DiskCache& records);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_COMPILE_AHEAD_H_
