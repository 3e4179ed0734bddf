// Compares the host's time for a kernel of a compiled model with a loop that enqueues an empty
// kernel on the same queue of OpenCL, and tells the memory after many runs:
//   launch_times model.tgx [runs]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/artifact/open_artifact.h"
#include "runtime/opencl/cl_context.h"
#include "runtime/session/tensors.h"

namespace {

using namespace tg;  // NOLINT

constexpr int kTurns = 21;  // of each, alternately

int Fail(const std::string& message) {
  std::fprintf(stderr, "launch_times: %s\n", message.c_str());
  return 1;
}

double Microseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - since)
      .count();
}

double MedianOf(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

// Kilobytes of this process in the machine's memory.
long ResidentKilobytes() {  // NOLINT
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long pages = 0;  // NOLINT
  if (file == nullptr || std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * 4;
}

cl_kernel MakeEmptyKernel(const runtime::OpenClContext& context) {
  const char* source = "__kernel void empty(void) {}";
  cl_program program = clCreateProgramWithSource(context.context(), 1, &source, nullptr, nullptr);
  const cl_device_id id = context.id();
  if (program == nullptr || clBuildProgram(program, 1, &id, "", nullptr, nullptr) != CL_SUCCESS) {
    return nullptr;
  }
  return clCreateKernel(program, "empty", nullptr);
}

// Seconds that `count` empty kernels take, to the end of the last one; negative: they failed.
double TimeOfEmpty(const runtime::OpenClContext& context, cl_kernel kernel, size_t count) {
  const auto begin = std::chrono::steady_clock::now();
  const size_t one = 1;
  for (size_t i = 0; i < count; ++i) {
    if (clEnqueueNDRangeKernel(context.queue(), kernel, 1, nullptr, &one, &one, 0, nullptr,
                               nullptr) != CL_SUCCESS) {
      return -1;
    }
  }
  if (clFinish(context.queue()) != CL_SUCCESS) return -1;
  return Microseconds(begin) / static_cast<double>(count);
}

absl::Status SetZeros(runtime::DeviceSession& session) {
  for (const BufferDecl& buffer : session.declarations().buffers) {
    const auto type = runtime::ElementTypeOf(buffer.dtype.scalar());
    if (buffer.role != Role::kInput || !type) continue;
    const auto shape = runtime::GreatestShape(session.declarations(), buffer);
    if (!shape.ok()) return shape.status();
    const auto zeros = runtime::MakeHostTensor(*type, *shape);
    if (!zeros.ok()) return zeros.status();
    if (absl::Status s = session.Set(buffer.name, *zeros); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return Fail("launch_times model.tgx [runs]");
  auto opened = artifact::OpenArtifact(argv[1]);
  if (!opened.ok()) return Fail(std::string(opened.status().message()));
  runtime::DeviceSession& session = **opened;
  if (absl::Status s = SetZeros(session); !s.ok()) return Fail(std::string(s.message()));
  if (absl::Status s = session.Run(); !s.ok()) return Fail(std::string(s.message()));
  const auto* context = runtime::AsOpenCl(*session.devices()[0]->context());
  const size_t kernels = session.last_plan()->kernels().size();
  const long runs = argc > 2 ? std::max(1L, std::atol(argv[2])) : 1000;  // NOLINT
  const cl_kernel empty = context == nullptr ? nullptr : MakeEmptyKernel(*context);
  if (context != nullptr && empty == nullptr) return Fail("an empty kernel cannot be compiled");

  const int64_t batch = std::max<int64_t>(1, runs / kTurns);
  std::vector<double> own, others;
  long first_memory = 0;  // NOLINT
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < batch; ++i) {
      if (absl::Status s = session.Run(); !s.ok()) return Fail(std::string(s.message()));
    }
    own.push_back(Microseconds(begin) / static_cast<double>(batch));
    double sum = 0;
    for (int64_t i = 0; empty != nullptr && i < batch; ++i) {
      const double time = TimeOfEmpty(*context, empty, kernels);
      if (time < 0) return Fail("an empty kernel cannot be enqueued");
      sum += time;
    }
    others.push_back(sum / static_cast<double>(batch));
    if (turn == 0) first_memory = ResidentKilobytes();
  }
  const double each = MedianOf(own) / static_cast<double>(kernels);
  std::printf("%s: %zu kernels, %.3f us each", session.devices()[0]->context()->name().c_str(),
              kernels, each);
  if (empty != nullptr) std::printf("; empty ones %.3f us", MedianOf(others));
  std::printf("\n%lld runs: %ld kB after %lld, %ld kB at the end\n",
              static_cast<long long>(batch * kTurns), first_memory, static_cast<long long>(batch),
              ResidentKilobytes());
  return 0;
}
