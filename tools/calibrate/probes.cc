#include "tools/calibrate/probes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status.h"
#include "runtime/base/spans.h"
#include "runtime/opencl/list_devices.h"
#include "tools/calibrate/probe_sources.h"

namespace tg::calibrate {

using runtime::BufferRef;
using runtime::KernelArg;
using runtime::Launch;
using runtime::NDRange;
using runtime::ScalarArg;

namespace {

constexpr size_t kMaxCopiedBytes = size_t{256} << 20;
constexpr int kRuns = 25;
// A group that sweeps a working set moves this much in a run, or the set once.
constexpr size_t kSweptBytes = size_t{16} << 20;

}  // namespace

absl::StatusOr<Probes> Probes::Create(const runtime::Device& device) {
  if (device.info.is_native) {
    // Probes are written in OpenCL C, so the processor is measured through OpenCL.
    TG_ASSIGN_OR_RETURN(const std::vector<runtime::Device> devices, runtime::ListOpenClDevices());
    TG_ASSIGN_OR_RETURN(const runtime::Device processor, runtime::ChooseDevice(devices, "cpu"));
    return Create(processor);
  }
  TG_ASSIGN_OR_RETURN(std::shared_ptr<runtime::OpenClContext> context,
                      runtime::OpenClContext::Create(device, /*profiling=*/false));
  return Probes(std::move(context));
}

absl::StatusOr<Probes::Program> Probes::Build(const std::string& source) {
  return runtime::BuildProgram(context_, source, "", nullptr);
}

absl::StatusOr<Probes::Program> Probes::MemoryProgram(int width) {
  for (const auto& [known, program] : memory_programs_) {
    if (known == width) return program;
  }
  TG_ASSIGN_OR_RETURN(Program program, Build(MemorySource(width)));
  memory_programs_.emplace_back(width, program);
  return program;
}

absl::StatusOr<double> Probes::Least(const Program& program, const std::string& kernel,
                                     const std::vector<KernelArg>& args, const NDRange& range,
                                     int runs, int times) {
  TG_ASSIGN_OR_RETURN(const Launch launch, Launch::Create(program, kernel, args, range));
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const int64_t start = runtime::HostNanos();
    for (int n = 0; n < times; ++n) TG_RETURN_IF_ERROR(launch.Enqueue());
    TG_RETURN_IF_ERROR(context_->Finish());
    least = std::min(least, static_cast<double>(runtime::HostNanos() - start) * 1e-9);
  }
  return least;
}

absl::StatusOr<double> Probes::CopyBytes(int width, bool scaled) {
  TG_ASSIGN_OR_RETURN(const Program program, MemoryProgram(width));
  const size_t bytes = std::min<size_t>(kMaxCopiedBytes, info().max_allocation / 4);
  const size_t vector = sizeof(float) * static_cast<size_t>(width);
  const size_t group = is_cpu() ? 4096 : 256, vectors = bytes / vector / group * group;
  if (vectors == 0) return InvalidArgument("the device has too little memory to measure");
  TG_ASSIGN_OR_RETURN(const BufferRef from, pool_->Allocate(vectors * vector));
  TG_ASSIGN_OR_RETURN(const BufferRef to, pool_->Allocate(vectors * vector));
  TG_RETURN_IF_ERROR(runtime::Fill(*from, std::byte{0}));
  std::vector<KernelArg> args = {to, from};
  if (scaled) args.push_back(ScalarArg::Of(2.0f));
  TG_ASSIGN_OR_RETURN(const double seconds, Least(program, scaled ? "scale" : "copy", args,
                                                  {{vectors, 1, 1}, {group, 1, 1}}, kRuns));
  return 2 * static_cast<double>(vectors * vector) / seconds;
}

absl::StatusOr<double> Probes::ReadBytes(int width) {
  TG_ASSIGN_OR_RETURN(const Program program, MemoryProgram(width));
  const size_t bytes = std::min<size_t>(kMaxCopiedBytes, info().max_allocation / 4);
  // One step of a group reads a vector a work-item; a CPU's group is one work-item, which reads
  // memory in order.
  const size_t local = is_cpu() ? 1 : 256, steps = is_cpu() ? 65536 : 64;
  const size_t group = local * steps * sizeof(float) * static_cast<size_t>(width);
  const size_t groups = bytes / group;
  if (groups == 0) return InvalidArgument("the device has too little memory to measure");
  TG_ASSIGN_OR_RETURN(const BufferRef from, pool_->Allocate(groups * group));
  TG_ASSIGN_OR_RETURN(const BufferRef to, pool_->Allocate(groups * local * sizeof(float)));
  TG_RETURN_IF_ERROR(runtime::Fill(*from, std::byte{0}));
  const ScalarArg count = ScalarArg::Of(static_cast<int32_t>(steps));
  TG_ASSIGN_OR_RETURN(const double seconds, Least(program, "sum", {to, from, count},
                                                  {{groups * local, 1, 1}, {local, 1, 1}}, kRuns));
  return static_cast<double>(groups * group) / seconds;
}

absl::StatusOr<double> Probes::MultiplyAdds(Scalar type, int width) {
  TG_ASSIGN_OR_RETURN(const Program program, Build(MultiplyAddSource(type, width)));
  const auto units = static_cast<size_t>(std::max(1u, info().compute_units));
  const size_t local = is_cpu() ? 1 : 256, items = units * local * (is_cpu() ? 8 : 32);
  const int32_t steps = (is_cpu() ? 800000 : 20000) / width;
  TG_ASSIGN_OR_RETURN(const BufferRef to, pool_->Allocate(items * sizeof(float)));
  const bool whole = type == Scalar::kI32;
  const std::vector<KernelArg> args = {to, ScalarArg::Of(whole ? 3.0f : 0.999f),
                                       ScalarArg::Of(whole ? 1.0f : 0.001f), ScalarArg::Of(steps)};
  TG_ASSIGN_OR_RETURN(const double seconds,
                      Least(program, "multiply_add", args, {{items, 1, 1}, {local, 1, 1}}, kRuns));
  return 2.0 * kChains * width * steps * static_cast<double>(items) / seconds;
}

absl::StatusOr<double> Probes::MatrixMultiplyAdds() {
  TG_ASSIGN_OR_RETURN(const Program program, Build(MatrixSource()));
  constexpr size_t kLocal = 256, kGroups = 32;  // work-items of a group, groups of a unit
  constexpr int32_t kSteps = 2000;
  const size_t items = std::max(1u, info().compute_units) * kGroups * kLocal;
  TG_ASSIGN_OR_RETURN(const BufferRef to, pool_->Allocate(items * sizeof(float)));
  const std::vector<KernelArg> args = {to, ScalarArg::Of(uint32_t{0}), ScalarArg::Of(kSteps)};
  TG_ASSIGN_OR_RETURN(const double seconds,
                      Least(program, "matrix", args, {{items, 1, 1}, {kLocal, 1, 1}}, kRuns));
  return kMatrixOperations * kChains * kSteps * static_cast<double>(items / kMatrixItems) / seconds;
}

Probes::Sweep Probes::SweepOf(size_t bytes, int width, size_t unrolled) const {
  Sweep sweep;
  sweep.items = is_cpu() ? 1 : 256;
  const size_t step = sweep.items * sizeof(float) * static_cast<size_t>(width);
  sweep.steps = std::max(unrolled, bytes / step / unrolled * unrolled);
  sweep.bytes = sweep.steps * step;
  sweep.times = std::max<size_t>(1, kSweptBytes / sweep.bytes);
  return sweep;
}

absl::StatusOr<double> Probes::BytesPerSecond(const Program& program, const std::string& kernel,
                                              const std::vector<KernelArg>& args,
                                              const Sweep& sweep) {
  const runtime::NDRange range = {{sweep.items, 1, 1}, {sweep.items, 1, 1}};
  TG_ASSIGN_OR_RETURN(const double seconds, Least(program, kernel, args, range, kRuns));
  return static_cast<double>(sweep.bytes * sweep.times) / seconds;
}

absl::StatusOr<double> Probes::GroupReads(size_t bytes, int width) {
  TG_ASSIGN_OR_RETURN(const Program program, MemoryProgram(width));
  const Sweep sweep = SweepOf(bytes, width, /*unrolled=*/8);
  TG_ASSIGN_OR_RETURN(const BufferRef from, pool_->Allocate(sweep.bytes));
  TG_ASSIGN_OR_RETURN(const BufferRef to, pool_->Allocate(sweep.items * sizeof(float)));
  TG_RETURN_IF_ERROR(runtime::Fill(*from, std::byte{0}));
  const std::vector<KernelArg> args = {to, from, ScalarArg::Of(static_cast<int32_t>(sweep.steps)),
                                       ScalarArg::Of(static_cast<int32_t>(sweep.times)),
                                       ScalarArg::Of(int32_t{0})};
  return BytesPerSecond(program, "read_again", args, sweep);
}

absl::StatusOr<double> Probes::GroupWrites(size_t bytes, int width) {
  TG_ASSIGN_OR_RETURN(const Program program, MemoryProgram(width));
  const Sweep sweep = SweepOf(bytes, width, /*unrolled=*/4);
  TG_ASSIGN_OR_RETURN(const BufferRef to, pool_->Allocate(sweep.bytes));
  const std::vector<KernelArg> args = {to, ScalarArg::Of(static_cast<int32_t>(sweep.steps)),
                                       ScalarArg::Of(static_cast<int32_t>(sweep.times)),
                                       ScalarArg::Of(1.0f)};
  return BytesPerSecond(program, "write_again", args, sweep);
}

absl::StatusOr<double> Probes::LaunchSeconds(size_t groups) {
  TG_ASSIGN_OR_RETURN(const Program program, MemoryProgram(1));
  TG_ASSIGN_OR_RETURN(const BufferRef to, pool_->Allocate(sizeof(float)));
  constexpr int kTimes = 50;
  TG_ASSIGN_OR_RETURN(const double seconds,
                      Least(program, "nothing", {to}, {{groups, 1, 1}, {1, 1, 1}}, kRuns, kTimes));
  return seconds / kTimes;
}

}  // namespace tg::calibrate
