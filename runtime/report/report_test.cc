// Tables and comparisons.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "codegen/kernel_names.h"
#include "ir/module.h"
#include "runtime/report/kernel_table.h"
#include "runtime/report/tensor_difference.h"

namespace tg::runtime {
namespace {

class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    reduce_.name = "r_16_4_100";
    Kernel kernel;
    kernel.name = "r_16_4_100";
    kernel.axes = {
        {"i0", 16, AxisKind::kGlobal}, {"i1", 4, AxisKind::kLocal}, {"r0", 100, AxisKind::kReduce}};
    reduce_.colored_name = codegen::ColoredName(kernel);
    reduce_.metadata = {"sum", "exp2"};
    scale_.name = "E_64";
    scale_.colored_name = "E_64";
    PlannedKernel a;
    a.kernel = &reduce_;
    a.range = {{16, 4, 1}, {1, 4, 1}};
    a.num_args = 2;
    a.buffer_bytes = 26000;
    a.work = {6.4e6, 4e6, 1e3};
    PlannedKernel b;
    b.kernel = &scale_;
    b.range = {{64, 1, 1}, {64, 1, 1}};
    b.num_args = 3;
    b.buffer_bytes = 512;
    b.work = {64, 256, 256};
    kernels_ = {a, b};
    times_ = {{1000, 2000, 5000, 1005000}, {1500, 3000, 1006000, 1006500}};
  }

  CompiledKernel reduce_, scale_;
  std::vector<PlannedKernel> kernels_;
  std::vector<LaunchTimes> times_;
};

TEST_F(ReportTest, Table) {
  EXPECT_EQ(KernelTable(kernels_, times_, false),
            "   kernel      global  local  args   memory     time  GFLOP/s  GB/s  ld/st\n"
            "1  r_16_4_100    16x4    1x4     2  26.0 kB  1.00 ms      6.4   0.0    4.0"
            "  [sum, exp2]\n"
            "2  E_64            64     64     3    512 B  0.50 us      0.1   1.0    1.0\n");
}

TEST_F(ReportTest, Dependence) {
  EXPECT_EQ(DependenceSummary(kernels_, {}), "2 kernels, 2 depend on the input");
  kernels_[1].depends_on_input = false;
  EXPECT_EQ(DependenceSummary(kernels_, std::span(kernels_).first(1)),
            "3 kernels, 1 depends on the input; 1 runs once; 1 in each run without it");
  const std::string table = KernelTable(kernels_, times_, false);
  EXPECT_NE(table.find("4.0  [sum, exp2]\n"), std::string::npos) << table;
  EXPECT_NE(table.find("1.0  no input\n"), std::string::npos) << table;
  // A copy between devices is no kernel.
  kernels_[0].kernel = nullptr;
  EXPECT_EQ(DependenceSummary(kernels_, {}),
            "1 kernel, 0 depend on the input; 1 in each run without it");
}

TEST_F(ReportTest, SlowestFirst) {
  times_ = {{0, 0, 0, 100}, {0, 0, 0, 2000}};
  const std::string table = KernelTable(kernels_, times_, false, /*slowest_first=*/true);
  EXPECT_LT(table.find("\n2  E_64"), table.find("\n1  r_16_4_100")) << table;
  EXPECT_NE(table.find("\n1  r_16_4_100"), std::string::npos) << table;
}

TEST_F(ReportTest, NodesOfTheModel) {
  EXPECT_EQ(NodeTables(kernels_, times_, 5), "");
  kernels_[0].nodes = {"MatMul 'fc'", "Relu 'act'", "Add 'a'", "Mul 'm'", "Add 'b'"};
  kernels_[0].tensors = {"y"};
  EXPECT_EQ(DescribeNodes(kernels_[0], 2), "MatMul 'fc', Relu 'act' and 3 more -> y");
  EXPECT_EQ(DescribeNodes(kernels_[1]), "");
  const std::string table = KernelTable(kernels_, times_, false);
  EXPECT_NE(table.find("[sum, exp2]  MatMul 'fc', Relu 'act', Add 'a' and 2 more -> y\n"),
            std::string::npos)
      << table;
  kernels_.push_back(kernels_[1]);
  kernels_[2].nodes = {"MatMul 'head'"};
  times_.push_back({0, 0, 0, 3000000});
  EXPECT_EQ(NodeTables(kernels_, times_, 0),
            "operator   kernels     time\n"
            "MatMul           2  4.00 ms  100.0%  with Add, Mul, Relu\n"
            "(no node)        1  0.50 us    0.0%\n");
  EXPECT_EQ(NodeTables(kernels_, times_, 2),
            NodeTables(kernels_, times_, 0) +
                "node           kernels     time\n"
                "MatMul 'head'        1  3.00 ms  75.0%\n"
                "MatMul 'fc'          1  1.00 ms  25.0%  with Add, Mul, Relu\n");
}

TEST_F(ReportTest, ColorsDoNotMoveColumns) {
  const std::string plain = KernelTable(kernels_, times_, false);
  std::string colored = KernelTable(kernels_, times_, true);
  EXPECT_NE(colored.find("r_\x1b[94m16\x1b[0m_"), std::string::npos) << colored;
  EXPECT_NE(colored.find("\x1b[91m100\x1b[0m"), std::string::npos) << colored;
  for (size_t at; (at = colored.find('\x1b')) != std::string::npos;) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  EXPECT_EQ(colored, plain);
}

TEST_F(ReportTest, WithoutTimes) {
  const std::string table = KernelTable(kernels_, {}, false);
  EXPECT_NE(table.find("2  26.0 kB     -        -     -      -  [sum, exp2]"), std::string::npos)
      << table;
  EXPECT_EQ(RunSummary(kernels_, {}, 0.002), "2 kernels, 6.40 MOPS, 2.00 ms in all (3.20 GFLOP/s)");
}

TEST_F(ReportTest, Summary) {
  EXPECT_EQ(
      RunSummary(kernels_, times_, 0.0015008),
      "2 kernels, 6.40 MOPS, 1.00 ms on the device, 1.50 ms in all, 500 us of it beyond kernels "
      "(6.40 GFLOP/s)");
  kernels_[0].empty = true;
  EXPECT_EQ(RunSummary(std::span(kernels_).first(1), std::span(times_).first(0), 0.5),
            "1 kernel, 0 OPS, 500 ms in all (0.00 GFLOP/s)");
}

TEST(Formats, Units) {
  EXPECT_EQ(FormatSeconds(1.5), "1.50 s");
  EXPECT_EQ(FormatSeconds(0.25), "250 ms");
  EXPECT_EQ(FormatSeconds(0.0123), "12.3 ms");
  EXPECT_EQ(FormatSeconds(3.2e-6), "3.20 us");
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(1.5e9), "1.50 GB");
}

template <typename T>
HostTensor Tensor(ElementType type, std::vector<int64_t> shape, const std::vector<T>& values) {
  HostTensor tensor{type, std::move(shape), {}};
  tensor.data.resize(values.size() * sizeof(T));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}
HostTensor Floats(const std::vector<float>& values) {
  return Tensor(ElementType::kF32, {static_cast<int64_t>(values.size())}, values);
}

TEST(Compare, LargestDifference) {
  const auto d = Compare(Floats({1, 2, 3, 4}), Floats({1, 2.5, 2, 4}));
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->absolute, 1);
  EXPECT_EQ(d->element, 2);
  EXPECT_EQ(d->a, 3);
  EXPECT_EQ(d->b, 2);
  EXPECT_EQ(Compare(Floats({1, 2}), Floats({1, 2}))->element, -1);
}

TEST(Compare, NotNumbersAndInfinities) {
  EXPECT_EQ(Compare(Floats({NAN, INFINITY, 0.0f}), Floats({NAN, INFINITY, -0.0f}))->absolute, 0);
  EXPECT_EQ(Compare(Floats({NAN}), Floats({1}))->absolute, INFINITY);
  EXPECT_EQ(Compare(Floats({INFINITY}), Floats({-INFINITY}))->absolute, INFINITY);
  EXPECT_EQ(Compare(Floats({INFINITY}), Floats({1}))->absolute, INFINITY);
}

TEST(Compare, InBounds) {
  const std::vector<double> bounds = {0.5, 0.1, 0};
  const auto d = Compare(Floats({1, 1, 1}), Floats({1.25, 1.0625, 1}), bounds);
  EXPECT_EQ(d->element, 1);  // not the largest difference, but the largest relative to its bound
  EXPECT_DOUBLE_EQ(d->of_bound, 0.625);
  EXPECT_EQ(d->absolute, 0.25);
  EXPECT_EQ(Compare(Floats({1, 1, 1}), Floats({1, 1, 1.5}), bounds)->of_bound, INFINITY);
}

TEST(Compare, Integers) {
  constexpr int64_t kBig = (1LL << 60) + 1;
  const auto longs = [](int64_t v) { return Tensor<int64_t>(ElementType::kI64, {1}, {v}); };
  EXPECT_EQ(Compare(longs(kBig), longs(kBig))->absolute, 0);
  EXPECT_EQ(Compare(longs(kBig), longs(kBig - 1))->absolute, 1);
  const HostTensor bytes = Tensor<uint8_t>(ElementType::kU8, {1}, {200});
  EXPECT_EQ(Compare(bytes, longs(199))->absolute, 1);
}

TEST(Compare, WhatCannotBeCompared) {
  EXPECT_EQ(std::string(Compare(Floats({1, 2}), Floats({1})).status().message()),
            "cannot compare f32[2] with f32[1]");
  EXPECT_EQ(
      std::string(
          Compare(Floats({1}), Tensor<int32_t>(ElementType::kI32, {1}, {1})).status().message()),
      "cannot compare f32[1] with i32[1]");
}

TEST(Coordinates, Text) {
  const std::vector<int64_t> shape = {2, 3, 4};
  EXPECT_EQ(Coordinates(shape, 0), "[0, 0, 0]");
  EXPECT_EQ(Coordinates(shape, 23), "[1, 2, 3]");
  EXPECT_EQ(Coordinates({}, 0), "[]");
}

}  // namespace
}  // namespace tg::runtime
