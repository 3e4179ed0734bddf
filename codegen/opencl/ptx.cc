#include "codegen/opencl/ptx.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "ir/matrix/hopper_comment.h"
#include "ir/matrix/matrix_instruction.h"

namespace tg::opencl {
namespace {

std::string PtxType(Scalar type, bool tf32) {
  switch (type) {
    case Scalar::kF16:
      return "f16";
    case Scalar::kBF16:
      return "bf16";
    case Scalar::kF32:
      return tf32 ? "tf32" : "f32";
    case Scalar::kI8:
      return "s8";
    case Scalar::kU8:
      return "u8";
    case Scalar::kI32:
      return "s32";
    default:
      TG_UNREACHABLE();
  }
}

std::string Uint(int n) { return n == 1 ? "uint" : absl::StrCat("uint", n); }
// Returns register `i` of a value of `n` registers.
std::string Part(std::string_view value, int n, int i) {
  return n == 1 ? std::string(value) : absl::StrCat(std::string(value), ".s", i);
}

// Returns "{%0, %1}", numbered from `first`.
std::string Registers(int first, int n) {
  std::string text = "{";
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, i ? ", " : "", "%", first + i);
  return text + "}";
}

// Functions of the two parts of `n` numbers (MatrixInstruction::in_parts). The first part of what
// is beyond the greatest tf32, infinities included, is that one, so that the second has the rest;
// of NaN, the second part is NaN.
std::string PartsFunction(int n, bool is_first) {
  const std::string type = Uint(n), value = absl::StrCat("float", n);
  std::string text;
  if (is_first) {
    text =
        "static inline float least_magnitude(float a, float b) {\n  float result;\n"
        "  asm(\"min.xorsign.abs.f32 %0, %1, %2;\" : \"=f\"(result) : \"f\"(a), \"f\"(b));\n"
        "  return result;\n}\n";
  }
  std::string least;
  for (int i = 0; i < n; ++i) {
    absl::StrAppend(&least, i ? ", " : "", "least_magnitude(f.s", i, ", most)");
  }
  absl::StrAppend(&text, "static inline ", type, " first_part_", n, "(", type, " x) {\n  const ",
                  value, " f = as_", value,
                  "(x);\n  const float most = as_float(0x7f7fe000u);\n  return (as_", type, "((",
                  value, ")(", least, ")) + 0x1000u) & 0xffffe000u;\n}\nstatic inline ", type,
                  " second_part_", n, "(", type, " x, ", type, " first) {\n  return as_", type,
                  "(as_", value, "(x) - as_", value, "(first));\n}\n");
  return text;
}

// Rounds to the nearest number with a mantissa of ten bits, ties away from zero.
constexpr std::string_view kRoundToTf32 =
    "static inline uint round_to_tf32(uint x) {\n  uint result;\n"
    "  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(result) : \"f\"(as_float(x)));\n"
    "  return result;\n}\n";

// The registers of a value of `n`, rounded.
std::string Rounded(std::string_view value, int n) {
  std::string parts;
  for (int i = 0; i < n; ++i) {
    absl::StrAppend(&parts, i ? ", " : "", "round_to_tf32(", Part(value, n, i), ")");
  }
  return absl::StrCat("(", Uint(n), ")(", parts, ")");
}

}  // namespace

PtxFunction MatrixFunction(std::string_view name, bool half, Prelude& prelude) {
  const std::optional<MatrixInstruction> found = FindMatrixInstruction(name);
  if (!found) return {};
  const MatrixInstruction& m = *found;
  const auto registers = [](Scalar type, int elements) {
    return elements * static_cast<int>(BitWidth(type)) / 32 / MatrixInstruction::kSubgroup;
  };
  const int of_a = registers(m.a, m.m * m.k), of_b = registers(m.b, m.k * m.n),
            of_c = registers(m.accumulator, m.m * m.n);
  const bool half_sum = m.accumulator == Scalar::kF16;
  const std::string half_type = half ? "half" : "ushort";
  const std::string sums_type = half_sum                        ? absl::StrCat(half_type, 2 * of_c)
                                : m.accumulator == Scalar::kF32 ? absl::StrCat("float", of_c)
                                                                : absl::StrCat("int", of_c);
  PtxFunction f;
  f.name = absl::StrCat("mma_", std::string(name));
  for (char& c : f.name) c = c == '.' ? '_' : c;
  std::string text;
  if (m.tf32) text = kRoundToTf32;
  if (m.in_parts) {
    for (const int n : {of_a, of_b}) text += PartsFunction(n, text.empty());
  }
  absl::StrAppend(&text, "static inline ", sums_type, " ", f.name, "(", Uint(of_a), " x, ",
                  Uint(of_b), " y, ", sums_type, " c) {\n");
  // Accumulators in half are packed two to a register.
  const std::string pair = absl::StrCat(half_type, 2);
  const std::string pack = half_sum ? prelude.BitCast(pair, "uint") : "";
  const std::string unpack = half_sum ? prelude.BitCast("uint", pair) : "";
  const std::string in_place = m.accumulator == Scalar::kF32 ? "\"+f\"" : "\"+r\"";
  std::string sums, outputs, parts;
  for (int i = 0; i < of_c; ++i) {
    absl::StrAppend(
        &sums, i ? ", " : "", "d", i, " = ",
        half_sum ? absl::StrCat(pack, "(c.s", 2 * i, 2 * i + 1, ")") : Part("c", of_c, i));
    absl::StrAppend(&outputs, i ? ", " : "", in_place, "(d", i, ")");
    absl::StrAppend(&parts, i ? ", " : "",
                    half_sum ? absl::StrCat(unpack, "(d", i, ")") : absl::StrCat("d", i));
  }
  if (m.tf32) {
    absl::StrAppend(&text, "  x = ", Rounded("x", of_a), ";\n  y = ", Rounded("y", of_b), ";\n");
  }
  const std::string word = half_sum ? "uint " : m.accumulator == Scalar::kF32 ? "float " : "int ";
  const bool tf32 = m.tf32 || m.in_parts;
  const std::string ptx =
      absl::StrCat("m", m.m, "n", m.n, "k", m.k, ".row.col.", PtxType(m.accumulator, false), ".",
                   PtxType(m.a, tf32), ".", PtxType(m.b, tf32), ".", PtxType(m.accumulator, false));
  const int a = of_c, b = a + of_a;
  // Adds to the sums, or to `c` if it is the first of several.
  const auto instruction = [&](const char* x, const char* y, bool is_first = false) {
    std::string inputs, begins;
    for (int i = 0; i < of_a; ++i) {
      absl::StrAppend(&inputs, i ? ", " : "", "\"r\"(", Part(x, of_a, i), ")");
    }
    for (int i = 0; i < of_b; ++i) absl::StrAppend(&inputs, ", \"r\"(", Part(y, of_b, i), ")");
    for (int i = 0; i < of_c; ++i) {
      absl::StrAppend(&inputs, is_first ? absl::StrCat(", \"f\"(", Part("c", of_c, i), ")") : "");
      absl::StrAppend(&begins, i ? ", " : "", "\"=f\"(d", i, ")");
    }
    return absl::StrCat("  asm volatile(\"mma.sync.aligned.", ptx, " \"\n      \"",
                        Registers(0, of_c), ", ", Registers(a, of_a), ", ", Registers(b, of_b),
                        ", ", Registers(is_first ? b + of_b : 0, of_c),
                        ";\"\n      : ", is_first ? begins : outputs, "\n      : ", inputs, ");\n");
  };
  if (m.in_parts) {
    // The small products first.
    absl::StrAppend(&text, "  float d0, d1, d2, d3;\n  const ", Uint(of_a), " x0 = first_part_",
                    of_a, "(x), x1 = second_part_", of_a, "(x, x0);\n  const ", Uint(of_b),
                    " y0 = first_part_", of_b, "(y), y1 = second_part_", of_b, "(y, y0);\n",
                    instruction("x1", "y0", true), instruction("x0", "y1"),
                    instruction("x0", "y0"));
  } else {
    absl::StrAppend(&text, "  ", word, sums, ";\n", instruction("x", "y"));
  }
  absl::StrAppend(&text, "  return (", sums_type, ")(", parts, ");\n}\n");
  f.text = std::move(text);
  return f;
}

PtxFunction LdMatrixFunction(int count, bool transpose) {
  PtxFunction f;
  f.name = absl::StrCat("ldmatrix_x", count, transpose ? "_trans" : "");
  std::string registers, outputs;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&registers, i ? ", " : "", "r", i);
    absl::StrAppend(&outputs, i ? ", " : "", "\"=r\"(r", i, ")");
  }
  f.text = absl::StrCat(
      "static inline ", Uint(count), " ", f.name, "(const __local void* row) {\n  uint ", registers,
      ";\n  asm volatile(\"ldmatrix.sync.aligned.m8n8.x", count, transpose ? ".trans" : "",
      ".shared.b16 ", Registers(0, count), ", [%", count, "];\"\n      : ", outputs,
      "\n      : \"r\"((uint)(ulong)row) : \"memory\");\n  return ",
      count == 1 ? registers : absl::StrCat("(", Uint(count), ")(", registers, ")"), ";\n}\n");
  return f;
}

PtxFunction ShuffleFunction(int width) {
  PtxFunction f;
  f.name = absl::StrCat("shuffle_", width);
  // The last operand has the mask of the lane bits that select the segment, and the last lane of a
  // segment.
  f.text = absl::StrCat("static inline uint ", f.name,
                        "(uint value, uint from) {\n  uint result;\n"
                        "  asm volatile(\"shfl.sync.idx.b32 %0, %1, %2, ",
                        (32 - width) << 8 | 31,
                        ", 0xffffffff;\"\n      : \"=r\"(result) : \"r\"(value), \"r\"(from));\n"
                        "  return result;\n}\n");
  return f;
}

PtxFunction TransposeItemsFunction(int width) {
  PtxFunction f;
  f.name = absl::StrCat("transpose_items_", width);
  const std::string words = Uint(width);
  f.text = absl::StrCat("static inline ", words, " ", f.name, "(", words,
                        " x) {\n  uint lane, sent, got;\n"
                        "  asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n");
  // In the round of a bit, work-items that differ in it exchange the words whose number has the
  // other one's bit.
  for (int bit = 1; bit < width; bit *= 2) {
    for (int i = 0; i < width; ++i) {
      if (i & bit) continue;
      const std::string low = absl::StrCat("x.s", i), high = absl::StrCat("x.s", i | bit);
      absl::StrAppend(&f.text, "  sent = lane & ", bit, " ? ", low, " : ", high,
                      ";\n  asm volatile(\"shfl.sync.bfly.b32 %0, %1, ", bit,
                      ", 31, 0xffffffff;\" : \"=r\"(got) : \"r\"(sent));\n  if (lane & ", bit, ") ",
                      low, " = got; else ", high, " = got;\n");
    }
  }
  f.text += "  return x;\n}\n";
  return f;
}

PtxFunction CopyAsyncFunction(int bytes, bool gated) {
  PtxFunction f;
  f.name = absl::StrCat("copy_async_", bytes, gated ? "_if" : "");
  // Only copies of sixteen bytes may bypass the first-level cache.
  f.text = absl::StrCat(
      "static inline void ", f.name, "(__local void* to, const __global void* from",
      gated ? ", bool condition" : "", ") {\n  asm volatile(\"cp.async.", bytes == 16 ? "cg" : "ca",
      ".shared.global [%0], [%1], ", bytes, gated ? ", %2" : "",
      ";\"\n      :: \"r\"((uint)(ulong)to), \"l\"(from)",
      gated ? absl::StrCat(", \"r\"(condition ? ", bytes, " : 0)") : "", " : \"memory\");\n}\n");
  return f;
}

PtxFunction HalfFunction(Scalar from, Scalar to, int lanes) {
  const bool narrows = to != Scalar::kF32;
  const int each = narrows && lanes > 1 ? 2 : 1;  // lanes of an instruction
  const std::string n = lanes > 1 ? absl::StrCat(lanes) : "", pair = each == 2 ? "x2" : "";
  const std::string in = absl::StrCat(narrows ? "float" : "ushort", n);
  const std::string out = absl::StrCat(narrows ? "ushort" : "float", n);
  PtxFunction f;
  f.name = absl::StrCat("cvt_", PtxType(to, false), lanes > 1 ? absl::StrCat("x", n) : "", "_",
                        PtxType(from, false));
  f.text = absl::StrCat("static inline ", out, " ", f.name, "(", in, " x) {\n  ",
                        each == 2 ? "uint"
                        : narrows ? "ushort"
                                  : "float",
                        " result", lanes > each ? absl::StrCat("[", lanes / each, "]") : "", ";\n");
  std::string results;
  for (int i = 0; i < lanes; i += each) {
    const auto lane = [&](int k) {
      return lanes == 1 ? std::string("x") : absl::StrCat("x.s", absl::Hex(k));
    };
    const std::string result =
        lanes > each ? absl::StrCat("result[", i / each, "]") : std::string("result");
    // The first operand of a pair becomes the upper half.
    const std::string operands =
        each == 2 ? absl::StrCat("\"f\"(", lane(i + 1), "), \"f\"(", lane(i), ")")
                  : absl::StrCat(narrows ? "\"f\"(" : "\"h\"(", lane(i), ")");
    absl::StrAppend(&f.text, "  asm(\"cvt", narrows ? ".rn." : ".", PtxType(to, false), pair, ".",
                    PtxType(from, false), each == 2 ? " %0, %1, %2" : " %0, %1", ";\" : \"=",
                    each == 2 ? "r"
                    : narrows ? "h"
                              : "f",
                    "\"(", result, ") : ", operands, ");\n");
    absl::StrAppend(&results, i == 0 ? "" : ", ", each == 2 ? "as_ushort2(" : "", result,
                    each == 2 ? ")" : "");
  }
  absl::StrAppend(&f.text, "  return ",
                  lanes > each ? absl::StrCat("(", out, ")(", results, ")") : results, ";\n}\n");
  return f;
}

PtxFunction FloatOfByteFunction() {
  PtxFunction f;
  f.name = "ptx_byte";
  // Bytes 0 to 3 are the word's, 4 to 7 those of the float 2^23. The instruction takes one
  // immediate, and ptxas would move one of two to a register before each. The highest bit of
  // lanemask_lt, which is 0, makes the float none for it.
  f.text = absl::StrCat("static inline float ", f.name,
                        "(uint word, uint number, float less) {\n  uint two23, result;\n"
                        "  asm(\"{ .reg .b32 t; mov.u32 t, %%lanemask_lt; shr.u32 t, t, 31; \"\n"
                        "      \"or.b32 %0, t, 0x4b000000; }\" : \"=r\"(two23));\n"
                        "  asm(\"prmt.b32 %0, %1, %2, %3;\" : \"=r\"(result)\n"
                        "      : \"r\"(word), \"r\"(two23), \"r\"(0x7650u | number));\n"
                        "  return as_float(result) - (8388608.0f + less);\n}\n");
  return f;
}

PtxFunction FloatFunction(Op op) {
  PtxFunction f;
  const std::string instruction = op == Op::kExp2  ? "ex2.approx.ftz.f32"
                                  : op == Op::kMax ? "max.NaN.f32"
                                                   : "min.NaN.f32";
  f.name = op == Op::kExp2 ? "ptx_exp2" : op == Op::kMax ? "ptx_max" : "ptx_min";
  const bool binary = op != Op::kExp2;
  f.text = absl::StrCat("static inline float ", f.name, "(float a", binary ? ", float b" : "",
                        ") {\n  float result;\n  asm(\"", instruction, " %0, %1",
                        binary ? ", %2" : "", ";\" : \"=f\"(result) : \"f\"(a)",
                        binary ? ", \"f\"(b)" : "", ");\n  return result;\n}\n");
  return f;
}

PtxFunction DescriptorFunction(FactorBytes factor) {
  // "Matrix descriptor format": the address, the distances of blocks along the results and of eight
  // rows, in units of 16 bytes, and the kind of swizzle: 1, 2, 3 for rows of 128, 64, 32 bytes.
  const auto unit = [](int64_t bytes) { return static_cast<uint64_t>(bytes) >> 4; };
  const uint64_t kind = factor.row == 128 ? 1 : factor.row == 64 ? 2 : 3;
  const uint64_t constant =
      std::max<uint64_t>(1, unit(factor.blocks)) << 16 | unit(8 * factor.row) << 32 | kind << 62;
  PtxFunction f;
  f.name = absl::StrCat("wgmma_factor_", factor.row);
  if (factor.blocks > 0) absl::StrAppend(&f.name, "_", factor.blocks);
  f.text = absl::StrCat("static inline ulong ", f.name,
                        "(const __local void* first) {\n  return (ulong)(((uint)(ulong)first & "
                        "0x3ffff) >> 4) | 0x",
                        absl::Hex(constant), "UL;\n}\n");
  return f;
}

std::vector<std::string> WgmmaText(const MatrixInstruction& m, int columns, bool transpose_a,
                                   bool transpose_b) {
  const int sums = columns / 2;
  std::vector<std::string> lines = {
      absl::StrCat(kHopperComment, "{ .reg .pred p; setp.ne.b32 p, 1, 0; "),
      absl::StrCat("wgmma.mma_async.sync.aligned.m", m.m, "n", columns, "k", m.k, ".",
                   PtxType(m.accumulator, false), ".", PtxType(m.a, m.tf32), ".",
                   PtxType(m.b, m.tf32), " {")};
  constexpr int kPerLine = 16;
  for (int i = 0; i < sums; ++i) {
    if (i % kPerLine == 0) lines.emplace_back();
    absl::StrAppend(&lines.back(), "%", i, i + 1 < sums ? ", " : "}, ");
  }
  std::string rest = absl::StrCat("%", sums, ", %", sums + 1, ", p");
  if (IsFloat(m.accumulator)) {
    absl::StrAppend(&rest, ", 1, 1");
    if (BitWidth(m.a) == 16) absl::StrAppend(&rest, ", ", int{transpose_a}, ", ", int{transpose_b});
  }
  lines.push_back(rest + "; }");
  return lines;
}

std::string WgmmaWaitText() {
  return absl::StrCat(kHopperComment,
                      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
}

PtxFunction WgmmaFenceFunction() {
  return {"wgmma_fence",
          absl::StrCat("static inline void wgmma_fence(void) {\n  asm volatile(\"", kHopperComment,
                       "wgmma.fence.sync.aligned;\" ::: \"memory\");\n}\n")};
}

PtxFunction ProxyFenceFunction() {
  return {"wgmma_proxy_fence",
          "static inline void wgmma_proxy_fence(void) {\n"
          "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n}\n"};
}

PtxFunction CommitFunction() {
  return {"copy_async_commit",
          "static inline void copy_async_commit(void) {\n"
          "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n}\n"};
}

PtxFunction WaitFunction(int pending) {
  PtxFunction f;
  f.name = absl::StrCat("copy_async_wait_", pending);
  f.text =
      absl::StrCat("static inline void ", f.name, "(void) {\n  asm volatile(\"cp.async.wait_group ",
                   pending, ";\" ::: \"memory\");\n}\n");
  return f;
}

}  // namespace tg::opencl
