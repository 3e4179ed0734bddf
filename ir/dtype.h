// The type of a UOp: a scalar, a vector of scalars, a pointer (or a vector of pointers), or an
// image.
//
// Text: `f32`, `f32x4`, `ptr<f32, 32>` (global, 32 elements), `ptr<f32, 8, local>`,
// `ptr<f32, 32>x4` (four addresses), `image<f16, 3, 8>` (height 3, width 8, four channels, stored
// as f16; its elements are f32).
//
// A pointer always points to scalars. How many consecutive elements an access moves is the lane
// count of the load's or the stored value's type, not a property of the pointer.
#ifndef TG_IR_DTYPE_H_
#define TG_IR_DTYPE_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace tg {

enum class Scalar : uint8_t {
#define TG_SCALAR(name, text, bits, cls, foreign) name,
#include "ir/scalars.def"
#undef TG_SCALAR
};
inline constexpr int kNumScalars = 0
#define TG_SCALAR(name, text, bits, cls, foreign) +1
#include "ir/scalars.def"
#undef TG_SCALAR
    ;

enum class ScalarClass : uint8_t { kVoid, kBool, kSigned, kUnsigned, kFloat, kIndex };

// Where a pointer's memory lives. kReg and kPrivate belong to one work-item; kReg is meant to
// become named variables and may only be indexed by constants once unrolled.
enum class AddrSpace : uint8_t { kGlobal, kLocal, kPrivate, kReg };

struct ScalarInfo {
  std::string_view text;  // spelling in tg's text
  int bits;               // in memory
  ScalarClass cls;
  std::string_view foreign;  // tinygrad's spellings, separated by '|'
};
inline constexpr ScalarInfo kScalarInfos[kNumScalars] = {
#define TG_SCALAR(name, text, bits, cls, foreign) {text, bits, ScalarClass::cls, foreign},
#include "ir/scalars.def"
#undef TG_SCALAR
};
constexpr const ScalarInfo& GetScalarInfo(Scalar s) { return kScalarInfos[static_cast<size_t>(s)]; }
std::string_view AddrSpaceName(AddrSpace s);

class DType {
 public:
  enum class Kind : uint8_t { kValue, kPointer, kImage };

  constexpr DType() = default;              // void
  constexpr DType(Scalar s, int lanes = 1)  // NOLINT: a scalar is a type
      : scalar_(s), lanes_(static_cast<uint16_t>(lanes)) {}

  // `size`: elements that may be accessed; kUnknownSize where the author does not say.
  static constexpr int64_t kUnknownSize = -1;
  static constexpr DType Pointer(Scalar element, int64_t size, AddrSpace space, int lanes = 1) {
    DType t(element, lanes);
    t.kind_ = Kind::kPointer;
    t.space_ = space;
    t.size_ = size;
    return t;
  }
  // `storage`: kF16 or kF32. The value type of its texels' channels is always kF32.
  static constexpr DType Image(Scalar storage, int32_t height, int32_t width, int lanes = 1) {
    DType t(storage, lanes);
    t.kind_ = Kind::kImage;
    t.size_ = (static_cast<int64_t>(height) << 32) | static_cast<uint32_t>(width);
    return t;
  }

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_value() const { return kind_ == Kind::kValue; }
  constexpr bool is_pointer() const { return kind_ == Kind::kPointer; }
  constexpr bool is_image() const { return kind_ == Kind::kImage; }
  constexpr bool is_memory() const { return kind_ != Kind::kValue; }
  constexpr bool is_void() const { return is_value() && scalar_ == Scalar::kVoid; }

  // Value: its scalar. Pointer: the element in memory. Image: the storage.
  constexpr Scalar scalar() const { return scalar_; }
  // The scalar that a load yields and a store takes (f32 for every image).
  constexpr Scalar value_scalar() const { return is_image() ? Scalar::kF32 : scalar_; }
  // Value: lanes. Pointer or image: number of addresses.
  constexpr int lanes() const { return lanes_; }
  constexpr AddrSpace space() const { return space_; }
  // Elements behind a pointer (kUnknownSize possible); height * width * 4 for an image.
  constexpr int64_t size() const { return is_image() ? height() * width() * 4 : size_; }
  constexpr int64_t height() const { return size_ >> 32; }
  constexpr int64_t width() const { return size_ & 0xffffffff; }

  constexpr DType WithLanes(int n) const {
    DType t = *this;
    t.lanes_ = static_cast<uint16_t>(n);
    return t;
  }
  constexpr DType WithScalar(Scalar s) const {
    DType t = *this;
    t.scalar_ = s;
    return t;
  }

  ScalarClass cls() const { return GetScalarInfo(scalar_).cls; }
  bool is_float() const { return is_value() && cls() == ScalarClass::kFloat; }
  bool is_bool() const { return is_value() && scalar_ == Scalar::kBool; }
  bool is_index() const { return is_value() && scalar_ == Scalar::kIndex; }
  // Signed or unsigned integers that wrap; neither bool nor index.
  bool is_int() const {
    return is_value() && (cls() == ScalarClass::kSigned || cls() == ScalarClass::kUnsigned);
  }
  bool is_int_or_index() const { return is_int() || is_index(); }

  std::string ToString() const;

  // All of it as two words.
  constexpr std::array<uint64_t, 2> Words() const {
    return std::bit_cast<std::array<uint64_t, 2>>(*this);
  }
  friend constexpr bool operator==(const DType& a, const DType& b) {
    return a.Words() == b.Words();
  }
  constexpr size_t Hash() const {
    uint64_t h = static_cast<uint64_t>(scalar_) | static_cast<uint64_t>(kind_) << 8 |
                 static_cast<uint64_t>(space_) << 16 | static_cast<uint64_t>(lanes_) << 24;
    h ^= static_cast<uint64_t>(size_) * 0x9e3779b97f4a7c15ull;
    return h * 0xff51afd7ed558ccdull;
  }

 private:
  Scalar scalar_ = Scalar::kVoid;
  Kind kind_ = Kind::kValue;
  AddrSpace space_ = AddrSpace::kGlobal;
  uint8_t unused_ = 0;  // no byte is left unset, see Words
  uint16_t lanes_ = 1;
  uint16_t unused_too_ = 0;
  int64_t size_ = 0;
};
static_assert(sizeof(DType) == 16 && std::has_unique_object_representations_v<DType>);

inline constexpr DType kVoid{};
inline constexpr DType kBool{Scalar::kBool};
inline constexpr DType kI32{Scalar::kI32};
inline constexpr DType kI64{Scalar::kI64};
inline constexpr DType kF16{Scalar::kF16};
inline constexpr DType kF32{Scalar::kF32};
inline constexpr DType kF64{Scalar::kF64};
inline constexpr DType kIndex{Scalar::kIndex};

constexpr bool IsFloat(Scalar s) { return GetScalarInfo(s).cls == ScalarClass::kFloat; }
// i8..i64
constexpr bool IsSigned(Scalar s) { return GetScalarInfo(s).cls == ScalarClass::kSigned; }
// u8..u64
constexpr bool IsUnsigned(Scalar s) { return GetScalarInfo(s).cls == ScalarClass::kUnsigned; }
constexpr bool IsInt(Scalar s) { return IsSigned(s) || IsUnsigned(s); }
constexpr int BitWidth(Scalar s) { return GetScalarInfo(s).bits; }
constexpr int64_t ByteSize(Scalar s) { return GetScalarInfo(s).bits / 8; }
Scalar BitsType(Scalar s);  // the unsigned integer of as many bits

// "f32" -> kF32; nullopt for anything else.
std::optional<Scalar> ScalarFromName(std::string_view text);
// Parses a whole type as printed by ToString.
std::optional<DType> DTypeFromString(std::string_view text);

}  // namespace tg

#endif  // TG_IR_DTYPE_H_
