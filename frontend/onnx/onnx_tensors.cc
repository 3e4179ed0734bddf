#include "frontend/onnx/onnx_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::optional<Scalar> scalar;
  int bits;    // in raw data
  bool as_is;  // the IR's own type
};
constexpr TypeRow kTypes[] = {
    {ElementType::kUndefined, "undefined", std::nullopt, 0, false},
    {ElementType::kFloat, "float", Scalar::kF32, 32, true},
    {ElementType::kUint8, "uint8", Scalar::kU8, 8, true},
    {ElementType::kInt8, "int8", Scalar::kI8, 8, true},
    {ElementType::kUint16, "uint16", Scalar::kU16, 16, true},
    {ElementType::kInt16, "int16", Scalar::kI16, 16, true},
    {ElementType::kInt32, "int32", Scalar::kI32, 32, true},
    {ElementType::kInt64, "int64", Scalar::kI64, 64, true},
    {ElementType::kString, "string", std::nullopt, 0, false},
    {ElementType::kBool, "bool", Scalar::kBool, 8, false},
    {ElementType::kFloat16, "float16", Scalar::kF16, 16, true},
    {ElementType::kDouble, "double", Scalar::kF64, 64, true},
    {ElementType::kUint32, "uint32", Scalar::kU32, 32, true},
    {ElementType::kUint64, "uint64", Scalar::kU64, 64, true},
    {ElementType::kComplex64, "complex64", std::nullopt, 0, false},
    {ElementType::kComplex128, "complex128", std::nullopt, 0, false},
    {ElementType::kBfloat16, "bfloat16", Scalar::kBF16, 16, true},
    {ElementType::kFloat8E4M3FN, "float8e4m3fn", Scalar::kFp8E4M3, 8, true},
    {ElementType::kFloat8E4M3FNUZ, "float8e4m3fnuz", Scalar::kF32, 8, false},
    {ElementType::kFloat8E5M2, "float8e5m2", Scalar::kFp8E5M2, 8, true},
    {ElementType::kFloat8E5M2FNUZ, "float8e5m2fnuz", Scalar::kF32, 8, false},
    {ElementType::kUint4, "uint4", Scalar::kU8, 4, false},
    {ElementType::kInt4, "int4", Scalar::kI8, 4, false},
    {ElementType::kFloat4E2M1, "float4e2m1", Scalar::kF32, 4, false},
    {ElementType::kFloat8E8M0, "float8e8m0", Scalar::kF32, 8, false},
    {ElementType::kUint2, "uint2", Scalar::kU8, 2, false},
    {ElementType::kInt2, "int2", Scalar::kI8, 2, false},
};
const TypeRow& RowOf(ElementType type) {
  const auto i = static_cast<size_t>(type);
  return i < std::size(kTypes) ? kTypes[i] : kTypes[0];
}

// A small float: sign, exponent, mantissa; no infinities; the code of negative zero is NaN.
double SmallFloat(int64_t code, int exponent_bits, int mantissa_bits, int bias, bool fnuz) {
  const int bits = 1 + exponent_bits + mantissa_bits;
  if (fnuz && code == int64_t{1} << (bits - 1)) return NAN;
  const double sign = (code >> (bits - 1)) & 1 ? -1 : 1;
  const int64_t mantissa = code & ((int64_t{1} << mantissa_bits) - 1);
  const int64_t exponent = (code >> mantissa_bits) & ((int64_t{1} << exponent_bits) - 1);
  const double scale = std::ldexp(1.0, -mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa) * scale, 1 - bias);
  return sign *
         std::ldexp(1 + static_cast<double>(mantissa) * scale, static_cast<int>(exponent) - bias);
}

// The code of an element, from raw data or int32_data, as bits of ScalarFor(type).
int64_t FromCode(ElementType type, int64_t code) {
  const auto f32 = [](double v) { return BitsFromDouble(Scalar::kF32, v); };
  switch (type) {
    case ElementType::kBool:
      return code != 0;
    case ElementType::kUint4:
      return code & 15;
    case ElementType::kInt4:
      return ((code & 15) ^ 8) - 8;
    case ElementType::kUint2:
      return code & 3;
    case ElementType::kInt2:
      return ((code & 3) ^ 2) - 2;
    case ElementType::kFloat4E2M1:
      return f32(SmallFloat(code & 15, 2, 1, 1, false));
    case ElementType::kFloat8E4M3FNUZ:
      return f32(SmallFloat(code & 255, 4, 3, 8, true));
    case ElementType::kFloat8E5M2FNUZ:
      return f32(SmallFloat(code & 255, 5, 2, 16, true));
    case ElementType::kFloat8E8M0:
      return f32((code & 255) == 255 ? NAN : std::ldexp(1.0, static_cast<int>(code & 255) - 127));
    default:
      return code;
  }
}

// Data of up to this number of elements become part of the module's text.
constexpr int64_t kMaxLiteral = 4096;

absl::Status Bad(const TensorProto& t, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("tensor '", std::string(t.name), "' (",
                                                 std::string(TypeName(t.type)), "): ", why));
}

// Whether a path names a file of the folder that it is relative to, or of one inside it.
bool IsBelowFolder(std::string_view path) {
  if (path.empty() || path[0] == '/') return false;
  const std::vector<std::string> parts = absl::StrSplit(std::string(path), '/');
  const bool leaves = std::find(parts.begin(), parts.end(), "..") != parts.end();
  const bool is_text = std::none_of(path.begin(), path.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < ' '; });
  return !leaves && is_text;
}

absl::StatusOr<int64_t> CountOf(const TensorProto& t) {
  // The product of an empty tensor's extents is 0, so each extent is limited instead, as in
  // GraphBuilder.
  const bool is_empty = std::find(t.dims.begin(), t.dims.end(), 0) != t.dims.end();
  int64_t n = 1;
  for (const int64_t d : t.dims) {
    if (d < 0) return Bad(t, "a negative extent");
    if (is_empty) n = 1;
    if (__builtin_mul_overflow(n, d, &n) || n > GraphBuilder::kMaxElements) {
      return Bad(t, "it has too many elements");
    }
  }
  return is_empty ? 0 : n;
}

}  // namespace

std::optional<Scalar> ScalarFor(ElementType type) { return RowOf(type).scalar; }
std::string_view TypeName(ElementType type) { return RowOf(type).name; }
bool IsStoredAsIs(ElementType type) { return RowOf(type).as_is; }

std::optional<IntegerRange> RangeOf(ElementType type) {
  const TypeRow& row = RowOf(type);
  if (!row.scalar || !IsInt(*row.scalar)) return std::nullopt;
  if (row.bits == 64) return IntegerRange{MinValue(*row.scalar), MaxValue(*row.scalar)};
  const int64_t codes = int64_t{1} << row.bits;
  if (IsUnsigned(*row.scalar)) return IntegerRange{0, codes - 1};
  return IntegerRange{-codes / 2, codes / 2 - 1};
}

ElementType TypeFor(Scalar scalar) {
  for (const TypeRow& row : kTypes) {
    if (row.scalar == scalar && (row.as_is || scalar == Scalar::kBool)) return row.type;
  }
  return ElementType::kUndefined;
}

absl::StatusOr<Ints> Decode(const TensorProto& t) {
  const TypeRow& row = RowOf(t.type);
  if (!row.scalar) return Bad(t, "elements of this type are not read");
  const absl::StatusOr<int64_t> count = CountOf(t);
  if (!count.ok()) return count.status();
  const auto n = static_cast<size_t>(*count);
  Ints bits;
  if (!t.raw.empty()) {
    const size_t per_byte = row.bits < 8 ? static_cast<size_t>(8 / row.bits) : 1;
    const size_t needed =
        row.bits < 8 ? (n + per_byte - 1) / per_byte : n * static_cast<size_t>(row.bits / 8);
    if (t.raw.size() != needed) {
      return Bad(t, absl::StrCat(t.raw.size(), " bytes for ", n, " elements"));
    }
    bits.reserve(n);
    for (size_t i = 0; i < n; ++i) {
      if (row.as_is) {
        bits.push_back(interpret::LoadBits(*row.scalar, t.raw.data(), i));
      } else {
        const auto byte = static_cast<unsigned char>(t.raw[i / per_byte]);
        bits.push_back(FromCode(t.type, byte >> (row.bits % 8 * static_cast<int>(i % per_byte))));
      }
    }
    return bits;
  }
  const auto numbers = [&](const auto& list) {
    for (const auto v : list) bits.push_back(BitsFromDouble(*row.scalar, static_cast<double>(v)));
  };
  switch (t.type) {
    case ElementType::kFloat:
      for (size_t i = 0; i + 4 <= t.packed_floats.size(); i += 4) {
        float v;
        std::memcpy(&v, t.packed_floats.data() + i, 4);
        bits.push_back(BitsFromDouble(Scalar::kF32, v));
      }
      numbers(t.floats);
      break;
    case ElementType::kDouble:
      numbers(t.doubles);
      break;
    case ElementType::kInt64:
      bits = t.int64s;
      break;
    case ElementType::kUint32:
    case ElementType::kUint64:
      for (const uint64_t v : t.uint64s) {
        bits.push_back(BitsFromUnsigned(*row.scalar, v));
      }
      break;
    default:
      // int32_data holds codes; several elements of fewer than eight bits share one.
      if (row.bits < 8) {
        const int per = 8 / row.bits;
        for (size_t i = 0; i < n && i / static_cast<size_t>(per) < t.int32s.size(); ++i) {
          const int shift = row.bits * static_cast<int>(i % static_cast<size_t>(per));
          bits.push_back(FromCode(t.type, t.int32s[i / static_cast<size_t>(per)] >> shift));
        }
      } else {
        for (const int32_t v : t.int32s) {
          const bool is_float = IsFloat(*row.scalar) && row.as_is;
          bits.push_back(is_float                          ? v & ((int64_t{1} << row.bits) - 1)
                         : IsInt(*row.scalar) && row.as_is ? WrapInt(*row.scalar, v)
                                                           : FromCode(t.type, v));
        }
      }
  }
  if (bits.size() != n) return Bad(t, absl::StrCat(bits.size(), " values for ", n, " elements"));
  return bits;
}

absl::StatusOr<Tensor> ImportTensor(GraphBuilder& g, const TensorProto& t,
                                    std::string_view model_bytes, std::string_view model_file,
                                    std::string_view name_if_none, bool is_weight) {
  const TypeRow& row = RowOf(t.type);
  if (!row.scalar) return Bad(t, "elements of this type are not read");
  const absl::StatusOr<int64_t> count = CountOf(t);
  if (!count.ok()) return count.status();
  std::string file(model_file);
  std::optional<int64_t> offset;
  std::optional<Ints> values;
  const std::string_view in_place = !t.raw.empty() ? t.raw : t.packed_floats;
  if (t.is_external) {
    if (!row.as_is) return Bad(t, "external data of this type");
    const int64_t size = *count * (row.bits / 8);
    if (!IsBelowFolder(t.location)) {
      return Bad(t, absl::StrCat("its data are in '", std::string(t.location),
                                 "', which is not below the model's folder"));
    }
    if (t.length && *t.length != size) {
      return Bad(t, absl::StrCat(*t.length, " bytes of external data for ", *count, " elements"));
    }
    file = t.location;
    offset = t.offset;
  } else if ((*count > kMaxLiteral || is_weight) && row.as_is && !in_place.empty() &&
             in_place.data() >= model_bytes.data() &&
             in_place.data() < model_bytes.data() + model_bytes.size()) {
    if (static_cast<int64_t>(in_place.size()) != *count * (row.bits / 8)) {
      return Bad(t, absl::StrCat(in_place.size(), " bytes for ", *count, " elements"));
    }
    offset = in_place.data() - model_bytes.data();
  }
  if (*count == 0) offset.reset();
  if (!offset) {
    absl::StatusOr<Ints> bits = Decode(t);
    if (!bits.ok()) return bits.status();
    if (!is_weight) {
      return Tensor{g.Constant(*row.scalar, t.dims, *std::move(bits)), t.type, nullptr};
    }
    values = *std::move(bits);
  }
  BufferDecl decl;
  decl.role = Role::kParam;
  decl.dtype = *row.scalar;
  if (offset) decl.file = std::move(file);
  decl.offset = offset;
  decl.values = std::move(values);
  for (const int64_t d : t.dims) decl.shape.push_back({.size = d});
  const bool has_name = !t.name.empty() && (!is_weight || name_if_none.empty());
  return Tensor{g.Declare(has_name ? t.name : name_if_none, std::move(decl)), t.type, nullptr};
}

}  // namespace tg::onnx
