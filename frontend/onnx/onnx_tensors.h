// Tensors of a model's file as values of the graph.
#ifndef TG_FRONTEND_ONNX_ONNX_TENSORS_H_
#define TG_FRONTEND_ONNX_ONNX_TENSORS_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/proto.h"

namespace tg::onnx {

// The scalar type that holds an element: its own where the IR has it, else the least one that has
// all of its values (i8 for int4, f32 for the float8 forms that the IR lacks, ...).
// None for strings and complex numbers.
std::optional<Scalar> ScalarFor(ElementType type);
// The type that the model would give a value of this scalar.
ElementType TypeFor(Scalar scalar);
// "float", "int64", ... as ONNX spells them.
std::string_view TypeName(ElementType type);
// The least and the greatest integer of an integer type; none for others.
struct IntegerRange {
  int64_t min, max;
};
std::optional<IntegerRange> RangeOf(ElementType type);
// Whether the elements lie packed in the file as the IR's own type has them.
bool IsStoredAsIs(ElementType type);

// The elements as bits of ScalarFor(type), of a tensor whose data are in the model itself.
// InvalidArgument where there are more or fewer than its shape says.
absl::StatusOr<Ints> Decode(const TensorProto& tensor);

// A value of the graph. Data of more than a few thousand elements stay where they are, in `file`
// (the bytes of the model, from which `tensor` views, and its name relative to the module) or in
// the tensor's own external file.
absl::StatusOr<Tensor> ImportTensor(GraphBuilder& g, const TensorProto& tensor,
                                    std::string_view model_bytes, std::string_view model_file,
                                    std::string_view name_if_none = {});

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_ONNX_TENSORS_H_
