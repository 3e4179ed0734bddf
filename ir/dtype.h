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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tg {

enum class Scalar : uint8_t {
#define TG_SCALAR(name, text, bits, cls) name,
#include "ir/scalars.def"
#undef TG_SCALAR
};
inline constexpr int kNumScalars = 0
#define TG_SCALAR(name, text, bits, cls) +1
#include "ir/scalars.def"
#undef TG_SCALAR
    ;

enum class ScalarClass : uint8_t { kVoid, kBool, kSigned, kUnsigned, kFloat, kIndex };

// The address space of a pointer. kReg and kPrivate belong to one work-item. kReg is meant to
// become named variables, so that after unrolling it may only be indexed by constants.
enum class AddrSpace : uint8_t { kGlobal, kLocal, kPrivate, kReg };

struct ScalarInfo {
  std::string_view text;  // spelling in tg's text
  int bits;               // in memory
  ScalarClass cls;
};
inline constexpr ScalarInfo kScalarInfos[kNumScalars] = {
#define TG_SCALAR(name, text, bits, cls) {text, bits, ScalarClass::cls},
#include "ir/scalars.def"
#undef TG_SCALAR
};
constexpr const ScalarInfo& GetScalarInfo(Scalar s) { return kScalarInfos[static_cast<size_t>(s)]; }
std::string_view AddrSpaceName(AddrSpace s);

// The greatest number of lanes of a vector.
inline constexpr int64_t kMaxVectorLanes = 65535;

class DType {
 public:
  enum class Kind : uint8_t { kValue, kPointer, kImage };

  constexpr DType() = default;              // void
  constexpr DType(Scalar s, int lanes = 1)  // NOLINT: a scalar is a type
      : DType(s, Kind::kValue, AddrSpace::kGlobal, lanes, 0) {}

  // `size`: elements that may be accessed; kUnknownSize where the author does not say.
  static constexpr int64_t kUnknownSize = -1;
  static constexpr DType Pointer(Scalar element, int64_t size, AddrSpace space, int lanes = 1) {
    return DType(element, Kind::kPointer, space, lanes, size);
  }
  // `storage`: kF16 or kF32. The value type of its texels' channels is always kF32.
  static constexpr DType Image(Scalar storage, int32_t height, int32_t width, int lanes = 1) {
    return DType(storage, Kind::kImage, AddrSpace::kGlobal, lanes,
                 (static_cast<int64_t>(height) << 32) | static_cast<uint32_t>(width));
  }

  constexpr Kind kind() const { return static_cast<Kind>(Byte(1)); }
  constexpr bool is_value() const { return kind() == Kind::kValue; }
  constexpr bool is_pointer() const { return kind() == Kind::kPointer; }
  constexpr bool is_image() const { return kind() == Kind::kImage; }
  constexpr bool is_memory() const { return kind() != Kind::kValue; }
  constexpr bool is_void() const { return is_value() && scalar() == Scalar::kVoid; }

  // The scalar of a value, the element of a pointer in memory, or the storage type of an image.
  constexpr Scalar scalar() const { return static_cast<Scalar>(Byte(0)); }
  // The scalar that a load yields and a store takes (f32 for every image).
  constexpr Scalar value_scalar() const { return is_image() ? Scalar::kF32 : scalar(); }
  // Lanes of a value; number of addresses of a pointer or image.
  constexpr int lanes() const { return static_cast<int>(head_ >> 32); }
  constexpr AddrSpace space() const { return static_cast<AddrSpace>(Byte(2)); }
  // Elements behind a pointer (kUnknownSize possible); height * width * 4 for an image.
  constexpr int64_t size() const { return is_image() ? height() * width() * 4 : size_; }
  constexpr int64_t height() const { return size_ >> 32; }
  constexpr int64_t width() const { return size_ & 0xffffffff; }

  constexpr DType WithLanes(int n) const { return DType(scalar(), kind(), space(), n, size_); }
  constexpr DType WithScalar(Scalar s) const { return DType(s, kind(), space(), lanes(), size_); }

  ScalarClass cls() const { return GetScalarInfo(scalar()).cls; }
  bool is_float() const { return is_value() && cls() == ScalarClass::kFloat; }
  bool is_bool() const { return is_value() && scalar() == Scalar::kBool; }
  bool is_index() const { return is_value() && scalar() == Scalar::kIndex; }
  // Signed or unsigned integers that wrap; neither bool nor index.
  bool is_int() const {
    return is_value() && (cls() == ScalarClass::kSigned || cls() == ScalarClass::kUnsigned);
  }
  bool is_int_or_index() const { return is_int() || is_index(); }

  std::string ToString() const;

  friend constexpr bool operator==(const DType&, const DType&) = default;
  // The whole type as two words.
  constexpr std::pair<uint64_t, uint64_t> Words() const {
    return {head_, static_cast<uint64_t>(size_)};
  }
  constexpr size_t Hash() const {
    uint64_t h = (head_ & 0xffffff) | (head_ >> 32) << 24;
    h ^= static_cast<uint64_t>(size_) * 0x9e3779b97f4a7c15ull;
    return h * 0xff51afd7ed558ccdull;
  }

 private:
  constexpr DType(Scalar s, Kind kind, AddrSpace space, int lanes, int64_t size)
      : head_(static_cast<uint64_t>(s) | static_cast<uint64_t>(kind) << 8 |
              static_cast<uint64_t>(space) << 16 |
              static_cast<uint64_t>(static_cast<uint16_t>(lanes)) << 32),
        size_(size) {}
  constexpr uint8_t Byte(int i) const { return static_cast<uint8_t>(head_ >> (8 * i)); }

  // Scalar, kind and address space, a byte each, and the lanes from bit 32. One word, since a wide
  // load of fields that were stored separately stalls on store forwarding.
  uint64_t head_ = uint64_t{1} << 32;
  int64_t size_ = 0;
};
static_assert(sizeof(DType) == 16);

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
Scalar BitsType(Scalar s);  // the unsigned integer of the same width

// "f32" -> kF32; nullopt for anything else.
std::optional<Scalar> ScalarFromName(std::string_view text);
// Parses a whole type as printed by ToString.
std::optional<DType> DTypeFromString(std::string_view text);

}  // namespace tg

#endif  // TG_IR_DTYPE_H_
