// Artifact: what a .tgx file says, but for the bytes of its weights (docs/artifact.md).
#ifndef TG_RUNTIME_ARTIFACT_ARTIFACT_H_
#define TG_RUNTIME_ARTIFACT_ARTIFACT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/executable.h"

namespace tg::artifact {

// The device for which machine code was made.
struct MadeFor {
  bool is_native = false;
  std::string name, platform;
  std::string key;  // equal where the code runs: the processor's, or that of the driver's binaries
};

// The contents of a param or state.
struct Contents {
  int buffer = 0;
  uint64_t offset = 0, bytes = 0;  // in the file
  uint64_t hash = 0;
};

struct Artifact {
  std::string tool;               // that wrote the file, with its version
  std::string model;              // the file that was compiled
  std::vector<MadeFor> made_for;  // by device of the executable
  runtime::Executable executable;
  std::vector<Contents> contents;
};

// The bytes of the plan's section.
std::string EncodePlan(Artifact artifact);

// The reverse of EncodePlan. InvalidArgument, with the place, for bytes that are not complete or
// say what no run can do: each index, count, name and size is checked, so that a plan runs within
// its buffers as far as its kernels do. `weights_offset` and `weights_bytes` are those of the
// header.
absl::StatusOr<Artifact> DecodePlan(std::string_view bytes, uint64_t weights_offset,
                                    uint64_t weights_bytes);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_ARTIFACT_H_
