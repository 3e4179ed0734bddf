#include "codegen/opencl/prelude.h"

#include <map>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/functions.h"
#include "codegen/opencl/types.h"
#include "ir/transpose.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::opencl {

using clike::Append;
using clike::Cat;
using clike::kLaneDigits;

std::string Prelude::UnalignedType(Scalar memory, int lanes) {
  std::string name = Cat(MemoryType(memory), lanes, "_u");
  if (unaligned_.insert({memory, lanes}).second) {
    types_.insert(Cat("typedef ", MemoryType(memory), lanes, " ", name, " __attribute__((aligned(",
                      ByteSize(memory), ")));\n"));
  }
  return name;
}

std::string Prelude::AliasType(Scalar memory) {
  std::string name = Cat(MemoryType(memory), "_a");
  types_.insert(Cat("typedef ", MemoryType(memory), " ", name, " __attribute__((may_alias));\n"));
  return name;
}

void Prelude::Define(Op op, Scalar s, int lanes) {
  const std::string t = ValueType(s, lanes);
  std::string text;
  switch (op) {
    case Op::kMax:
    case Op::kMin:
      if (IsInt(s)) {
        // NVIDIA evaluates max(x, (short)0) != 0 as false for every x.
        text = absl::StrCat("(", t, " a, ", t, " b) {\n  const int x = a, y = b;\n  return (", t,
                            ")(", std::string(Mnemonic(op)), "(x, y));\n}\n");
        break;
      }
      text = Cat("(", t, " a, ", t, " b) {  // NaN wins\n  return (", clike::TakesSecond(op),
                 ") ? b : a;\n}\n");
      break;
    case Op::kDot4:
      text =
          "(int a, int b, int c) {\n  int d;\n  asm(\"dp4a.u32.s32 %0, %1, %2, %3;\" : \"=r\"(d) : "
          "\"r\"(a), \"r\"(b), \"r\"(c));\n  return d;\n}\n";
      break;
    case Op::kFloorDiv:
    case Op::kFloorMod: {
      const bool div = op == Op::kFloorDiv;
      text = absl::StrCat("(", t, " a, ", t, " b) {\n  const ", t, " r = a % b;\n  return ((r != (",
                          t, ")0) & ((r ^ b) < (", t, ")0)) ? ", div ? "a / b - (" : "r + ",
                          div ? t + ")1 : a / b" : "b : r", ";\n}\n");
      break;
    }
    case Op::kSin:
      // In PoCL 3.1 small lanes have an error of 2^-7 if another lane is large or not finite.
      text = absl::StrCat("(", t, " a) {\n  const ", t, " small = fabs(a) < 1.0f ? a : (", t,
                          ")0;\n  return fabs(a) < 1.0f ? sin(small) : sin(a);\n}\n");
      break;
    case Op::kPow: {
      // PoCL 3.1 returns infinity in all eight lanes if one of them overflows.
      static constexpr const char* kQuarters[] = {".lo",    ".hi",    ".lo.lo",
                                                  ".lo.hi", ".hi.lo", ".hi.hi"};
      std::string parts;
      for (int i = lanes == 8 ? 0 : 2; i < (lanes == 8 ? 2 : 6); ++i) {
        absl::StrAppend(&parts, parts.empty() ? "" : ", ", "pow(a", kQuarters[i], ", b",
                        kQuarters[i], ")");
      }
      text = absl::StrCat("(", t, " a, ", t, " b) {\n  return (", t, ")(", parts, ");\n}\n");
      break;
    }
    default:
      TG_UNREACHABLE();
  }
  functions_.insert(
      absl::StrCat("static inline ", t, " ", std::string(Mnemonic(op)), "_", t, text));
}

std::string Prelude::BitCast(const std::string& from, const std::string& to) {
  if (!from.starts_with("half") && !to.starts_with("half")) return "as_" + to;
  std::string name = absl::StrCat(to, "_of_", from);
  casts_.insert(absl::StrCat("static inline ", to, " ", name, "(", from, " x) {\n  union { ", from,
                             " from; ", to, " to; } bits;\n  bits.from = x;\n",
                             "  return bits.to;\n}\n"));
  return name;
}

std::string Prelude::HalvesOfWords(int lanes) {
  const std::string word = BitCast("uint", "half2");
  const std::string t = Cat("half", lanes), from = Cat("uint", lanes / 2), name = t + "_of_words";
  std::string parts;
  for (int i = 0; i < lanes / 2; ++i) parts += Cat(i ? ", " : "", word, "(x.s", i, ")");
  functions_.insert(Cat("static inline ", t, " ", name, "(", from, " x) {\n  return (", t, ")(",
                        parts, ");\n}\n"));
  return name;
}

std::string Prelude::WordsOfHalves(int lanes) {
  const std::string word = BitCast("half2", "uint");
  const std::string t = Cat("uint", lanes / 2), from = Cat("half", lanes),
                    name = "words_of_" + from;
  std::string parts;
  for (int i = 0; i < lanes; i += 2) {
    parts += Cat(i ? ", " : "", word, "(x.s", kLaneDigits.substr(static_cast<size_t>(i), 2), ")");
  }
  functions_.insert(Cat("static inline ", t, " ", name, "(", from, " x) {\n  return (", t, ")(",
                        parts, ");\n}\n"));
  return name;
}

std::string Prelude::FloatToInt(Scalar from, Scalar to, int lanes) {
  const std::string f = ValueType(from, lanes), t = ValueType(to, lanes);
  // OpenCL recommends but does not require 0 for a NaN.
  std::string name = absl::StrCat(t, "_from_", f);
  const std::string head =
      absl::StrCat("static inline ", t, " ", name, "(", f, " x) {  // NaN gives 0\n");
  const int bits = BitWidth(to);
  if (bits > 16 || BitWidth(from) < 32) {
    functions_.insert(
        absl::StrCat(head, "  return convert_", t, "_sat(x != x ? (", f, ")0 : x);\n}\n"));
    return name;
  }
  // Devices saturate to 32 bits, but to narrow integers lane by lane.
  const bool is_signed = IsSigned(to);
  const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const std::string zero = absl::StrCat("(", f, ")0"), most = absl::StrCat("(", f, ")", high),
                    least = absl::StrCat("(", f, ")", is_signed ? -high - 1 : 0);
  functions_.insert(absl::StrCat(
      head, is_signed ? absl::StrCat("  x = x != x ? ", zero, " : x;\n") : "", "  x = x > ", least,
      " ? x : ", least, ";\n", "  return convert_", t, "(convert_", ValueType(Scalar::kI32, lanes),
      "(x < ", most, " ? x : ", most, "));\n}\n"));
  return name;
}

std::string Prelude::ConvertLanes(Scalar from, Scalar to, int lanes) {
  const std::string f = ValueType(from, lanes), t = ValueType(to, lanes), one = ValueType(to, 1);
  std::string name = absl::StrCat(t, "_from_", f);
  const std::string list = clike::LaneList(lanes, [&](int i) {
    return Cat("(", one, ")x.s", kLaneDigits.substr(static_cast<size_t>(i), 1));
  });
  functions_.insert(
      Cat("static inline ", t, " ", name, "(", f, " x) {\n  return (", t, ")(", list, ");\n}\n"));
  return name;
}

std::string Prelude::FloatsOfHalves(int lanes) {
  std::string name = absl::StrCat("float", lanes, "_of_halves");
  functions_.insert(absl::StrCat("static inline float", lanes, " ", name, "(ushort", lanes,
                                 " x) {\n  return vload_half", lanes,
                                 "(0, (const half*)&x);\n}\n"));
  return name;
}

std::string Prelude::HalvesOfFloats(int lanes) {
  std::string name = absl::StrCat("halves_of_float", lanes);
  functions_.insert(absl::StrCat("static inline ushort", lanes, " ", name, "(float", lanes,
                                 " x) {\n  ushort", lanes, " halves;\n  vstore_half", lanes,
                                 "_rte(x, 0, (half*)&halves);\n  return halves;\n}\n"));
  return name;
}

std::string Prelude::LoadHalf() {
  functions_.insert(
      "#if defined(__clang__) && defined(__F16C__)\n"
      "#define load_half(p) __builtin_load_halff(p)\n"
      "#else\n#define load_half(p) vload_half(0, p)\n#endif\n");
  return "load_half";
}

std::string Prelude::StoreHalf() {
  functions_.insert(
      "#if defined(__clang__) && defined(__F16C__)\n"
      "#define store_half(x, p) __builtin_store_halff(x, p)\n"
      "#else\n#define store_half(x, p) vstore_half_rte(x, 0, p)\n#endif\n");
  return "store_half";
}

std::string Prelude::ReadAhead() {
  functions_.insert(
      "#if defined(__clang__) && defined(__x86_64__)\n"
      "#define read_ahead(p) __builtin_prefetch((const void*)(size_t)(p))\n"
      "#else\n#define read_ahead(p)\n#endif\n");
  return "read_ahead";
}

std::string Prelude::Strided(Op access, AddrSpace space, Scalar memory, int lanes) {
  const bool load = access == Op::kLoad;
  const std::string element(MemoryType(memory)), vector = absl::StrCat(element, lanes);
  std::string name = load ? "gather_" : "scatter_";
  if (space != AddrSpace::kGlobal) absl::StrAppend(&name, std::string(AddrSpaceName(space)), "_");
  absl::StrAppend(&name, vector);
  if (!strided_.insert(name).second) return name;
  std::string text = Cat("static inline ", load ? vector : "void", " ", name, "(",
                         SpacePrefix(space), load ? "const " : "", element, "* p, int s",
                         load ? "" : Cat(", ", vector, " x"), ") {\n");
  if (load) {
    Append(text, "  return (", vector, ")(", clike::LaneList(lanes, clike::StridedElement), ");\n");
  }
  for (int i = 0; i < lanes && !load; ++i) {
    Append(text, "  ", clike::StridedElement(i), " = x.s",
           kLaneDigits.substr(static_cast<size_t>(i), 1), ";\n");
  }
  text += "}\n";
  functions_.insert(std::move(text));
  return name;
}

namespace {

// A function's text is long and shared by many kernels, so it is made once.
const std::string& CachedText(const std::string& name, llvm::function_ref<std::string()> make) {
  static std::mutex mutex;
  static auto& texts = *new std::map<std::string, std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::string& text = texts[name];
  if (text.empty()) text = make();
  return text;
}

// `unaligned` is the type of a vector in memory; a single element has none.
std::string CopyTransposedText(const std::string& name, AddrSpace to, AddrSpace from, Scalar memory,
                               int n, const std::string& unaligned) {
  const std::string element(MemoryType(memory)), vector = n == 1 ? element : Cat(element, n);
  const std::string target(SpacePrefix(to)), source = Cat(SpacePrefix(from), "const ");
  // The function must be inlined. A call would hide its constant strides, and with AVX-512 the
  // compiler would use vectors of half the width, since no argument is a vector.
  std::string text = Cat("static inline __attribute__((always_inline)) void ", name, "(", target,
                         element, "* to, int t, ", source, element, "* from, int f");
  if (n == 1) {
    return Cat(text, ", int rows, int columns) {\n", clike::kCopyTransposedBody);
  }
  text += ") {\n";
  const auto line = [&](auto&&... parts) { text += Cat("  ", parts..., "\n"); };
  // The names of the vectors of round k begin with the k-th letter.
  const auto named = [](size_t round, size_t i) { return Cat(std::string(1, "abcdef"[round]), i); };
  const auto width = static_cast<size_t>(n);
  for (size_t i = 0; i < width; ++i) {
    line("const ", vector, " ", named(0, i), " = *(", source, unaligned, "*)(from + ", i, " * f);");
  }
  const auto rounds = TransposeRounds(width, ByteSize(memory));
  for (size_t k = 0; k < rounds.size(); ++k) {
    for (size_t i = 0; i < width; ++i) {
      const TransposeStep& step = rounds[k][i];
      line("const ", vector, " ", named(k + 1, i), " = ((", vector, ")(", named(k, step.first),
           ".s", clike::LaneDigits(step.lanes), ", ", named(k, step.second), ".s",
           clike::LaneDigits(step.lanes), "))", ".s", clike::LaneDigits(step.order), ";");
    }
  }
  for (size_t i = 0; i < width; ++i) {
    line("*(", target, unaligned, "*)(to + ", i, " * t) = ", named(rounds.size(), i), ";");
  }
  text += "}\n";
  return text;
}

}  // namespace

std::string Prelude::CopyTransposed(AddrSpace to, AddrSpace from, Scalar memory, int n) {
  const std::string element(MemoryType(memory));
  std::string name = "copy_transposed_";
  if (!SpacePrefix(to).empty()) absl::StrAppend(&name, std::string(AddrSpaceName(to)), "_");
  if (from != AddrSpace::kGlobal)
    absl::StrAppend(&name, "of_", std::string(AddrSpaceName(from)), "_");
  absl::StrAppend(&name, n == 1 ? element : Cat(element, n));
  if (!strided_.insert(name).second) return name;
  const std::string unaligned = n == 1 ? "" : UnalignedType(memory, n);
  functions_.insert(
      CachedText(name, [&] { return CopyTransposedText(name, to, from, memory, n, unaligned); }));
  return name;
}

std::string Prelude::Outlined(const std::string& function, const std::string& suffix,
                              const std::string& result, const std::string& parameters,
                              const std::string& arguments) {
  std::string name = absl::StrCat("call_", function, suffix);
  outlined_.insert(absl::StrCat("static __attribute__((noinline)) ", result, " ", name, "(",
                                parameters, ") {\n  ", result == "void" ? "" : "return ", function,
                                "(", arguments, ");\n}\n"));
  return name;
}

void Prelude::Merge(const Prelude& other) {
  no_contraction_ |= other.no_contraction_;
  fp16_ |= other.fp16_;
  fp64_ |= other.fp64_;
  wide_vectors_ |= other.wide_vectors_;
  sampler_ |= other.sampler_;
  types_.insert(other.types_.begin(), other.types_.end());
  casts_.insert(other.casts_.begin(), other.casts_.end());
  functions_.insert(other.functions_.begin(), other.functions_.end());
  outlined_.insert(other.outlined_.begin(), other.outlined_.end());
}

std::string Prelude::Text() const {
  std::string out;
  if (fp16_) out += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  if (fp64_) out += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (wide_vectors_) out += "#pragma clang diagnostic ignored \"-Wpsabi\"\n";
  if (no_contraction_) out += "#pragma OPENCL FP_CONTRACT OFF\n";
  if (sampler_) {
    out +=
        "__constant sampler_t nearest =\n"
        "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n";
  }
  for (const std::string& t : types_) out += t;
  for (const std::string& f : casts_) out += f;
  for (const std::string& f : functions_) out += f;
  for (const std::string& f : outlined_) out += f;
  if (!out.empty()) out += "\n";
  return out;
}

}  // namespace tg::opencl
