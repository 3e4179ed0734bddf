#include "runtime/report/tensor_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status.h"
#include "ir/interpret/allowed.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScalarClass ClassOf(ElementType type) {
  const ScalarClass cls = GetScalarInfo(ScalarOf(type)).cls;
  return cls == ScalarClass::kUnsigned ? ScalarClass::kSigned : cls;
}

double Distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? kInfinity : distance;
}

}  // namespace

std::vector<double> Doubles(const HostTensor& tensor) {
  const Scalar scalar = ScalarOf(tensor.type);
  std::vector<double> out(tensor.data.size() / ElementSize(tensor.type));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = DoubleFromBits(scalar, interpret::LoadBits(scalar, tensor.data.data(), i));
  }
  return out;
}

absl::Status CheckComparable(ElementType a, std::span<const int64_t> a_shape, ElementType b,
                             std::span<const int64_t> b_shape) {
  if (std::ranges::equal(a_shape, b_shape) && ClassOf(a) == ClassOf(b)) return absl::OkStatus();
  return InvalidArgument("cannot compare ", TypeAndShape(a, a_shape), " with ",
                         TypeAndShape(b, b_shape));
}

absl::StatusOr<Difference> Compare(const HostTensor& a, const HostTensor& b,
                                   std::span<const double> bounds) {
  TG_RETURN_IF_ERROR(CheckComparable(a.type, a.shape, b.type, b.shape));
  const std::vector<double> xs = Doubles(a), ys = Doubles(b);
  Difference most;
  for (size_t i = 0; i < xs.size(); ++i) {
    double distance = Distance(xs[i], ys[i]);
    // A double cannot represent every 64-bit integer, so equal doubles may come from different
    // integers.
    if (distance == 0 && a.type == b.type && ClassOf(a.type) == ScalarClass::kSigned) {
      const Scalar s = ScalarOf(a.type);
      if (interpret::LoadBits(s, a.data.data(), i) != interpret::LoadBits(s, b.data.data(), i))
        distance = 1;
    }
    const double bound = bounds.empty() ? 0 : bounds[i];
    if (distance == 0 || std::isinf(bound)) continue;
    double of_bound = bounds.empty() ? 0 : bound > 0 ? distance / bound : kInfinity;
    if (!bounds.empty() && a.type == b.type) {
      const Scalar s = ScalarOf(a.type);
      of_bound = interpret::OfAllowed(s, interpret::LoadBits(s, b.data.data(), i),
                                      interpret::LoadBits(s, a.data.data(), i), bound);
    }
    const bool is_most =
        most.element < 0 || (bounds.empty() ? distance > most.absolute : of_bound > most.of_bound);
    most.absolute = std::max(most.absolute, distance);
    if (is_most) {
      most.of_bound = of_bound;
      most.element = static_cast<int64_t>(i);
      most.a = xs[i];
      most.b = ys[i];
    }
  }
  return most;
}

std::string Coordinates(std::span<const int64_t> shape, int64_t element) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text = Cat(element % shape[d], text.empty() ? "" : ", ", text);
    element /= shape[d];
  }
  return "[" + text + "]";
}

}  // namespace tg::runtime
