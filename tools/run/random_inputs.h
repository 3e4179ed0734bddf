// Random inputs for measurements and for --check, if no data is given.
#ifndef TG_TOOLS_RUN_RANDOM_INPUTS_H_
#define TG_TOOLS_RUN_RANDOM_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/io/host_tensor.h"
#include "runtime/plan/extents.h"

namespace tg::run {

// Random contents for a buffer: floats in [-1, 1), integers 0 to 9, both truth values. They depend
// only on the seed and the buffer's name. A symbolic extent has its value in `vars`, or its
// variable's upper bound.
absl::StatusOr<runtime::HostTensor> RandomTensor(const Module& module, const BufferDecl& buffer,
                                                 const runtime::VarMap& vars, int64_t seed);

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_RANDOM_INPUTS_H_
