// The meaning of `reduce_tuple` on whole tensors.
#ifndef TG_IR_INTERPRET_REDUCE_TUPLE_H_
#define TG_IR_INTERPRET_REDUCE_TUPLE_H_

#include <span>

#include "absl/status/statusor.h"
#include "ir/interpret/options.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/uop.h"

namespace tg::interpret {

// Combines the tuples of `values` in row-major order, beginning with the identities, by the body of
// `u`. The error bounds are those of that order.
absl::StatusOr<Tensor> ReduceTuple(const UOp* u, std::span<const Tensor> values,
                                   const InterpretOptions& options);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_REDUCE_TUPLE_H_
