// A row of tg-bench: one operation with its sizes, as a module, and what it costs at least.
#ifndef TG_TOOLS_BENCH_ROW_H_
#define TG_TOOLS_BENCH_ROW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/module.h"

namespace tg::bench {

enum class Work : uint8_t {
  kMatMul,      // y[m, n] = a[m, k] b[k, n]
  kSumRows,     // y[m] = sum over n of a[m, n]
  kSumColumns,  // y[n] = sum over m of a[m, n]
  kSumAll,      // y[1] = sum of a[m, n]
  kSoftmax,     // over n of a[m, n]
  kLayerNorm,   // over n of a[m, n], times scale[n], plus shift[n]
  kTranspose,   // y[n, m] = a[m, n]
  kConv,        // y[1, o, h', w'] of a[1, c, h, w] and weight[o, c / groups, kernel, kernel]
};

// "matmul", "sum-rows", ...: the names that peers know.
std::string_view WorkName(Work work);

struct ConvSizes {
  int64_t channels = 0, extent = 0;  // of the square picture
  int64_t out_channels = 0, kernel = 1, stride = 1, pad = 0, groups = 1;
  int64_t out_extent() const { return (extent + 2 * pad - kernel) / stride + 1; }
};

struct Row {
  std::string name;   // for --filter, unique
  std::string title;  // for people
  Work work = Work::kMatMul;
  Scalar type = Scalar::kF32;  // of the operands
  int64_t m = 0, k = 0, n = 0;
  bool b_transposed = false;  // kMatMul: b is stored as [n, k]
  ConvSizes conv;
};

struct Operand {
  std::string name;
  Scalar type = Scalar::kF32;
  std::vector<int64_t> shape;
  Role role = Role::kInput;
};

inline constexpr double kLayerNormEpsilon = 1e-5;

// The rows that are measured.
std::vector<Row> MeasuredRows();
// The same operations with small, uneven sizes, whose values are checked in an instant.
std::vector<Row> SmallRows();

std::vector<Operand> OperandsOf(const Row& row);
// The result: buffer "y". Products of f16 have type f16 (sums in f32), those of i8 have type i32.
Operand ResultOf(const Row& row);

// Floating-point (or integer) operations, two for a multiply-add; 0 where the count says nothing
// about the speed, as for softmax.
int64_t OperationsOf(const Row& row);
// The bytes of the operands, each read once, and of the result.
int64_t BytesRead(const Row& row);
int64_t BytesWritten(const Row& row);

// A module with the operands and y as buffers, and a graph @main.
absl::StatusOr<std::unique_ptr<Module>> BuildModule(const Row& row);

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_ROW_H_
