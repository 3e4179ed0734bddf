// The difference between two tensors of the same shape.
#ifndef TG_RUNTIME_REPORT_TENSOR_DIFFERENCE_H_
#define TG_RUNTIME_REPORT_TENSOR_DIFFERENCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg::runtime {

// Describes the element with the largest |a - b|, or with the largest |a - b| / bound if bounds are
// given. Two NaNs, or two infinities of one sign, do not differ; any other pair with a NaN or an
// infinity differs infinitely. If an element's bound is 0, any difference is infinitely many
// bounds; if its bound is infinite, no difference counts. `b` has the expected values
// (ir/interpret/allowed.h).
struct Difference {
  double absolute = 0;   // the largest |a - b|
  double of_bound = 0;   // the largest |a - b| / bound; 0 without bounds
  int64_t element = -1;  // flat index; -1 if nothing differs
  double a = 0, b = 0;   // values at `element`
};

// InvalidArgument if the shapes differ, or if the types are not both floats, both integers or both
// bool.
absl::Status CheckComparable(ElementType a, std::span<const int64_t> a_shape, ElementType b,
                             std::span<const int64_t> b_shape);

// Fails as CheckComparable does. `bounds` has one number >= 0 per element, by which differences are
// ranked; if it is empty, the largest |a - b| counts.
absl::StatusOr<Difference> Compare(const HostTensor& a, const HostTensor& b,
                                   std::span<const double> bounds = {});

// Returns the elements as doubles (64-bit integers are rounded).
std::vector<double> Doubles(const HostTensor& tensor);

// Returns the coordinates of a flat index: "[3, 0, 7]".
std::string Coordinates(std::span<const int64_t> shape, int64_t element);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_TENSOR_DIFFERENCE_H_
