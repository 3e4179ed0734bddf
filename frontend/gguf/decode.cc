// Decodes the elements of each tensor type from the fields of its blocks.
#include <array>

#include "frontend/gguf/blocks.h"
#include "frontend/gguf/weights.h"
#include "ir/value.h"

namespace tg::gguf {
namespace {

using enum Scalar;

class Decoder {
 public:
  Decoder(GraphBuilder& g, TensorType type, const std::vector<Value>& fields)
      : g_(g), type_(type), format_(FormatOf(type)), fields_(fields) {}

  std::vector<WeightPart> Run() {
    switch (type_) {
      case TensorType::kF32:
        return {{fields_[0]}};
      case TensorType::kF16:
      case TensorType::kBF16:
        return {{Float(fields_[0])}};
      case TensorType::kQ8_0:
        return {{Float(Field("qs", {32})), Scale("d", 1)}};
      case TensorType::kQ4_0:
      case TensorType::kQ4_1:
      case TensorType::kQ5_0:
      case TensorType::kQ5_1:
      case TensorType::kIQ4_NL:
      case TensorType::kMXFP4:
        return Halves();
      case TensorType::kQ2_K:
        return Q2K();
      case TensorType::kQ3_K:
        return Q3K();
      case TensorType::kQ4_K:
      case TensorType::kQ5_K:
        return Q45K();
      case TensorType::kQ6_K:
        return Q6K();
      case TensorType::kIQ4_XS:
        return Iq4Xs();
    }
    return {};
  }

 private:
  // A field of a block in this shape, [lead..., blocks, extents...].
  Value Field(std::string_view name, const Ints& extents) {
    for (size_t i = 0; i < format_.fields.size(); ++i) {
      if (format_.fields[i].name != name) continue;
      if (!fields_[i]) return nullptr;
      Shape shape = g_.ShapeOf(fields_[i]);
      if (format_.fields[i].count > 1) shape.pop_back();
      shape.insert(shape.end(), extents.begin(), extents.end());
      return g_.Reshape(fields_[i], shape);
    }
    return g_.Fail("a type without the field " + std::string(name));
  }
  // A scalar of each block in f32, with `rank` axes of extent 1 behind it.
  Value Scale(std::string_view name, size_t rank) { return Float(Field(name, Ints(rank, 1))); }

  Value Float(Value x) { return g_.Cast(x, kF32); }
  Value Number(Value x, int64_t n) { return x ? g_.ConstInt(x->dtype.scalar(), n) : nullptr; }
  Value Shr(Value x, int64_t bits) {
    return bits == 0 ? x : g_.Binary(Op::kShr, x, Number(x, bits));
  }
  Value Shr(Value x, Value bits) { return g_.Binary(Op::kShr, x, bits); }
  Value Shl(Value x, int64_t bits) { return g_.Binary(Op::kShl, x, Number(x, bits)); }
  Value Mask(Value x, int64_t bits) { return g_.And(x, Number(x, bits)); }
  Value Minus(Value x, double n) { return g_.Sub(x, g_.Like(x, n)); }
  // 0, step, 2 * step, ... in the type of shift amounts of `type`, of shape [count, 1...].
  Value Steps(Scalar type, int64_t count, int64_t step, size_t ones) {
    Shape shape(ones + 1, Dim(1));
    shape[0] = count;
    return g_.Reshape(g_.Mul(g_.Arange(type, count), g_.ConstInt(type, step)), shape);
  }
  // Element i of an axis, without it.
  Value At(Value x, int64_t axis, int64_t i) {
    return g_.Squeeze(g_.Slice(x, axis, i, i + 1), axis);
  }

  // A param with the values of a codebook, which all weights of the module share.
  Value Codebook(std::string_view name, const std::array<int8_t, 16>& values) {
    if (!g_.module().FindBuffer(name)) {
      BufferDecl decl;
      decl.name = name;
      decl.dtype = kF32;
      decl.role = Role::kParam;
      decl.shape = {{.size = 16}};
      decl.values.emplace();
      for (const int8_t v : values) decl.values->push_back(BitsFromDouble(kF32, v));
      g_.module().buffers.push_back(std::move(decl));
    }
    return g_.ir().Buffer(name, kF32);
  }
  Value Iq4Value(Value code) {
    return g_.Gather(Codebook("iq4_values", {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25,
                                             38, 53, 69, 89, 113}),
                     code, 0);
  }
  Value Mxfp4Value(Value code) {
    // Twice the values of E2M1, of which the scale is half.
    return g_.Gather(
        Codebook("mxfp4_values", {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}), code,
        0);
  }
  // 2^(e - 128), the least two of which are subnormal.
  Value HalfOfE8m0(Value e) {
    const Value bits = g_.Cast(e, kU32);
    const Value normal = Shl(g_.Sub(bits, Number(bits, 1)), 23);
    const Value subnormal = g_.Binary(Op::kShl, g_.ConstInt(kU32, 0x00200000), bits);
    return g_.Bitcast(g_.Where(g_.Lt(bits, Number(bits, 2)), subnormal, normal), kF32);
  }

  std::vector<WeightPart> Halves() {
    const Value qs = Field("qs", {16});
    std::vector<WeightPart> parts;
    const Value scale = type_ == TensorType::kMXFP4 ? HalfOfE8m0(Field("e", {1})) : Scale("d", 1);
    const bool has_minimum = type_ == TensorType::kQ4_1 || type_ == TensorType::kQ5_1;
    const Value offset = has_minimum ? Scale("m", 1) : nullptr;
    for (const int half : {0, 1}) {
      Value code = half == 0 ? Mask(qs, 15) : Shr(qs, 4);
      if (type_ == TensorType::kQ5_0 || type_ == TensorType::kQ5_1) {
        const Value places = g_.Add(Steps(kU32, 16, 1, 0), g_.ConstInt(kU32, 16 * half));
        const Value high = Mask(Shr(Field("qh", {1}), places), 1);
        code = g_.Or(g_.Cast(code, kU32), Shl(high, 4));
      }
      switch (type_) {
        case TensorType::kQ4_0:
          code = Minus(Float(code), 8);
          break;
        case TensorType::kQ5_0:
          code = Minus(Float(code), 16);
          break;
        case TensorType::kIQ4_NL:
          code = Iq4Value(code);
          break;
        case TensorType::kMXFP4:
          code = Mxfp4Value(code);
          break;
        default:
          code = Float(code);
      }
      parts.push_back({code, scale, offset});
    }
    return parts;
  }

  // The bits of row `row` of each half: [..., half, 2, 16].
  Value RowBits(int64_t row) { return Mask(Shr(Field("qs", {2, 2, 16}), 2 * row), 3); }

  std::vector<WeightPart> Q2K() {
    const Value scales = Field("scales", {2, 4, 2});
    std::vector<WeightPart> parts;
    for (int64_t row = 0; row < 4; ++row) {
      const Value s = g_.Unsqueeze(At(scales, -2, row), -1);
      parts.push_back({Float(RowBits(row)), g_.Mul(Scale("d", 3), Float(Mask(s, 15))),
                       g_.Neg(g_.Mul(Scale("dmin", 3), Float(Shr(s, 4))))});
    }
    return parts;
  }

  std::vector<WeightPart> Q3K() {
    const Value scales = Field("scales", {12});
    const Value halves = Steps(kU8, 2, 4, 1);  // [half, 1]
    std::vector<WeightPart> parts;
    for (int64_t row = 0; row < 4; ++row) {
      // Bytes 0 to 7 have the low bits of the scales: byte i % 8 has those of scale i, in its half
      // i / 8. Bytes 8 to 11 have the high bits of scale i in quarter i / 4.
      const Value low_bytes = g_.Unsqueeze(g_.Slice(scales, -1, 2 * row, 2 * row + 2), -2);
      const int64_t at = 8 + 2 * (row % 2);
      const Value high_bytes = g_.Unsqueeze(g_.Slice(scales, -1, at, at + 2), -2);
      const Value low = Mask(Shr(low_bytes, halves), 15);
      const Value high = Mask(Shr(high_bytes, g_.Add(halves, g_.ConstInt(kU8, row / 2 * 2))), 3);
      const Value s = g_.Unsqueeze(Minus(Float(g_.Or(low, Shl(high, 4))), 32), -1);
      // A set bit of the mask means that 4 is not subtracted.
      const Value places = g_.Unsqueeze(g_.Add(halves, g_.ConstInt(kU8, row)), -1);
      const Value bit = Mask(Shr(Field("hmask", {1, 2, 16}), places), 1);
      parts.push_back(
          {Minus(Float(g_.Or(RowBits(row), Shl(bit, 2))), 4), g_.Mul(Scale("d", 3), s)});
    }
    return parts;
  }

  std::vector<WeightPart> Q45K() {
    // Scales and minima have six bits. Those of rows 0 to 3 are in bytes 0 to 3 (scales) and 4 to 7
    // (minima). The others have four bits in bytes 8 to 11 and the upper two in bytes 0 to 7. The
    // result has one byte for each of [pair of rows, row of the pair].
    const Value scales = Field("scales", {3, 2, 2});
    std::vector<WeightPart> parts;
    for (const int64_t last : {0, 1}) {
      for (const int64_t row : {0, 1}) {
        const Value bytes = At(scales, -1, row);
        const Value a = At(bytes, -2, 0), b = At(bytes, -2, 1), c = At(bytes, -2, 2);
        const auto upper = [&](Value x) { return Mask(Shr(x, 2), 0x30); };
        const Value scale = last ? g_.Or(Mask(c, 15), upper(a)) : Mask(a, 63);
        const Value least = last ? g_.Or(Shr(c, 4), upper(b)) : Mask(b, 63);
        const Value qs = At(Field("qs", {2, 2, 32}), -3, last);
        Value code = row == 0 ? Mask(qs, 15) : Shr(qs, 4);
        if (type_ == TensorType::kQ5_K) {
          const Value places = g_.Add(Steps(kU8, 2, 2, 1), g_.ConstInt(kU8, 4 * last + row));
          const Value high = Mask(Shr(Field("qh", {1, 32}), places), 1);
          code = g_.Or(code, Shl(high, 4));
        }
        parts.push_back({Float(code), g_.Mul(Scale("d", 2), Float(g_.Unsqueeze(scale, -1))),
                         g_.Neg(g_.Mul(Scale("dmin", 2), Float(g_.Unsqueeze(least, -1))))});
      }
    }
    return parts;
  }

  std::vector<WeightPart> Q6K() {
    const Value scales = Field("scales", {2, 4, 2});
    const Value ql = Field("ql", {2, 2, 2, 16}), qh = Field("qh", {2, 2, 16});
    std::vector<WeightPart> parts;
    for (int64_t row = 0; row < 4; ++row) {
      const Value bytes = At(ql, -3, row % 2);
      const Value low = row < 2 ? Mask(bytes, 15) : Shr(bytes, 4);
      const Value high = Mask(Shr(qh, 2 * row), 3);
      parts.push_back({Minus(Float(g_.Or(low, Shl(high, 4))), 32),
                       g_.Mul(Scale("d", 3), Float(g_.Unsqueeze(At(scales, -2, row), -1)))});
    }
    return parts;
  }

  std::vector<WeightPart> Iq4Xs() {
    // A byte has the low four bits of the scales of a pair of rows, 16 bits the high two of all.
    const Value low = Mask(Shr(Field("scales_l", {4, 1}), Steps(kU8, 2, 4, 0)), 15);
    const Value places = g_.Reshape(Steps(Scalar::kU16, 8, 2, 0), {4, 2});
    const Value high = g_.Cast(Mask(Shr(Field("scales_h", {1, 1}), places), 3), kU8);
    const Value s = Minus(Float(g_.Or(low, Shl(high, 4))), 32);
    const Value scale = g_.Mul(Scale("d", 3), g_.Unsqueeze(s, -1));
    const Value qs = Field("qs", {4, 2, 16});
    return {{Iq4Value(Mask(qs, 15)), scale}, {Iq4Value(Shr(qs, 4)), scale}};
  }

  GraphBuilder& g_;
  const TensorType type_;
  const BlockFormat& format_;
  const std::vector<Value>& fields_;
};

}  // namespace

std::vector<WeightPart> Decode(GraphBuilder& g, TensorType type, const std::vector<Value>& fields) {
  return Decoder(g, type, fields).Run();
}

}  // namespace tg::gguf
