// How far two tensors of one shape are apart.
#ifndef TG_RUNTIME_REPORT_COMPARE_H_
#define TG_RUNTIME_REPORT_COMPARE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg::runtime {

// The element where |a - b|, or where bounds are given |a - b| / bound, is largest. Two NaNs, or
// two infinities of one sign, do not differ; any other pair with a NaN or an infinity differs
// infinitely. A difference of a bounded element whose bound is 0 counts as infinitely many bounds;
// where the bound is infinite, nothing is a difference. `b` has the expected values
// (ir/interpret/allowed.h).
struct Difference {
  double absolute = 0;   // the largest |a - b|
  double of_bound = 0;   // the largest |a - b| / bound; 0 without bounds
  int64_t element = -1;  // where, as a flat index; -1 where nothing differs
  double a = 0, b = 0;   // there
};

// InvalidArgument where the shapes differ, or the types are not both floats, both integers or both
// bool.
absl::Status CheckComparable(ElementType a, std::span<const int64_t> a_shape, ElementType b,
                             std::span<const int64_t> b_shape);

// CheckComparable must hold. `bounds` is empty, or has one number >= 0 an element.
absl::StatusOr<Difference> Compare(const HostTensor& a, const HostTensor& b,
                                   std::span<const double> bounds = {});

// The elements as doubles (64-bit integers are rounded).
std::vector<double> Doubles(const HostTensor& tensor);

// "[3, 0, 7]": the coordinates of a flat index.
std::string Coordinates(std::span<const int64_t> shape, int64_t element);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_COMPARE_H_
