// The reference accepts a right result and refuses planted mistakes.
#include "tools/bench/reference.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "runtime/session/open.h"
#include "runtime/session/tensors.h"

namespace tg::bench {
namespace {

using runtime::HostTensor;

std::vector<HostTensor> Operands(const Row& row) {
  auto operands = RandomOperands(row, 7);
  EXPECT_TRUE(operands.ok()) << operands.status();
  return *operands;
}

// What the interpreter makes of the row's module.
HostTensor Interpreted(const Row& row, const std::vector<HostTensor>& operands) {
  auto module = BuildModule(row);
  EXPECT_TRUE(module.ok()) << module.status();
  auto session = runtime::OpenSession(*std::move(module), "reference");
  EXPECT_TRUE(session.ok()) << session.status();
  const std::vector<Operand> declared = OperandsOf(row);
  for (size_t i = 0; i < operands.size(); ++i) {
    const absl::Status set = (*session)->Set(declared[i].name, operands[i]);
    EXPECT_TRUE(set.ok()) << set;
  }
  const absl::Status ran = (*session)->Run();
  EXPECT_TRUE(ran.ok()) << ran;
  auto result = (*session)->Get("y");
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

double NumberAt(const HostTensor& tensor, size_t i) {
  const Scalar type = runtime::ScalarOf(tensor.type);
  return DoubleFromBits(type, interpret::LoadBits(type, tensor.data.data(), i));
}

void SetNumber(HostTensor& tensor, size_t i, double value) {
  const Scalar type = runtime::ScalarOf(tensor.type);
  interpret::StoreBits(type, tensor.data.data(), i, BitsFromDouble(type, value));
}

TEST(Reference, AgreesWithTheInterpreter) {
  for (const Row& row : SmallRows()) {
    const std::vector<HostTensor> operands = Operands(row);
    const absl::Status status = Reference(row, operands).Check(Interpreted(row, operands));
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Each element of a small result is compared: a mistake in any one is found and named.
TEST(Reference, FindsOneWrongElement) {
  for (const Row& row : SmallRows()) {
    const std::vector<HostTensor> operands = Operands(row);
    const Reference reference(row, operands);
    const HostTensor right = Interpreted(row, operands);
    const auto count = static_cast<size_t>(*runtime::NumElements(right.shape));
    for (const size_t at : {size_t{0}, count / 2, count - 1}) {
      HostTensor wrong = right;
      const double value = NumberAt(right, at);
      // A part in a hundred; of an integer, or of a number that is nearly 0, one.
      SetNumber(wrong, at,
                row.type == Scalar::kI8 || value * value < 1e-8 ? value + 1 : value * 1.01);
      const std::string message(reference.Check(wrong).message());
      EXPECT_NE(message.find("element " + std::to_string(at) + " of the result"), std::string::npos)
          << row.name << ": " << message;
    }
  }
}

// A term that is left out of a long sum is more than rounding explains.
TEST(Reference, FindsAMissingTerm) {
  const Row row{.name = "sum", .work = Work::kSumRows, .m = 1, .n = 4096, .conv = {}};
  const std::vector<HostTensor> operands = Operands(row);
  double sum = 0;
  for (size_t i = 0; i < 4096; ++i) sum += NumberAt(operands[0], i);
  const Reference reference(row, operands);
  HostTensor result = *runtime::MakeHostTensor(runtime::ElementType::kF32, {1});
  SetNumber(result, 0, sum);
  EXPECT_TRUE(reference.Check(result).ok());
  SetNumber(result, 0, sum - NumberAt(operands[0], 17));
  EXPECT_FALSE(reference.Check(result).ok());
}

TEST(Reference, RefusesAnotherShapeOrType) {
  const Row row = SmallRows()[0];
  const std::vector<HostTensor> operands = Operands(row);
  const Reference reference(row, operands);
  EXPECT_EQ(
      reference.Check(*runtime::MakeHostTensor(runtime::ElementType::kF32, {48, 47})).message(),
      "matmul-48: the result is f32[48, 47], not f32[48, 48]");
  EXPECT_EQ(
      reference.Check(*runtime::MakeHostTensor(runtime::ElementType::kF16, {48, 48})).message(),
      "matmul-48: the result is f16[48, 48], not f32[48, 48]");
}

TEST(Rows, NamesAreUniqueAndCostsPositive) {
  for (const std::vector<Row>& rows : {MeasuredRows(), SmallRows()}) {
    std::vector<std::string> names;
    for (const Row& row : rows) {
      names.push_back(row.name);
      EXPECT_GT(BytesRead(row), 0) << row.name;
      EXPECT_GT(BytesWritten(row), 0) << row.name;
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  }
}

TEST(Rows, CountOperationsAndBytes) {
  const Row product{.work = Work::kMatMul, .m = 2, .k = 3, .n = 5, .conv = {}};
  EXPECT_EQ(OperationsOf(product), 2 * 2 * 3 * 5);
  EXPECT_EQ(BytesRead(product), 4 * (2 * 3 + 3 * 5));
  EXPECT_EQ(BytesWritten(product), 4 * 2 * 5);
  const Row conv{.work = Work::kConv,
                 .conv = {.channels = 4,
                          .extent = 7,
                          .out_channels = 6,
                          .kernel = 3,
                          .stride = 2,
                          .pad = 1,
                          .groups = 2}};
  EXPECT_EQ(OperationsOf(conv), 2 * (6 * 4 * 4) * (2 * 3 * 3));
}

}  // namespace
}  // namespace tg::bench
