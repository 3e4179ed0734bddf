#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/status.h"
#include "runtime/opencl/cl_program.h"
#include "runtime/opencl/compile_job.h"
#include "runtime/opencl/list_devices.h"

namespace tg::runtime {
namespace {

std::string ReadStandardInput() {
  std::string text;
  char buffer[1 << 16];
  for (ssize_t n; (n = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

// Zeros that take no memory until they are written. A group may write to any of its arguments.
class Zeros {
 public:
  Zeros(const OpenClContext& context, size_t bytes) : bytes_(bytes) {
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) return;
    cl_int code = CL_SUCCESS;
    mem_ = clCreateBuffer(context.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data_,
                          &code);
  }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  ~Zeros() {
    if (mem_ != nullptr) clReleaseMemObject(mem_);
    if (data_ != MAP_FAILED) ::munmap(data_, bytes_);
  }
  cl_mem mem() const { return mem_; }

 private:
  size_t bytes_;
  void* data_ = MAP_FAILED;
  cl_mem mem_ = nullptr;
};

// Launches one group of the kernel and waits for it.
absl::Status LaunchOneGroup(const OpenClProgram& program, const CompileJob::Kernel& kernel,
                            uint64_t buffer_bytes) {
  const OpenClContext& context = program.cl();
  std::vector<std::unique_ptr<Zeros>> buffers;  // outlive the kernel that names them
  TG_ASSIGN_OR_RETURN(const ClKernel made, program.CreateKernel(kernel.name));
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const CompileJob::Argument& a = kernel.arguments[i];
    const void* value = &a.value;
    auto size = static_cast<size_t>(a.bytes);
    cl_mem mem = nullptr;
    const auto narrow = static_cast<int32_t>(a.value);
    if (a.is_buffer) {
      buffers.push_back(std::make_unique<Zeros>(context, buffer_bytes));
      mem = buffers.back()->mem();
      value = &mem;
      size = sizeof mem;
    } else if (a.bytes == 4) {
      value = &narrow;
    }
    TG_CL_CALL(context.name(), clSetKernelArg, made.get(), static_cast<cl_uint>(i), size, value);
  }
  TG_CL_CALL(context.name(), clEnqueueNDRangeKernel, context.queue(), made.get(), 3, nullptr,
             kernel.local.data(), kernel.local.data(), 0, nullptr, nullptr);
  return context.Finish();
}

// Writes a line to the process that waits: the name of a kernel that is compiled, or nothing once
// the program is parsed.
absl::Status Tell(const std::string& what) {
  const std::string line = what + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) >= 0) return absl::OkStatus();
  return absl::CancelledError("the process that waits for this worker is gone");
}

absl::Status Compile(const CompileJob& job) {
  TG_ASSIGN_OR_RETURN(const std::vector<Device> devices, ListOpenClDevices());
  for (const Device& device : devices) {
    if (device.info.platform != job.platform || device.info.name != job.device) continue;
    TG_ASSIGN_OR_RETURN(const std::shared_ptr<OpenClContext> context,
                        OpenClContext::Create(device, /*profiling=*/false));
    TG_ASSIGN_OR_RETURN(const std::shared_ptr<const OpenClProgram> program,
                        BuildProgram(context, job.source, job.options, nullptr));
    TG_RETURN_IF_ERROR(Tell(""));
    for (const CompileJob::Kernel& kernel : job.kernels) {
      TG_RETURN_IF_ERROR(LaunchOneGroup(*program, kernel, job.buffer_bytes));
      TG_RETURN_IF_ERROR(Tell(kernel.name));
    }
    return absl::OkStatus();
  }
  return NotFound("no device ", job.device);
}

}  // namespace

int RunCompileWorker() {
  // The worker is useless without the process that started it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const absl::StatusOr<CompileJob> job = ParseJob(ReadStandardInput());
  const absl::Status status = job.ok() ? Compile(*job) : job.status();
  return status.ok() ? 0 : 1;
}

}  // namespace tg::runtime
