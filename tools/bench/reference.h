// Expected values of a row's result, by the formulas that define the operations, in double.
#ifndef TG_TOOLS_BENCH_REFERENCE_H_
#define TG_TOOLS_BENCH_REFERENCE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"
#include "tools/bench/row.h"

namespace tg::bench {

// Random contents of the row's operands: floats in [-1, 1), integers of the whole type.
absl::StatusOr<std::vector<runtime::HostTensor>> RandomOperands(const Row& row, uint64_t seed);

class Reference {
 public:
  Reference(const Row& row, std::span<const runtime::HostTensor> operands);

  // Returns InvalidArgument, with the first wrong element, if the result is not as close to the
  // defined value as rounding explains, or if its type or shape is wrong. Every element is compared
  // if that takes few operations. Of a larger result, one random element in each of many stretches
  // of equal length is compared, and the last element.
  absl::Status Check(const runtime::HostTensor& result) const;

 private:
  struct Expected {
    double value = 0;
    double tolerance = 0;  // the greatest difference that is accepted
  };
  // What all elements of a row have in common, for kSoftmax and kLayerNorm.
  struct RowFacts {
    double shift = 0, scale = 0;  // element = (x - shift) * scale, or exp(x - shift) * scale
  };

  Expected At(int64_t index) const;
  Expected MatMulAt(int64_t i, int64_t j) const;
  Expected SumAt(int64_t start, int64_t step, int64_t count) const;
  Expected ConvAt(int64_t index) const;
  void FindRowFacts();
  // Multiply-adds that At takes.
  int64_t CostOfElement() const;

  Row row_;
  std::vector<std::vector<float>> operands_;
  std::vector<RowFacts> facts_;
};

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_REFERENCE_H_
