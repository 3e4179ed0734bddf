// Tensors of a model's file as values of the graph.
#ifndef TG_FRONTEND_ONNX_ONNX_TENSORS_H_
#define TG_FRONTEND_ONNX_ONNX_TENSORS_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/proto.h"

namespace tg::onnx {

// The scalar type that holds an element: the same type if the IR has it, else the smallest type
// that represents all of its values (i8 for int4, f32 for the float8 types that the IR lacks). None
// for strings and complex numbers.
std::optional<Scalar> ScalarFor(ElementType type);
// ONNX's type for a value of this scalar type.
ElementType TypeFor(Scalar scalar);
// "float", "int64", ... as ONNX spells them.
std::string_view TypeName(ElementType type);
// The least and the greatest integer of an integer type; none for others.
struct IntegerRange {
  int64_t min, max;
};
std::optional<IntegerRange> RangeOf(ElementType type);
// Whether the file stores the elements in the same bytes as the IR does.
bool IsStoredAsIs(ElementType type);

// The elements of a tensor whose data are in the model itself, as bits of ScalarFor(type).
// InvalidArgument if their number does not match the shape.
absl::StatusOr<Ints> Decode(const TensorProto& tensor);

// Imports a tensor as a value of the graph. Data of more than a few thousand elements are not
// copied: the declaration refers to `file` (the model's file name relative to the module; `bytes`
// are its contents, which `tensor` views), or to the tensor's external file. A weight is a param of
// the name that a node gives it, else of the tensor's, whatever its size.
absl::StatusOr<Tensor> ImportTensor(GraphBuilder& g, const TensorProto& tensor,
                                    std::string_view model_bytes, std::string_view model_file,
                                    std::string_view name_if_none = {}, bool is_weight = false);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_ONNX_TENSORS_H_
