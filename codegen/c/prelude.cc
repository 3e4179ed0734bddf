#include "codegen/c/prelude.h"

#include "base/check.h"
#include "codegen/c/types.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/types.h"
#include "ir/value.h"

namespace tg::c {

using clike::Cat;
using clike::IntOfSize;

namespace {

constexpr char kIncludes[] = R"(#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "this code relies on NaN, infinities and the order of operations: compile it without -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "this code relies on floats that are rounded to their type: compile it with SSE2 on 32-bit x86"
#endif
)";

// GCC ignores the standard's pragma.
constexpr char kNoContraction[] = R"(#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif
)";

// Functions on vectors are inlined, so that calling conventions, which depend on the processor, do
// not matter.
constexpr char kVectors[] =
    "#pragma GCC diagnostic ignored \"-Wpsabi\"\n"
    "#define INLINE static inline __attribute__((always_inline))\n";
constexpr std::string_view kStaticInline = "static inline ";

std::string Lanes(int n, std::string_view text) {
  std::string out;
  for (int i = 0; i < n; ++i) out += Cat(i ? ", " : "", text);
  return out;
}

// A number as a literal of type `s`.
std::string Number(Scalar s, double value) {
  return Cat(static_cast<int64_t>(value), s == Scalar::kF32 ? ".0f" : ".0");
}

// 2^bits, in decimal digits, as a literal of type `s`.
std::string PowerOfTwo(Scalar s, int bits) {
  const std::string digits = bits == 64 ? "18446744073709551616" : Cat(uint64_t{1} << bits);
  return Cat(digits, s == Scalar::kF32 ? ".0f" : ".0");
}

}  // namespace

std::string Prelude::Add(std::string name, std::string text) {
  if (names_.insert(name).second) functions_.push_back({name, std::move(text)});
  return name;
}

void Prelude::AddType(const std::string& name, std::string text) {
  if (names_.insert(name).second) types_.push_back({name, std::move(text)});
}

std::string Prelude::Type(Scalar s, int lanes) {
  std::string name = TypeName(s, lanes);
  if (lanes > 1 && !Has(name)) {
    AddType(name, Cat("typedef ", MemoryType(s), " ", name, " __attribute__((vector_size(",
                      ByteSize(s) * lanes, ")));\n"));
  }
  return name;
}

std::string Prelude::MaskType(int bits, int lanes) { return Type(IntOfSize(bits, true), lanes); }

std::string Prelude::UnalignedType(Scalar memory, int lanes) {
  std::string name = Cat(Suffix(memory == Scalar::kBool ? Scalar::kU8 : memory, lanes), "_u");
  if (!Has(name)) {
    AddType(name,
            Cat("typedef ", MemoryType(memory), " ", name, " __attribute__((vector_size(",
                ByteSize(memory) * lanes, "), aligned(", ByteSize(memory), "), may_alias));\n"));
  }
  return name;
}

std::string Prelude::AliasType(Scalar memory) {
  std::string name = Cat(Suffix(memory, 1), "_a");
  AddType(name, Cat("typedef ", MemoryType(memory), " ", name, " __attribute__((may_alias));\n"));
  return name;
}

std::string Prelude::Splat(Scalar s, int lanes) {
  const std::string t = Type(s, lanes), name = Cat(t, "_of");
  if (Has(name)) return name;
  return Add(name, Cat("static inline ", t, " ", name, "(", MemoryType(s), " x) {\n  return (", t,
                       "){", Lanes(lanes, "x"), "};\n}\n"));
}

std::string Prelude::PickLanes(Scalar s, int lanes, std::span<const int64_t> picks) {
  const std::string from = Type(s, lanes), name = Cat(from, "_", LaneLetters(picks));
  if (Has(name)) return name;
  const std::string to = Type(s, static_cast<int>(picks.size()));
  std::string numbers;
  for (const int64_t lane : picks) numbers += Cat(", ", lane);
  return Add(name, Cat("static inline ", to, " ", name, "(", from,
                       " x) {\n  return __builtin_shufflevector(x, x", numbers, ");\n}\n"));
}

std::string Prelude::Concatenate(Scalar s, std::span<const int> parts) {
  std::string name = "cat", params;
  int total = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string t = Type(s, parts[i]);
    name += Cat("_", Suffix(s, parts[i]));
    params += Cat(i ? ", " : "", t, " x", i);
    total += parts[i];
  }
  if (Has(name)) return name;
  const std::string to = Type(s, total);
  std::string value;
  if (parts.size() == 2 && parts[0] == parts[1] && parts[0] > 1) {
    for (int i = 0; i < total; ++i) value += Cat(", ", i);
    value = Cat("__builtin_shufflevector(x0, x1", value, ")");
  } else {
    for (size_t i = 0; i < parts.size(); ++i) {
      for (int lane = 0; lane < parts[i]; ++lane) {
        value += Cat(value.empty() ? "" : ", ", "x", i, parts[i] == 1 ? "" : Cat("[", lane, "]"));
      }
    }
    value = Cat("(", to, "){", value, "}");
  }
  return Add(name,
             Cat("static inline ", to, " ", name, "(", params, ") {\n  return ", value, ";\n}\n"));
}

std::string Prelude::Select(Scalar s, int lanes) {
  const std::string t = Type(s, lanes), name = Cat("select_", t);
  if (Has(name)) return name;
  const std::string m = MaskType(BitWidth(s), lanes);
  return Add(name, Cat("static inline ", t, " ", name, "(", m, " m, ", t, " a, ", t,
                       " b) {\n  return (", t, ")((m & (", m, ")a) | (~m & (", m, ")b));\n}\n"));
}

std::string Prelude::DefineOp(Op op, Scalar s, int lanes) {
  if (op == Op::kWhere) return Select(s, lanes);
  const std::string t = Type(s, lanes), name = Cat(Mnemonic(op), "_", t);
  if (Has(name)) return name;
  const bool binary =
      op != Op::kExp2 && op != Op::kLog2 && op != Op::kSin && op != Op::kSqrt && op != Op::kTrunc;
  const std::string head =
      Cat("static inline ", t, " ", name, "(", t, binary ? Cat(" a, ", t, " b") : " x", ") {");
  switch (op) {
    case Op::kMax:
    case Op::kMin: {
      const std::string before = op == Op::kMax ? "a < b" : "b < a";
      const std::string takes = IsFloat(s) ? Cat("(", before, ") | (b != b)") : before;
      const std::string comment = IsFloat(s) ? "  // NaN wins" : "";
      if (lanes > 1) {
        return Add(
            name, Cat(head, comment, "\n  return ", Select(s, lanes), "(", takes, ", b, a);\n}\n"));
      }
      return Add(name, Cat(head, comment, "\n  return ", IsFloat(s) ? Cat("(", takes, ")") : takes,
                           " ? b : a;\n}\n"));
    }
    case Op::kFloorDiv:
    case Op::kFloorMod: {
      const bool div = op == Op::kFloorDiv;
      if (lanes > 1) {
        const std::string m = MaskType(BitWidth(s), lanes);
        return Add(name, Cat(head, "\n  const ", t, " r = a % b;\n  const ", m,
                             " down = (r != 0) & ((r ^ b) < 0);\n  return ",
                             div ? "a / b + down" : "r + (b & down)", ";\n}\n"));
      }
      return Add(name, Cat(head, "\n  const ", t, " r = (", t,
                           ")(a % b);\n  const bool down = r != 0 && (r ^ b) < 0;\n  return (", t,
                           ")(", div ? "a / b - down" : "down ? r + b : r", ");\n}\n"));
    }
    default: {
      const std::string call = Cat(Mnemonic(op), s == Scalar::kF32 ? "f" : "");
      if (lanes == 1) {
        return Add(name, Cat(head, "\n  return ", call, binary ? "(a, b)" : "(x)", ";\n}\n"));
      }
      const std::string one = binary ? "a" : "x";
      return Add(name, Cat(head, "\n  for (int i = 0; i < ", lanes, "; i++) ", one, "[i] = ", call,
                           binary ? "(a[i], b[i])" : "(x[i])", ";\n  return ", one, ";\n}\n"));
    }
  }
}

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
    if (to == Scalar::kU64 && max) return Literal(type, -1, /*exact=*/true);
    return Literal(type, WrapInt(type, max ? MaxValue(to) : MinValue(to)), /*exact=*/true);
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

std::string Prelude::Strided(Op access, Scalar memory, int lanes) {
  const bool load = access == Op::kLoad;
  const std::string t = Type(memory, lanes), name = Cat(load ? "gather_" : "scatter_", t);
  if (Has(name)) return name;
  const std::string element = AliasType(memory);
  std::string text = Cat("static inline ", load ? t : "void", " ", name, "(", load ? "const " : "",
                         element, "* p, int64_t s", load ? "" : Cat(", ", t, " x"), ") {\n",
                         load ? Cat("  return (", t, "){") : "");
  for (int i = 0; i < lanes; ++i) {
    const std::string at = i == 0 ? "p[0]" : i == 1 ? "p[s]" : Cat("p[", i, " * s]");
    text += load ? Cat(i == 0       ? ""
                       : i % 8 == 0 ? ",\n      "
                                    : ", ",
                       at)
                 : Cat("  ", at, " = x[", i, "];\n");
  }
  return Add(name, text + (load ? "};\n}\n" : "}\n"));
}

std::string Prelude::CopyTransposed(Scalar memory) {
  const std::string name = Cat("copy_transposed_", Suffix(memory, 1)), t(MemoryType(memory));
  if (Has(name)) return name;
  return Add(name, Cat("static inline void ", name, "(", t, "* to, int64_t t, const ", t,
                       "* from, int64_t f, int rows,\n", std::string(name.size() + 20, ' '),
                       "int columns) {\n  for (int r = 0; r < rows; r++) {\n"
                       "    for (int c = 0; c < columns; c++) to[c * t + r] = from[r * f + c];\n"
                       "  }\n}\n"));
}

std::string Prelude::ReadAhead() {
  // The address need not be one of an object, so it is made of integers.
  return Add("read_ahead",
             "static inline void read_ahead(const void* p) {\n"
             "  __builtin_prefetch((const void*)((uintptr_t)p + 4096));\n}\n");
}

void Prelude::Merge(const Prelude& other) {
  no_contraction_ |= other.no_contraction_;
  for (const Piece& p : other.types_) AddType(p.name, p.text);
  for (const Piece& p : other.functions_) Add(p.name, p.text);
}

std::string Prelude::Text() const {
  std::string out = kIncludes;
  if (no_contraction_) out += kNoContraction;
  if (!types_.empty()) out += kVectors;
  for (const std::vector<Piece>* pieces : {&types_, &functions_}) {
    if (!pieces->empty()) out += '\n';
    for (const Piece& p : *pieces) {
      const bool always = !types_.empty() && p.text.starts_with(kStaticInline);
      out += always ? Cat("INLINE ", p.text.substr(kStaticInline.size())) : p.text;
    }
  }
  return out + "\n";
}

}  // namespace tg::c
