#include "tools/bench/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "runtime/report/format.h"
#include "runtime/session/tensors.h"

namespace tg::bench {
namespace {

using runtime::HostTensor;

// The multiply-adds that one check may take. Larger results are sampled.
constexpr int64_t kMaxOperations = int64_t{1} << 28;
constexpr double kEpsilon = std::numeric_limits<float>::epsilon() / 2;
// Rounding of one f16 result.
constexpr double kHalfEpsilon = 1.0 / 2048;
// Roundings of a sum, as a multiple of kEpsilon times the sum of magnitudes. A sum of random terms,
// even one after the other, stays below it; a sum with a wrong term does not.
constexpr double kSumRoundings = 20;
// The same for a result that passes through a few functions.
constexpr double kFunctionRoundings = 64;

double NumberAt(const HostTensor& tensor, int64_t index) {
  const Scalar type = runtime::ScalarOf(tensor.type);
  return DoubleFromBits(type,
                        interpret::LoadBits(type, tensor.data.data(), static_cast<size_t>(index)));
}

}  // namespace

absl::StatusOr<std::vector<HostTensor>> RandomOperands(const Row& row, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<float> real(-1, 1);
  std::vector<HostTensor> tensors;
  for (const Operand& operand : OperandsOf(row)) {
    TG_ASSIGN_OR_RETURN(
        HostTensor tensor,
        runtime::MakeHostTensor(*runtime::ElementTypeOf(operand.type), operand.shape));
    const int64_t count = *runtime::NumElements(operand.shape);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t bits = operand.type == Scalar::kI8
                               ? WrapInt(operand.type, static_cast<int64_t>(rng()))
                               : BitsFromDouble(operand.type, real(rng));
      interpret::StoreBits(operand.type, tensor.data.data(), static_cast<size_t>(i), bits);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Reference::Reference(const Row& row, std::span<const HostTensor> operands) : row_(row) {
  for (const HostTensor& tensor : operands) {
    std::vector<float>& numbers = operands_.emplace_back();
    const int64_t count = *runtime::NumElements(tensor.shape);
    numbers.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      numbers.push_back(static_cast<float>(NumberAt(tensor, i)));
    }
  }
  if (row_.work == Work::kSoftmax || row_.work == Work::kLayerNorm) FindRowFacts();
}

void Reference::FindRowFacts() {
  for (int64_t i = 0; i < row_.m; ++i) {
    const float* x = operands_[0].data() + i * row_.n;
    RowFacts facts;
    if (row_.work == Work::kSoftmax) {
      facts.shift = *std::max_element(x, x + row_.n);
      double sum = 0;
      for (int64_t j = 0; j < row_.n; ++j) sum += std::exp(x[j] - facts.shift);
      facts.scale = 1 / sum;
    } else {
      const auto n = static_cast<double>(row_.n);
      double sum = 0, squares = 0;
      for (int64_t j = 0; j < row_.n; ++j) sum += x[j];
      facts.shift = sum / n;
      for (int64_t j = 0; j < row_.n; ++j) squares += std::pow(x[j] - facts.shift, 2);
      facts.scale = 1 / std::sqrt(squares / n + kLayerNormEpsilon);
    }
    facts_.push_back(facts);
  }
}

Reference::Expected Reference::MatMulAt(int64_t i, int64_t j) const {
  const float* a = operands_[0].data() + i * row_.k;
  const float* b = operands_[1].data() + (row_.b_transposed ? j * row_.k : j);
  const int64_t step = row_.b_transposed ? 1 : row_.n;
  double sum = 0, magnitude = 0;
  for (int64_t k = 0; k < row_.k; ++k) {
    const double term = static_cast<double>(a[k]) * b[k * step];
    sum += term;
    magnitude += std::fabs(term);
  }
  return {sum, kSumRoundings * kEpsilon * magnitude};
}

Reference::Expected Reference::SumAt(int64_t start, int64_t step, int64_t count) const {
  const float* x = operands_[0].data() + start;
  double sum = 0, magnitude = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += x[i * step];
    magnitude += std::fabs(x[i * step]);
  }
  return {sum, kSumRoundings * kEpsilon * magnitude};
}

Reference::Expected Reference::ConvAt(int64_t index) const {
  const ConvSizes& s = row_.conv;
  const int64_t out = s.out_extent(), per_group = s.channels / s.groups;
  const int64_t column = index % out, line = index / out % out, channel = index / (out * out);
  const int64_t first = channel / (s.out_channels / s.groups) * per_group;
  double sum = 0, magnitude = 0;
  for (int64_t c = 0; c < per_group; ++c) {
    for (int64_t u = 0; u < s.kernel; ++u) {
      for (int64_t v = 0; v < s.kernel; ++v) {
        const int64_t y = line * s.stride + u - s.pad, x = column * s.stride + v - s.pad;
        if (y < 0 || y >= s.extent || x < 0 || x >= s.extent) continue;
        const int64_t at = ((first + c) * s.extent + y) * s.extent + x;
        const int64_t weight = ((channel * per_group + c) * s.kernel + u) * s.kernel + v;
        const double term = static_cast<double>(operands_[0][static_cast<size_t>(at)]) *
                            operands_[1][static_cast<size_t>(weight)];
        sum += term;
        magnitude += std::fabs(term);
      }
    }
  }
  return {sum, kSumRoundings * kEpsilon * magnitude};
}

Reference::Expected Reference::At(int64_t index) const {
  const auto element = static_cast<size_t>(index);
  switch (row_.work) {
    case Work::kMatMul:
      return MatMulAt(index / row_.n, index % row_.n);
    case Work::kSumRows:
      return SumAt(index * row_.n, 1, row_.n);
    case Work::kSumColumns:
      return SumAt(index, row_.n, row_.m);
    case Work::kSumAll:
      return SumAt(0, 1, row_.m * row_.n);
    case Work::kSoftmax: {
      const RowFacts& facts = facts_[element / static_cast<size_t>(row_.n)];
      const double value = std::exp(operands_[0][element] - facts.shift) * facts.scale;
      return {value, kFunctionRoundings * kEpsilon * value};
    }
    case Work::kLayerNorm: {
      const RowFacts& facts = facts_[element / static_cast<size_t>(row_.n)];
      const size_t column = element % static_cast<size_t>(row_.n);
      const double scaled =
          (operands_[0][element] - facts.shift) * facts.scale * operands_[1][column];
      const double shift = operands_[2][column];
      const double size = std::fabs(scaled) + std::fabs(shift) + facts.scale;
      return {scaled + shift, kFunctionRoundings * kEpsilon * size};
    }
    case Work::kTranspose:
      return {operands_[0][static_cast<size_t>(index % row_.m * row_.n + index / row_.m)], 0};
    case Work::kConv:
      return ConvAt(index);
  }
  return {};
}

int64_t Reference::CostOfElement() const {
  const int64_t count = *runtime::NumElements(ResultOf(row_).shape);
  const bool reads_all =
      row_.work == Work::kSumRows || row_.work == Work::kSumColumns || row_.work == Work::kSumAll;
  const int64_t all = reads_all ? row_.m * row_.n : OperationsOf(row_) / 2;
  return std::max<int64_t>(1, all / count);
}

absl::Status Reference::Check(const HostTensor& result) const {
  const Operand expected = ResultOf(row_);
  if (runtime::ScalarOf(result.type) != expected.type || result.shape != expected.shape) {
    return InvalidArgument(
        row_.name, ": the result is ", runtime::TypeAndShape(result.type, result.shape), ", not ",
        runtime::TypeAndShape(*runtime::ElementTypeOf(expected.type), expected.shape));
  }
  const int64_t count = *runtime::NumElements(result.shape);
  const int64_t checked = std::clamp<int64_t>(kMaxOperations / CostOfElement(), 1, count);
  const int64_t stretch = (count + checked - 1) / checked;
  std::mt19937_64 rng(1);
  for (int64_t start = 0; start < count; start += stretch) {
    const int64_t length = std::min(stretch, count - start);
    const bool is_last = start + length == count;
    const int64_t index =
        start +
        (is_last ? length - 1 : static_cast<int64_t>(rng() % static_cast<uint64_t>(length)));
    Expected e = At(index);
    if (row_.type == Scalar::kI8) e.tolerance = 0;
    if (row_.type == Scalar::kF16) e.tolerance += kHalfEpsilon * std::fabs(e.value);
    const double value = NumberAt(result, index);
    if (std::fabs(value - e.value) <= e.tolerance) continue;  // false for NaN
    return InvalidArgument(row_.name, ": element ", index, " of the result is ",
                           runtime::FormatNumber("%.9g", value), ", not ",
                           runtime::FormatNumber("%.9g", e.value), " (a difference up to ",
                           runtime::FormatNumber("%.3g", e.tolerance), " is accepted)");
  }
  return absl::OkStatus();
}

}  // namespace tg::bench
