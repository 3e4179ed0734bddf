// Deferred values: values that are too large to be kept in memory. An element is computed when it
// is read, from values that are in memory or deferred too. A reduce or store, which reads all
// elements, processes the value in pieces.
#ifndef TG_IR_INTERPRET_DEFERRED_H_
#define TG_IR_INTERPRET_DEFERRED_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/interpret/options.h"
#include "ir/interpret/tensor_ops.h"

namespace tg::interpret {

// The number of elements in a piece, at most InterpretOptions::max_held.
int64_t PieceElements(const InterpretOptions& options);
// Limit on the evaluations per element of a deferred value; a value that takes more is kept in
// memory. A deferred value is recomputed for each reader, so in a chain of values with two readers
// each the number would double at each link. Evaluation also recurses to this depth.
inline constexpr int64_t kMaxDeferredOps = 256;

struct Deferred {
  const UOp* node = nullptr;  // elementwise or a movement op
  std::vector<Tensor> srcs;
  IndexMap map;              // of a movement op
  int64_t num_ops = 1;       // evaluations per element
  InterpretOptions options;  // under which pieces are computed
};

// Whether a value of this shape is deferred.
bool IsLarge(const Extents& shape, const InterpretOptions& options);

// The value of `u`, of shape `shape`, on these sources: deferred, or in memory (kMaxDeferredOps).
absl::StatusOr<Tensor> Defer(const UOp* u, std::vector<Tensor> srcs, const Extents& shape,
                             IndexMap map, const InterpretOptions& options);

// Elements first, first + 1, ..., first + n - 1, as a tensor of shape [n].
absl::StatusOr<Tensor> Piece(const Tensor& t, int64_t first, int64_t n);

// The same value in memory.
absl::StatusOr<Tensor> Hold(const Tensor& t);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_DEFERRED_H_
