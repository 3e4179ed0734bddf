// The parts of an ONNX model that an importer reads, as structs over the file's bytes.
//
// Strings and tensor data are views into the bytes, which outlive them. Field numbers and meaning:
// onnx.proto3 of https://github.com/onnx/onnx.
#ifndef TG_FRONTEND_ONNX_PROTO_H_
#define TG_FRONTEND_ONNX_PROTO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::onnx {

// TensorProto.DataType.
enum class ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

struct TensorProto {
  std::string_view name;
  ElementType type = ElementType::kUndefined;
  std::vector<int64_t> dims;
  // One of these holds the elements, unless they are in another file (is_external).
  std::string_view raw;             // little-endian, packed
  std::string_view packed_floats;   // float_data, where the file packs it: little-endian f32
  std::string_view packed_doubles;  // double_data, likewise
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int32_t> int32s;
  std::vector<int64_t> int64s;
  std::vector<uint64_t> uint64s;
  std::vector<std::string_view> strings;
  // In another file, relative to the model's folder.
  bool is_external = false;
  std::string_view location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

// A nonzero element list and its coordinates.
struct SparseTensorProto {
  TensorProto values, indices;
  std::vector<int64_t> dims;
};

struct Dimension {
  std::optional<int64_t> value;
  std::string_view param;  // a name, where there is no value
};

struct TypeProto {
  // kSequence: of tensors. kNone: a sequence of something else, too.
  enum class Kind { kNone, kTensor, kSequence, kMap, kSparse };
  Kind kind = Kind::kNone;
  bool is_optional = false;
  // Of the tensor, or of those of the sequence.
  ElementType element = ElementType::kUndefined;
  std::optional<std::vector<Dimension>> shape;  // none: of unknown rank
};

struct ValueInfo {
  std::string_view name;
  TypeProto type;
};

struct GraphProto;

// AttributeProto.AttributeType.
enum class AttributeType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
};

struct Attribute {
  std::string_view name;
  std::string_view ref;  // in a function: the name of the call's attribute that is used here
  AttributeType type = AttributeType::kUndefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::shared_ptr<TensorProto> tensor;
  std::shared_ptr<SparseTensorProto> sparse;
  std::shared_ptr<GraphProto> graph;
};

struct Node {
  std::string_view name, op, domain, overload;
  std::vector<std::string_view> inputs, outputs;  // "": left out
  std::vector<Attribute> attributes;
  // Whether an attribute, of this node or in a nested graph, refers to an attribute of the call.
  bool has_references = false;
};

struct GraphProto {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<TensorProto> initializers;
  std::vector<SparseTensorProto> sparse_initializers;
  std::vector<ValueInfo> inputs, outputs;
};

struct OpsetId {
  std::string_view domain;
  int64_t version = 0;
};

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OpsetId> opsets;
};

struct Model {
  int64_t ir_version = 0;
  std::vector<OpsetId> opsets;
  std::string_view producer;
  GraphProto graph;
  std::vector<Function> functions;
};

// InvalidArgument, with the position in bytes, if the bytes are not a model: a field is truncated
// or exceeds its message, has the wrong wire type, or graphs are nested deeper than 64.
absl::StatusOr<Model> ParseModel(std::string_view bytes);

// Parses a file with one tensor, the form in which conformance suites store inputs and results.
absl::StatusOr<TensorProto> ParseTensor(std::string_view bytes);
// Parses a file with a value of this type. Returns one tensor, the tensors of a sequence, or no
// tensor for an empty optional.
absl::StatusOr<std::vector<TensorProto>> ParseValue(std::string_view bytes, const TypeProto& type);

// The bytes of such a file, for a tensor whose elements are `raw`.
std::string SerializeTensor(const TensorProto& tensor);

// Whether the bytes begin like a model. A quick check, which rejects texts.
bool LooksLikeModel(std::string_view bytes);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_PROTO_H_
