// Checks what a plan's bytes say.
#ifndef TG_RUNTIME_ARTIFACT_CHECK_PLAN_H_
#define TG_RUNTIME_ARTIFACT_CHECK_PLAN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/artifact/artifact.h"

namespace tg::artifact {

// InvalidArgument, naming the graph, kernel or buffer, for a plan that cannot run.
absl::Status CheckPlan(const Artifact& artifact, uint64_t weights_offset, uint64_t weights_bytes);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_CHECK_PLAN_H_
