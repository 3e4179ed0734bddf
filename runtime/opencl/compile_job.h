// A program that a worker process compiles into PoCL's cache, so that this process finds it there.
//
// PoCL compiles a kernel when it is first launched, and holds a lock while it does, so threads
// cannot compile concurrently. Processes can: they share the cache, which is a folder.
#ifndef TG_RUNTIME_OPENCL_COMPILE_JOB_H_
#define TG_RUNTIME_OPENCL_COMPILE_JOB_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

struct CompileJob {
  // An argument of a kernel: a buffer, or an integer of 4 or 8 bytes.
  struct Argument {
    bool is_buffer = true;
    int bytes = 0;      // of an integer
    int64_t value = 0;  // of an integer: one that the kernel accepts
  };
  struct Kernel {
    std::string name;
    std::array<size_t, 3> local = {1, 1, 1};  // work-items per group
    std::vector<Argument> arguments;
  };

  std::string platform, device;  // names, as in DeviceInfo
  std::string options;           // of the OpenCL compiler
  uint64_t buffer_bytes = 0;     // at least the size of every buffer that a kernel accesses
  std::vector<Kernel> kernels;
  std::string source;
};

// The job as text, and back. InvalidArgument for any other text.
std::string JobText(const CompileJob& job);
absl::StatusOr<CompileJob> ParseJob(std::string_view text);

// The only argument of a worker process. A program that names itself as a worker
// (CompileAheadOptions::worker) calls RunCompileWorker first of all if it gets this argument.
inline constexpr char kCompileWorkerFlag[] = "--compile-worker";

// Reads a job from standard input and compiles its kernels, by launching one group of each on
// buffers of zeros. Writes each kernel's name and a line break to standard output when it is
// compiled. Returns the exit code of the process.
int RunCompileWorker();

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_COMPILE_JOB_H_
