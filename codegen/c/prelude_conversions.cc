// The functions that convert: floats to integers, halves in memory, bits.
#include "codegen/c/prelude.h"
#include "codegen/c/types.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/types.h"
#include "ir/value.h"

namespace tg::c {

using clike::Cat;
using clike::IntOfSize;

namespace {

// A number as a literal of type `s`.
std::string Number(Scalar s, double value) {
  return Cat(static_cast<int64_t>(value), s == Scalar::kF32 ? ".0f" : ".0");
}

// 2^bits, in decimal digits, as a literal of type `s`.
std::string PowerOfTwo(Scalar s, int bits) {
  const std::string digits = bits == 64 ? "18446744073709551616" : Cat(uint64_t{1} << bits);
  return Cat(digits, s == Scalar::kF32 ? ".0f" : ".0");
}

// An integer with its exact type.
std::string Exact(Scalar s, int64_t value) {
  return clike::LiteralOf(kWords, s, value, /*exact=*/true, [] { return std::string(); });
}

}  // namespace

std::string Prelude::FloatToInt(Scalar from, Scalar to, int lanes) {
  const std::string f = Type(from, lanes), t = Type(to, lanes);
  const std::string name = Cat(Suffix(to, lanes), "_from_", Suffix(from, lanes));
  if (Has(name)) return name;
  const bool is_signed = IsSigned(to);
  const int bits = BitWidth(to), width = BitWidth(from);
  const std::string least = is_signed ? Cat("-", PowerOfTwo(from, bits - 1)) : Number(from, 0);
  const std::string beyond = PowerOfTwo(from, is_signed ? bits - 1 : bits);
  const std::string head =
      Cat("static inline ", t, " ", name, "(", f, " x) {  // truncates, saturates; NaN gives 0\n");
  const auto limit = [&](Scalar type, bool max) {
    if (type == Scalar::kU64) return std::string(max ? "UINT64_MAX" : "0");
    if (to == Scalar::kU64 && max) return Exact(type, -1);
    return Exact(type, WrapInt(type, max ? MaxValue(to) : MinValue(to)));
  };
  if (lanes == 1) {
    return Add(name, Cat(head, "  return x != x ? 0 : x <= ", least, " ? ", limit(to, false),
                         " : x >= ", beyond, " ? ", limit(to, true), " : (", t, ")x;\n}\n"));
  }
  if (bits > width) {
    const std::string wide = Type(Scalar::kF64, lanes);
    const std::string convert = FloatToInt(Scalar::kF64, to, lanes);
    return Add(name,
               Cat(head, "  return ", convert, "(__builtin_convertvector(x, ", wide, "));\n}\n"));
  }
  // Converts to integers as wide as the floats, and these to narrow ones.
  const Scalar same = IntOfSize(width, is_signed || bits < width);
  const Scalar mask = IntOfSize(width, true);
  const std::string m = Type(mask, lanes), wide = Type(same, lanes);
  const std::string select = Select(from, lanes);
  std::string body =
      Cat("  const ", m, " low = x <= ", least, ", high = x >= ", beyond, ";\n", "  const ", m,
          " inside = ~(low | high) & (x == x);\n", "  const ", wide,
          " y = __builtin_convertvector(", select, "(inside, x, (", f, "){0}), ", wide, ");\n");
  const std::string all = Cat("y | (", wide, ")(low & ", limit(mask, false), ") | (", wide,
                              ")(high & ", limit(mask, true), ")");
  body += bits == width ? Cat("  return ", all, ";\n}\n")
                        : Cat("  return __builtin_convertvector(", all, ", ", t, ");\n}\n");
  return Add(name, head + body);
}

std::string Prelude::BitsAs(Scalar from, Scalar to) {
  const std::string name = Cat(Suffix(to, 1), "_of_", Suffix(from, 1));
  if (Has(name)) return name;
  return Add(name,
             Cat("static inline ", MemoryType(to), " ", name, "(", MemoryType(from), " x) {\n  ",
                 MemoryType(to), " y;\n  memcpy(&y, &x, sizeof y);\n", "  return y;\n}\n"));
}

std::string Prelude::LoadAs(Scalar s) {
  const std::string name = Cat("load_", Suffix(s, 1));
  if (Has(name)) return name;
  return Add(name, Cat("static inline ", MemoryType(s), " ", name, "(const void* p) {\n  ",
                       MemoryType(s), " x;\n  memcpy(&x, p, sizeof x);\n  return x;\n}\n"));
}

std::string Prelude::StoreAs(Scalar s) {
  const std::string name = Cat("store_", Suffix(s, 1));
  if (Has(name)) return name;
  return Add(name, Cat("static inline void ", name, "(void* p, ", MemoryType(s),
                       " x) {\n  memcpy(p, &x, sizeof x);\n}\n"));
}

std::string Prelude::LoadHalves(int lanes) {
  const std::string name = lanes == 1 ? "f32_of_half" : Cat("load_halves_f32x", lanes);
  if (Has(name)) return name;
  if (lanes > 1) {
    const std::string one = LoadHalves(1), t = Type(Scalar::kF32, lanes);
    return Add(name, Cat("static inline ", t, " ", name, "(const uint16_t* p) {\n  ", t,
                         " x = {0};\n  for (int i = 0; i < ", lanes, "; i++) x[i] = ", one,
                         "(p[i]);\n  return x;\n}\n"));
  }
  const std::string bits = BitsAs(Scalar::kU32, Scalar::kF32);
  return Add(name, Cat(R"(#ifdef __F16C__
#include <immintrin.h>
static inline float f32_of_half(uint16_t h) { return _cvtsh_ss(h); }
#else
static inline float f32_of_half(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
  if (rest >= 0x0f800000u) return f32_of_u32(sign | 0x7f800000u | rest);  // infinity, NaN
  if (rest >= 0x00800000u) return f32_of_u32(sign | (rest + 0x38000000u));
  const float small = (float)(h & 0x03ff) * 0x1p-24f;  // 0 and subnormals
  return sign ? -small : small;
}
#endif
)"));
}

std::string Prelude::StoreHalves(int lanes) {
  const std::string name = lanes == 1 ? "half_of_f32" : Cat("store_halves_f32x", lanes);
  if (Has(name)) return name;
  if (lanes > 1) {
    const std::string one = StoreHalves(1), t = Type(Scalar::kF32, lanes);
    return Add(
        name, Cat("static inline void ", name, "(uint16_t* p, ", t, " x) {\n  for (int i = 0; i < ",
                  lanes, "; i++) p[i] = ", one, "(x[i]);\n}\n"));
  }
  BitsAs(Scalar::kF32, Scalar::kU32);
  BitsAs(Scalar::kU32, Scalar::kF32);
  return Add(name, R"(#ifdef __F16C__
#include <immintrin.h>
static inline uint16_t half_of_f32(float x) { return (uint16_t)_cvtss_sh(x, 0); }
#else
static inline uint16_t half_of_f32(float x) {  // rounds to nearest, ties to even
  const uint32_t u = u32_of_f32(x), sign = u >> 16 & 0x8000u, rest = u & 0x7fffffffu;
  if (rest > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));  // NaN
  if (rest >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);  // infinity
  if (rest < 0x38800000u) {  // 0 and subnormals: the last place of 0.5f is theirs
    return (uint16_t)(sign | (u32_of_f32(f32_of_u32(rest) + 0.5f) - 0x3f000000u));
  }
  return (uint16_t)(sign | ((rest + 0xfffu + (rest >> 13 & 1u) - 0x38000000u) >> 13));
}
#endif
)");
}

}  // namespace tg::c
