#include "runtime/search/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/cat.h"
#include "ir/interpret/tensor_ops.h"
#include "ir/value.h"
#include "runtime/session/tensors.h"

namespace tg::search {
namespace {

// The parts of an element, and of the greatest element, by which floats may differ: what sums of
// some thousands of terms in another order lose.
constexpr double kOfElement = 1e-3, kOfGreatest = 1e-4;
// Units in the last place, for types whose unit is larger than that.
constexpr double kUnits = 4;

class Elements {
 public:
  explicit Elements(const runtime::HostTensor& tensor)
      : tensor_(tensor),
        scalar_(runtime::ScalarOf(tensor.type)),
        bytes_(runtime::ElementSize(tensor.type)) {}
  size_t size() const { return tensor_.data.size() / bytes_; }
  double operator[](size_t i) const {
    int64_t bits = 0;
    std::memcpy(&bits, tensor_.data.data() + i * bytes_, bytes_);
    return DoubleFromBits(scalar_, bits);
  }
  Scalar scalar() const { return scalar_; }

 private:
  const runtime::HostTensor& tensor_;
  const Scalar scalar_;
  const size_t bytes_;
};

}  // namespace

std::string Difference(const runtime::HostTensor& expected, const runtime::HostTensor& actual) {
  if (expected.type != actual.type || expected.shape != actual.shape) return "another shape";
  if (expected.data == actual.data) return "";
  const Elements e(expected), a(actual);
  const bool is_float = IsFloat(e.scalar());
  const double unit = is_float ? interpret::UnitRoundoff(e.scalar()) : 0;
  double greatest = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    if (std::isfinite(e[i])) greatest = std::max(greatest, std::fabs(e[i]));
  }
  for (size_t i = 0; i < e.size(); ++i) {
    const double x = e[i], y = a[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double allowed =
        std::max(kOfElement, kUnits * unit) * std::fabs(x) + kOfGreatest * greatest;
    if (is_float && std::isfinite(x) && std::fabs(x - y) <= allowed) continue;
    char text[128];
    std::snprintf(text, sizeof text, "element %zu is %.9g, not %.9g", i, y, x);
    return text;
  }
  // Integers beyond 2^53 may be the same double.
  return is_float ? "" : "integers";
}

}  // namespace tg::search
