// Bounds on a compiled module that a build checks, such as the number of kernels.
#ifndef TG_TOOLS_RUN_GATES_H_
#define TG_TOOLS_RUN_GATES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tg::run {

// A number of bytes as on the command line: `65536`, `64kB`, `1.5GB` in powers of 1000, `64MiB` in
// powers of 1024.
absl::StatusOr<int64_t> ParseByteSize(std::string_view text);

struct Gates {
  std::optional<int64_t> max_kernels;       // launches of one run of the graph
  std::optional<int64_t> max_memory_bytes;  // buffers of the graph and of @init, temporaries shared
  std::string max_memory_text;              // as the user wrote it
};

// Checks the bounds on a module at stage linear; no device is needed. FailedPrecondition names the
// kernels beyond the bound, or the largest buffers.
absl::Status CheckGates(const Module& module, const Graph& graph, const Gates& gates);

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_GATES_H_
