#include "codegen/opencl/ptx.h"

#include "absl/strings/str_cat.h"

namespace tg::opencl {
namespace {

struct Instruction {
  std::string_view name;
  std::string_view ptx;      // name of the PTX instruction
  std::string_view a, b, c;  // types of the fragments A, B and C
  int a_registers, b_registers, c_registers;
};
constexpr Instruction kInstructions[] = {
    {"m16n8k16.f32.f16", "m16n8k16.row.col.f32.f16.f16.f32", "half8", "half4", "float4", 4, 2, 4},
    {"m16n8k16.f32.bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", "ushort8", "ushort4", "float4", 4,
     2, 4},
    {"m16n8k16.f16.f16", "m16n8k16.row.col.f16.f16.f16.f16", "half8", "half4", "half4", 4, 2, 2},
    {"m16n8k8.f32.f16", "m16n8k8.row.col.f32.f16.f16.f32", "half4", "half2", "float4", 2, 1, 4},
    {"m16n8k8.f32.bf16", "m16n8k8.row.col.f32.bf16.bf16.f32", "ushort4", "ushort2", "float4", 2, 1,
     4},
    {"m16n8k8.f32.tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", "float4", "float2", "float4", 4, 2,
     4},
};

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

}  // namespace

PtxFunction MatrixFunction(std::string_view name, bool half, Prelude& prelude) {
  const Instruction* found = nullptr;
  for (const Instruction& i : kInstructions) {
    if (i.name == name) found = &i;
  }
  if (!found) return {};
  const Instruction& m = *found;
  auto type = [&](std::string_view t) {
    return !half && t.starts_with("half") ? absl::StrCat("ushort", std::string(t.substr(4)))
                                          : std::string(t);
  };
  PtxFunction f;
  f.name = absl::StrCat("mma_", std::string(name));
  for (char& c : f.name) c = c == '.' ? '_' : c;
  const bool float_sum = m.c == "float4";
  const bool tf32 = m.a == "float4";
  std::string text =
      absl::StrCat("static inline ", type(m.c), " ", f.name, "(", Uint(m.a_registers), " x, ",
                   Uint(m.b_registers), " y, ", type(m.c), " c) {\n");
  // Accumulators in half are packed two to a register.
  const std::string pack = float_sum ? "" : prelude.BitCast(type("half2"), "uint");
  const std::string unpack = float_sum ? "" : prelude.BitCast("uint", type("half2"));
  std::string sums, outputs, inputs, parts;
  for (int i = 0; i < m.c_registers; ++i) {
    absl::StrAppend(&sums, i ? ", " : "", "d", i, " = ",
                    float_sum ? Part("c", m.c_registers, i)
                              : absl::StrCat(pack, "(c.s", 2 * i, 2 * i + 1, ")"));
    absl::StrAppend(&outputs, i ? ", " : "", float_sum ? "\"+f\"" : "\"+r\"", "(d", i, ")");
    absl::StrAppend(&parts, i ? ", " : "",
                    float_sum ? absl::StrCat("d", i) : absl::StrCat(unpack, "(d", i, ")"));
  }
  for (int i = 0; i < m.a_registers; ++i) {
    absl::StrAppend(&inputs, i ? ", " : "", "\"r\"(", Part("x", m.a_registers, i), ")");
  }
  for (int i = 0; i < m.b_registers; ++i) {
    absl::StrAppend(&inputs, ", \"r\"(", Part("y", m.b_registers, i), ")");
  }
  if (tf32) {
    // Rounds to the nearest number with a mantissa of ten bits, ties away from zero, like
    // cvt.rna.tf32.
    text +=
        "  x = (x & 0x7f800000u) == 0x7f800000u ? x : (x + 0x1000u) & 0xffffe000u;\n"
        "  y = (y & 0x7f800000u) == 0x7f800000u ? y : (y + 0x1000u) & 0xffffe000u;\n";
  }
  const int a = m.c_registers, b = a + m.a_registers;
  absl::StrAppend(&text, "  ", float_sum ? "float " : "uint ", sums, ";\n",
                  "  asm volatile(\"mma.sync.aligned.", std::string(m.ptx), " \"\n      \"",
                  Registers(0, m.c_registers), ", ", Registers(a, m.a_registers), ", ",
                  Registers(b, m.b_registers), ", ", Registers(0, m.c_registers),
                  ";\"\n      : ", outputs, "\n      : ", inputs, ");\n  return (", type(m.c), ")(",
                  parts, ");\n}\n");
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
