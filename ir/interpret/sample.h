// Interprets some elements of what a kernel over shapes stores. Only the values on which these
// elements depend are computed, so that a kernel which is too large to be interpreted as a whole
// can still be compared with a device.
#ifndef TG_IR_INTERPRET_SAMPLE_H_
#define TG_IR_INTERPRET_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/options.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/module.h"

namespace tg {

// An argument slot: `size` packed elements of this type.
struct SampleArg {
  Scalar scalar = Scalar::kVoid;
  int64_t size = 0;
  const std::byte* bytes = nullptr;  // may be null to count evaluations
  bool is_symbolic = false;          // as in KernelArg
};

// Elements that one store of the kernel writes.
struct StoredSample {
  size_t slot = 0;
  int64_t total = 0;              // elements that the store writes
  std::vector<int64_t> elements;  // positions of the computed elements in the slot
  Tensor values;                  // of type and shape [elements.size()], with bounds if tracked
};

struct SampleOptions {
  // The evaluations of nodes, counted once for each element, after which no further elements are
  // chosen. The first few elements are computed in any case.
  int64_t max_evaluations = int64_t{1} << 24;
  // The greatest number of elements of each store.
  int64_t max_elements = int64_t{1} << 14;
  uint64_t seed = 0;  // of the choice
};

// The evaluations that interpreting the whole kernel takes. Unimplemented for a kernel that
// SampleKernel does not interpret.
absl::StatusOr<int64_t> CountEvaluations(const Kernel& kernel, std::span<const SampleArg> args,
                                         const VarValues& vars);

// Interprets the first and the last elements of each store, and others spread over all of them at
// random. All elements, in order, if the limits allow it. Unimplemented for a kernel past stage
// kernel, and for one that reads what it has stored; ResourceExhausted where a single element takes
// more evaluations than fit into memory.
absl::StatusOr<std::vector<StoredSample>> SampleKernel(const Kernel& kernel,
                                                       std::span<const SampleArg> args,
                                                       const VarValues& vars,
                                                       const InterpretOptions& options,
                                                       const SampleOptions& sample);

}  // namespace tg

#endif  // TG_IR_INTERPRET_SAMPLE_H_
