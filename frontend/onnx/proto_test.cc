#include "frontend/onnx/proto.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::onnx {
namespace {

using testing::ElementsAre;

TEST(SerializeTensor, IsReadBack) {
  TensorProto tensor;
  tensor.name = "logits";
  tensor.type = ElementType::kInt16;
  tensor.dims = {1, 300};
  const std::string data(600, '\x81');
  tensor.raw = data;
  const std::string bytes = SerializeTensor(tensor);
  const absl::StatusOr<TensorProto> again = ParseTensor(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->name, "logits");
  EXPECT_EQ(again->type, ElementType::kInt16);
  EXPECT_THAT(again->dims, ElementsAre(1, 300));
  EXPECT_EQ(again->raw, data);
}

TEST(SerializeTensor, AScalarHasNoDimensions) {
  TensorProto tensor;
  tensor.type = ElementType::kFloat;
  tensor.raw = std::string_view("\0\0\x80\x3f", 4);
  const std::string bytes = SerializeTensor(tensor);
  const absl::StatusOr<TensorProto> again = ParseTensor(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->dims.empty());
  EXPECT_EQ(again->raw.size(), 4u);
}

}  // namespace
}  // namespace tg::onnx
