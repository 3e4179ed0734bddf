// Values that are too large to be held: each of their elements is computed when it is read, from
// values that are held or deferred too. What reads all of one, a reduce or a store, goes through it
// in pieces.
#ifndef TG_IR_INTERPRET_DEFERRED_H_
#define TG_IR_INTERPRET_DEFERRED_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/interpret/options.h"
#include "ir/interpret/tensor_ops.h"

namespace tg {

// Elements that are computed at a time: no more than what is held anyway.
int64_t PieceElements(const InterpretOptions& options);
// A deferred value is computed anew for each reader. One that takes more evaluations an element
// than this is held after all: chains of shared values would double the number with each link, and
// evaluation recurses as deep.
inline constexpr int64_t kMaxDeferredOps = 256;

struct Deferred {
  const UOp* node = nullptr;  // elementwise or a movement op
  std::vector<Tensor> srcs;
  IndexMap map;              // of a movement op
  int64_t num_ops = 1;       // evaluations an element
  InterpretOptions options;  // under which pieces are computed
};

// Whether a value of this shape is deferred.
bool IsLarge(const Extents& shape, const InterpretOptions& options);

// `u` on these sources, which has `shape`: deferred, or held where it must be (kMaxDeferredOps).
absl::StatusOr<Tensor> Defer(const UOp* u, std::vector<Tensor> srcs, const Extents& shape,
                             IndexMap map, const InterpretOptions& options);

// Elements first, first + 1, ..., first + n - 1, as a tensor of shape [n].
absl::StatusOr<Tensor> Piece(const Tensor& t, int64_t first, int64_t n);

// The same value with its elements.
absl::StatusOr<Tensor> Hold(const Tensor& t);

}  // namespace tg

#endif  // TG_IR_INTERPRET_DEFERRED_H_
