// Probes: what a device reaches with kernels that do one thing.
#ifndef TG_TOOLS_CALIBRATE_PROBES_H_
#define TG_TOOLS_CALIBRATE_PROBES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "runtime/device/buffer_pool.h"
#include "runtime/device/device.h"
#include "runtime/device/launch.h"
#include "runtime/opencl/cl_context.h"
#include "runtime/opencl/cl_program.h"

namespace tg::calibrate {

// Each figure is the best of several runs of one form of a kernel. Rates are per second.
class Probes {
 public:
  static absl::StatusOr<Probes> Create(const runtime::Device& device);

  // Bytes of a copy larger than the caches, read and written. `scaled`: each element is multiplied,
  // so that no compiler makes a call of memcpy of it, which may write lines without reading them.
  absl::StatusOr<double> CopyBytes(int width, bool scaled = false);
  // Bytes of a sum over memory larger than the caches, read by all units.
  absl::StatusOr<double> ReadBytes(int width);
  // Multiply-adds, two operations each, with operands in registers, in vectors of `width` elements
  // of f16, f32, f64 or i32.
  absl::StatusOr<double> MultiplyAdds(Scalar type, int width);
  // Operations of matrix instructions on halves. The device must take inline PTX.
  absl::StatusOr<double> MatrixMultiplyAdds();
  // Bytes that one work-group reads again and again from `bytes` of memory, in vectors of `width`
  // floats.
  absl::StatusOr<double> GroupReads(size_t bytes, int width);
  // Bytes that one work-group writes again and again.
  absl::StatusOr<double> GroupWrites(size_t bytes, int width);
  // Seconds of one of many launches of a kernel that does nothing, in `groups` work-groups.
  absl::StatusOr<double> LaunchSeconds(size_t groups);

  bool is_cpu() const { return info().kind == runtime::DeviceKind::kCpu; }
  const runtime::DeviceInfo& info() const { return context_->info(); }

 private:
  explicit Probes(std::shared_ptr<runtime::OpenClContext> context)
      : context_(std::move(context)), pool_(std::make_unique<runtime::BufferPool>(context_)) {}

  using Program = std::shared_ptr<const runtime::Program>;
  absl::StatusOr<Program> Build(const std::string& source);
  // The program of the memory kernels for a width, built once.
  absl::StatusOr<Program> MemoryProgram(int width);
  // How one work-group goes through memory: `steps` steps over `bytes`, `times` times.
  struct Sweep {
    size_t items = 1, steps = 1, times = 1, bytes = 0;
  };
  // About `bytes`, in a whole number of `unrolled` steps.
  Sweep SweepOf(size_t bytes, int width, size_t unrolled) const;
  absl::StatusOr<double> BytesPerSecond(const Program& program, const std::string& kernel,
                                        const std::vector<runtime::KernelArg>& args,
                                        const Sweep& sweep);
  // The least seconds of `times` launches in a row.
  absl::StatusOr<double> Least(const Program& program, const std::string& kernel,
                               const std::vector<runtime::KernelArg>& args,
                               const runtime::NDRange& range, int runs, int times = 1);

  std::shared_ptr<runtime::OpenClContext> context_;
  std::unique_ptr<runtime::BufferPool> pool_;
  std::vector<std::pair<int, Program>> memory_programs_;  // by width
};

}  // namespace tg::calibrate

#endif  // TG_TOOLS_CALIBRATE_PROBES_H_
