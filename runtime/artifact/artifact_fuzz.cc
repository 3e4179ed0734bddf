// For any bytes, the reader of plans returns an error, or a plan of which memory is planned, sizes
// are evaluated and texts are unpacked, and which is unchanged by writing and reading.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/compress.h"
#include "runtime/artifact/format.h"
#include "runtime/plan/temporaries.h"

namespace tg::artifact {
namespace {

constexpr uint64_t kWeightBytes = uint64_t{1} << 30;

void Require(bool condition) {
  if (!condition) std::abort();
}

void RunOne(std::string_view bytes) {
  Unpack(bytes, 4096);
  absl::StatusOr<Artifact> read = DecodePlan(bytes, kPageBytes, kWeightBytes);
  if (!read.ok()) {
    Require(!read.status().message().empty());
    return;
  }
  const std::string written = EncodePlan(*read);
  const absl::StatusOr<Artifact> again = DecodePlan(written, kPageBytes, kWeightBytes);
  Require(again.ok());
  Require(EncodePlan(*again) == written);
  const runtime::Executable& executable = read->executable;
  for (const runtime::ScheduledGraph& graph : executable.graphs) {
    runtime::PlanTemporaries(executable, graph.steps).status().IgnoreError();
    runtime::StoredBuffers(executable, graph.steps).status().IgnoreError();
  }
  for (size_t d = 0; d < executable.devices.size(); ++d) {
    for (const runtime::CompiledKernel& kernel : executable.devices[d].kernels) {
      for (const codegen::SizeExpr& groups : kernel.code.groups) {
        for (const int64_t value : {INT64_MIN, int64_t{0}, INT64_MAX}) {
          groups.Evaluate([&](std::string_view) { return value; });
        }
      }
    }
    // A text of a gigabyte is legal.
    constexpr uint64_t kMost = 1 << 22;
    if (read->sources[d].bytes() < kMost) UnpackSources(*read, d).IgnoreError();
    if (read->binaries[d].bytes() < kMost) UnpackBinaries(*read, d).IgnoreError();
  }
}

}  // namespace
}  // namespace tg::artifact

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tg::artifact::RunOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
