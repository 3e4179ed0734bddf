// The ops that tensor graphs and kernels over shapes have in common, on whole tensors.
#ifndef TG_IR_INTERPRET_TENSOR_OPS_H_
#define TG_IR_INTERPRET_TENSOR_OPS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/options.h"
#include "ir/uop.h"

namespace tg {

using Extents = std::vector<int64_t>;

struct Deferred;

// A value: its elements in row-major order, shared between nodes with the same value. A deferred
// value (deferred.h) has no elements; they are computed when they are read.
struct Tensor {
  Scalar scalar = Scalar::kVoid;
  Extents shape;
  std::shared_ptr<const std::vector<int64_t>> data;
  std::shared_ptr<const std::vector<uint8_t>> defined;  // null: every element is
  std::shared_ptr<const std::vector<double>> error;     // null: exact

  std::shared_ptr<const Deferred> deferred;

  bool ok() const { return data != nullptr || deferred != nullptr; }
  size_t size() const { return data ? data->size() : static_cast<size_t>(NumElements(shape)); }
  double ErrorAt(size_t i) const { return error ? (*error)[error->size() == 1 ? 0 : i] : 0; }
};

Tensor MakeTensor(Scalar s, Extents shape, std::vector<int64_t> data);
// 0, 1, ..., n - 1.
absl::StatusOr<Tensor> IotaTensor(Scalar s, int64_t n);
inline Tensor ScalarTensor(Scalar s, int64_t bits) { return MakeTensor(s, {}, {bits}); }

// Whether a tensor of this shape can be held: no negative extent, not too many elements.
absl::Status CheckExtents(const Extents& shape);

// The index map of a movement op: result[i] = source[map[i]], 0 where map[i] < 0.
struct Movement {
  Extents shape;
  std::vector<int64_t> map;
};

// An index map as a function, which needs no memory per element.
struct IndexMap {
  Extents shape;  // of the result
  Extents from;   // of the source
  // The coordinate of the source along axis[i] is origin[i] + step[i] * (coordinate i of the
  // result). If it is outside of the source, there is no element.
  std::vector<size_t> axis;
  Extents step, origin;
  bool is_identity = false;     // map[i] = i, as for a reshape
  std::vector<int64_t> listed;  // of a `view`: the map itself

  // map[first], ..., map[first + n - 1].
  void Range(int64_t first, size_t n, int64_t* out) const;
  // map[at[i]] for each i.
  void At(std::span<const int64_t> at, int64_t* out) const;
};

// The movement that `u` makes of a source of shape `from`. `symbols`: the values of the symbolic
// entries of its attribute, in order. The result may have more elements than can be held.
absl::StatusOr<IndexMap> IndexMapOf(const UOp* u, const Extents& from,
                                    std::span<const int64_t> symbols);
Movement MovementOf(const IndexMap& map);
absl::StatusOr<Movement> MovementOf(const UOp* u, const Extents& from,
                                    std::span<const int64_t> symbols);

// `from` must not be deferred.
Tensor Gather(const Tensor& from, const Movement& movement);
// The result is deferred if it is large.
absl::StatusOr<Tensor> Gather(const UOp* u, const Tensor& from, IndexMap map,
                              const InterpretOptions& options);

// An elementwise op (casts included) on sources of one shape; sources of rank 0 broadcast. The
// result is deferred if it is large.
absl::StatusOr<Tensor> Elementwise(const UOp* u, std::span<const Tensor> srcs,
                                   const InterpretOptions& options);

// Floats of at most 32 bits are summed and multiplied in double, f64 in long double, in row-major
// order, and rounded to the type once: the reference for every order of evaluation.
absl::StatusOr<Tensor> ReduceAxis(const UOp* u, const Tensor& x, const InterpretOptions& options);

// For every element of the sum of `x` over `axes`: n * eps * sum|x|, a bound of the error of a sum
// that is computed in the type of `x` in any order. n: elements in each sum.
std::vector<double> SumErrorBound(const Tensor& x, std::span<const int64_t> axes);

// 2^-p for a float type of p significant bits: half a unit in the last place of 1. 0 for others.
double UnitRoundoff(Scalar s);

std::string ShapeText(const Extents& shape);

}  // namespace tg

#endif  // TG_IR_INTERPRET_TENSOR_OPS_H_
