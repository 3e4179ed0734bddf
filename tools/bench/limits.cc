#include "tools/bench/limits.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/spans.h"
#include "runtime/base/status.h"
#include "runtime/opencl/buffer_pool.h"
#include "runtime/opencl/cl_context.h"
#include "runtime/opencl/cl_program.h"
#include "runtime/opencl/launch.h"

namespace tg::bench {
namespace {

using runtime::BufferRef;
using runtime::Cat;
using runtime::KernelArg;
using runtime::Launch;
using runtime::NDRange;
using runtime::ScalarArg;

constexpr size_t kMaxCopiedBytes = size_t{256} << 20;
// The number of independent chains of multiply-adds in a work-item: more than the latency of one
// times the number that start per cycle, and few enough for sixteen registers.
constexpr int kChains = 10;
constexpr int kRuns = 25;

// A type of `width` floats, and the sum of the components of variable `name`.
std::string TypeOf(int width) { return width == 1 ? "float" : Cat("float", width); }
std::string SumOf(const std::string& name, int width) {
  if (width == 1) return name;
  std::string sum;
  for (int i = 0; i < width; ++i) {
    sum += Cat(i == 0 ? "" : " + ", name, ".s", std::string(1, "0123456789abcdef"[i]));
  }
  return sum;
}

std::string MemorySource(int width) {
  const std::string type = TypeOf(width);
  return Cat("__kernel void copy(__global ", type, "* restrict to, __global const ", type,
             "* restrict from) {\n  to[get_global_id(0)] = from[get_global_id(0)];\n}\n",
             // A group reads `count` times as much memory in a row as one step of its work-items.
             "__kernel void sum(__global float* restrict to, __global const ", type,
             "* restrict from, const int count) {\n"
             "  __global const ",
             type,
             "* p = from + get_group_id(0) * (ulong)count * get_local_size(0) + get_local_id(0);\n"
             "  const int step = get_local_size(0);\n  ",
             type, " a = 0, b = 0, c = 0, d = 0;\n",
             "  for (int i = 0; i < count; i += 4) {\n"
             "    a += p[(ulong)i * step];\n    b += p[(ulong)(i + 1) * step];\n"
             "    c += p[(ulong)(i + 2) * step];\n    d += p[(ulong)(i + 3) * step];\n  }\n"
             "  a += b + c + d;\n  to[get_global_id(0)] = ",
             SumOf("a", width), ";\n}\n");
}

std::string FmaSource(int width) {
  const std::string type = TypeOf(width);
  std::string chains, steps, sum;
  for (int i = 0; i < kChains; ++i) {
    const std::string x = Cat("x", i);
    chains += Cat("  ", type, " ", x, " = (float)(get_global_id(0) + ", i, ");\n");
    steps += Cat("    ", x, " = fma(", x, ", vm, va);\n");
    sum += Cat(i == 0 ? "" : " + ", SumOf(x, width));
  }
  return Cat(
      "__kernel void multiply_add(__global float* restrict to, const float m, "
      "const float a, const int count) {\n  const ",
      type, " vm = m, va = a;\n", chains, "  for (int i = 0; i < count; ++i) {\n", steps,
      "  }\n  to[get_global_id(0)] = ", sum, ";\n}\n");
}

class LimitKernels {
 public:
  explicit LimitKernels(std::shared_ptr<runtime::Context> context)
      : context_(std::move(context)), pool_(context_) {}

  bool is_cpu() const { return context_->info().kind == runtime::DeviceKind::kCpu; }

  absl::Status AddMemory(int width, DeviceLimits& limits) {
    TG_ASSIGN_OR_RETURN(const auto program,
                        runtime::BuildProgram(context_, MemorySource(width), "", nullptr));
    const size_t bytes = std::min<size_t>(kMaxCopiedBytes, context_->info().max_allocation / 4);
    // In one step each work-item reads four vectors. On a CPU a group is one work-item, which reads
    // memory in order.
    const size_t local = is_cpu() ? 1 : 256, step = local * static_cast<size_t>(width) * 4;
    const size_t steps = is_cpu() ? 65536 : 64;
    const size_t vectors = bytes / (step * steps) * local * steps, used = vectors / local * step;
    if (used == 0) return runtime::InvalidArgument("the device has too little memory to measure");
    TG_ASSIGN_OR_RETURN(const BufferRef from, pool_.Allocate(used));
    TG_ASSIGN_OR_RETURN(const BufferRef to, pool_.Allocate(used));
    TG_RETURN_IF_ERROR(runtime::Fill(*from, std::byte{0}));
    const NDRange all{{vectors, 1, 1}, {is_cpu() ? 4096u : local, 1, 1}};
    TG_ASSIGN_OR_RETURN(const double copied,
                        Least(program, "copy", std::vector<KernelArg>{to, from}, all));
    const NDRange rows{{vectors / steps, 1, 1}, {local, 1, 1}};
    const ScalarArg count = ScalarArg::Of(static_cast<int32_t>(steps));
    TG_ASSIGN_OR_RETURN(const double summed,
                        Least(program, "sum", std::vector<KernelArg>{to, from, count}, rows));
    const auto size = static_cast<double>(used);
    limits.copy_bytes_per_second = std::max(limits.copy_bytes_per_second, 2 * size / copied);
    limits.read_bytes_per_second = std::max(limits.read_bytes_per_second, size / summed);
    return absl::OkStatus();
  }

  absl::Status AddFma(int width, DeviceLimits& limits) {
    TG_ASSIGN_OR_RETURN(const auto program,
                        runtime::BuildProgram(context_, FmaSource(width), "", nullptr));
    const auto units = static_cast<size_t>(std::max(1u, context_->info().compute_units));
    const size_t local = is_cpu() ? 1 : 256, items = units * local * (is_cpu() ? 8 : 32);
    const int32_t steps = is_cpu() ? 200000 : 20000;
    TG_ASSIGN_OR_RETURN(const BufferRef to, pool_.Allocate(items * sizeof(float)));
    const std::vector<KernelArg> args = {to, ScalarArg::Of(0.999f), ScalarArg::Of(0.001f),
                                         ScalarArg::Of(steps)};
    TG_ASSIGN_OR_RETURN(const double seconds,
                        Least(program, "multiply_add", args, {{items, 1, 1}, {local, 1, 1}}));
    const double flops = 2.0 * kChains * width * steps * static_cast<double>(items);
    limits.flops_per_second = std::max(limits.flops_per_second, flops / seconds);
    return absl::OkStatus();
  }

 private:
  // The least time of a run.
  absl::StatusOr<double> Least(const std::shared_ptr<const runtime::Program>& program,
                               const std::string& kernel, const std::vector<KernelArg>& args,
                               const NDRange& range) {
    TG_ASSIGN_OR_RETURN(const Launch launch, Launch::Create(program, kernel, args, range));
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRuns; ++i) {
      const int64_t start = runtime::HostNanos();
      TG_RETURN_IF_ERROR(launch.Enqueue());
      TG_RETURN_IF_ERROR(context_->Finish());
      least = std::min(least, static_cast<double>(runtime::HostNanos() - start) * 1e-9);
    }
    return least;
  }

  std::shared_ptr<runtime::Context> context_;
  runtime::BufferPool pool_;
};

}  // namespace

absl::StatusOr<DeviceLimits> MeasureLimits(const runtime::Device& device) {
  TG_ASSIGN_OR_RETURN(std::shared_ptr<runtime::Context> context,
                      runtime::Context::Create(device, /*profiling=*/false));
  LimitKernels kernels(std::move(context));
  DeviceLimits limits;
  for (const int width : {4, 16}) TG_RETURN_IF_ERROR(kernels.AddMemory(width, limits));
  for (const int width : {1, 4, 8, 16}) TG_RETURN_IF_ERROR(kernels.AddFma(width, limits));
  return limits;
}

double LimitSeconds(const Row& row, const DeviceLimits& limits) {
  const auto read = static_cast<double>(BytesRead(row)),
             written = static_cast<double>(BytesWritten(row));
  const double copied = std::min(read, written);
  const double memory = 2 * copied / limits.copy_bytes_per_second +
                        (read - copied) / limits.read_bytes_per_second +
                        (written - copied) / limits.copy_bytes_per_second;
  return std::max(memory, static_cast<double>(OperationsOf(row)) / limits.flops_per_second);
}

}  // namespace tg::bench
