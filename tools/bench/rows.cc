// The table of rows.
#include <utility>

#include "base/status.h"
#include "tools/bench/row.h"

namespace tg::bench {
namespace {

std::string_view PrefixOf(Scalar type) {
  switch (type) {
    case Scalar::kF16:
      return "-f16";
    case Scalar::kI8:
      return "-i8";
    default:
      return "";
  }
}

std::string Extents(int64_t m, int64_t k, int64_t n) {
  return m == k && k == n ? Cat(m) : Cat(m, "x", k, "x", n);
}

// The product with both layouts of b.
void AddMatMul(std::vector<Row>& rows, int64_t m, int64_t k, int64_t n,
               Scalar type = Scalar::kF32) {
  for (const bool transposed : {false, true}) {
    Row row{.work = Work::kMatMul,
            .type = type,
            .m = m,
            .k = k,
            .n = n,
            .b_transposed = transposed,
            .conv = {}};
    row.name = Cat("matmul", PrefixOf(type), "-", Extents(m, k, n), transposed ? "-bt" : "");
    const std::string_view kind = type == Scalar::kF16  ? "f16 "
                                  : type == Scalar::kI8 ? "int8 "
                                                        : "";
    row.title = m == 1 ? Cat("vector times ", k, "x", n) : Cat("matmul ", kind, Extents(m, k, n));
    if (transposed) row.title += ", b transposed";
    rows.push_back(std::move(row));
  }
}

void AddMatrixWork(std::vector<Row>& rows, int64_t m, int64_t n) {
  const std::pair<Work, std::string_view> works[] = {{Work::kSumRows, "sum of rows"},
                                                     {Work::kSumColumns, "sum of columns"},
                                                     {Work::kSumAll, "sum of all"},
                                                     {Work::kSoftmax, "softmax of rows"},
                                                     {Work::kLayerNorm, "layer norm of rows"},
                                                     {Work::kTranspose, "transpose"}};
  for (const auto& [work, title] : works) {
    Row row{.work = work, .m = m, .n = n, .conv = {}};
    row.name = Cat(WorkName(work), "-", m == n ? Cat(m) : Cat(m, "x", n));
    row.title = Cat(title, ", ", m, "x", n);
    rows.push_back(std::move(row));
  }
}

void AddConv(std::vector<Row>& rows, const ConvSizes& s) {
  Row row{.work = Work::kConv, .conv = s};
  const bool depthwise = s.groups > 1 && s.groups == s.channels;
  const std::string channels = depthwise ? Cat(s.channels) : Cat(s.channels, "-", s.out_channels);
  const std::string stride = s.stride > 1 ? Cat(" stride ", s.stride) : "";
  row.name = Cat(depthwise ? "depthwise-" : "conv-", s.kernel, "x", s.kernel,
                 s.stride > 1 ? Cat("-s", s.stride) : "", "-", channels, "-", s.extent);
  row.title = Cat(depthwise ? "depthwise " : "conv ", s.kernel, "x", s.kernel, stride, ", ",
                  depthwise ? Cat(s.channels, " channels")
                            : Cat(s.channels, " to ", s.out_channels, " channels"),
                  ", ", s.extent, "x", s.extent);
  rows.push_back(std::move(row));
}

}  // namespace

std::string_view WorkName(Work work) {
  switch (work) {
    case Work::kMatMul:
      return "matmul";
    case Work::kSumRows:
      return "sum-rows";
    case Work::kSumColumns:
      return "sum-columns";
    case Work::kSumAll:
      return "sum-all";
    case Work::kSoftmax:
      return "softmax";
    case Work::kLayerNorm:
      return "layer-norm";
    case Work::kTranspose:
      return "transpose";
    case Work::kConv:
      return "conv";
  }
  return "";
}

std::vector<Row> MeasuredRows() {
  std::vector<Row> rows;
  for (const int64_t n : {256, 512, 1000, 1024, 2048, 4096}) AddMatMul(rows, n, n, n);
  AddMatMul(rows, 128, 768, 3072);
  AddMatMul(rows, 37, 4096, 11);
  AddMatMul(rows, 1024, 1024, 1024, Scalar::kF16);
  AddMatMul(rows, 1024, 1024, 1024, Scalar::kI8);
  AddMatMul(rows, 1, 4096, 4096);
  AddMatrixWork(rows, 4096, 4096);
  AddMatrixWork(rows, 1001, 4097);  // no vector divides these
  AddConv(rows, {.channels = 64, .extent = 56, .out_channels = 64, .kernel = 3, .pad = 1});
  AddConv(rows, {.channels = 256, .extent = 56, .out_channels = 64});
  AddConv(rows,
          {.channels = 3, .extent = 224, .out_channels = 64, .kernel = 7, .stride = 2, .pad = 3});
  AddConv(rows,
          {.channels = 32, .extent = 112, .out_channels = 32, .kernel = 3, .pad = 1, .groups = 32});
  return rows;
}

std::vector<Row> SmallRows() {
  std::vector<Row> rows;
  AddMatMul(rows, 48, 48, 48);
  AddMatMul(rows, 37, 70, 11);
  AddMatMul(rows, 33, 40, 50, Scalar::kF16);
  AddMatMul(rows, 33, 40, 50, Scalar::kI8);
  AddMatMul(rows, 1, 130, 70);
  AddMatrixWork(rows, 35, 67);
  AddConv(rows, {.channels = 5, .extent = 9, .out_channels = 6, .kernel = 3, .pad = 1});
  AddConv(rows, {.channels = 16, .extent = 7, .out_channels = 9});
  AddConv(rows,
          {.channels = 3, .extent = 21, .out_channels = 8, .kernel = 7, .stride = 2, .pad = 3});
  AddConv(rows,
          {.channels = 6, .extent = 13, .out_channels = 6, .kernel = 3, .pad = 1, .groups = 6});
  return rows;
}

}  // namespace tg::bench
