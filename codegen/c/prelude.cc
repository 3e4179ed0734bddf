#include "codegen/c/prelude.h"

#include "base/check.h"
#include "codegen/c/types.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/functions.h"
#include "codegen/clike/types.h"

namespace tg::c {

using clike::Append;
using clike::Cat;
using clike::IntOfSize;

namespace {

constexpr char kIncludes[] = R"(#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
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
  return Add(name,
             Cat("static inline ", t, " ", name, "(", MemoryType(s), " x) {\n  return (", t, "){",
                 clike::LaneList(lanes, [](int) { return std::string("x"); }), "};\n}\n"));
}

std::string Prelude::PickLanes(Scalar s, int lanes, std::span<const int64_t> picks) {
  const std::string from = Type(s, lanes), name = Cat(from, "_", "s", clike::LaneDigits(picks));
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
      const std::string takes(IsFloat(s)       ? clike::TakesSecond(op)
                              : op == Op::kMax ? "a < b"
                                               : "b < a");
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

std::string Prelude::Strided(Op access, Scalar memory, int lanes) {
  const bool load = access == Op::kLoad;
  const std::string t = Type(memory, lanes), name = Cat(load ? "gather_" : "scatter_", t);
  if (Has(name)) return name;
  const std::string element = AliasType(memory);
  std::string text = Cat("static inline ", load ? t : "void", " ", name, "(", load ? "const " : "",
                         element, "* p, int64_t s", load ? "" : Cat(", ", t, " x"), ") {\n");
  if (load) {
    Append(text, "  return (", t, "){", clike::LaneList(lanes, clike::StridedElement), "};\n");
  }
  for (int i = 0; i < lanes && !load; ++i) {
    Append(text, "  ", clike::StridedElement(i), " = x[", i, "];\n");
  }
  return Add(name, text + "}\n");
}

std::string Prelude::CopyTransposed(Scalar memory) {
  const std::string name = Cat("copy_transposed_", Suffix(memory, 1)), t(MemoryType(memory));
  if (Has(name)) return name;
  return Add(name, Cat("static inline void ", name, "(", t, "* to, int64_t t, const ", t,
                       "* from, int64_t f, int rows,\n", std::string(name.size() + 20, ' '),
                       "int columns) {\n", clike::kCopyTransposedBody));
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
