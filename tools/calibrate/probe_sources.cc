#include "tools/calibrate/probe_sources.h"

#include <string_view>

#include "base/status.h"

namespace tg::calibrate {
namespace {

std::string_view NameOf(Scalar type) {
  switch (type) {
    case Scalar::kF16:
      return "half";
    case Scalar::kF64:
      return "double";
    case Scalar::kI32:
      return "int";
    default:
      return "float";
  }
}

// A type of `width` elements, and the sum of the components of variable `name`.
std::string TypeOf(Scalar type, int width) {
  return width == 1 ? std::string(NameOf(type)) : Cat(NameOf(type), width);
}
std::string SumOf(const std::string& name, int width) {
  if (width == 1) return name;
  std::string sum;
  for (int i = 0; i < width; ++i) {
    sum += Cat(i == 0 ? "" : " + ", name, ".s", std::string(1, "0123456789abcdef"[i]));
  }
  return sum;
}

}  // namespace

std::string MemorySource(int width) {
  const std::string type = TypeOf(Scalar::kF32, width);
  const std::string four_loads =
      "    a += p[(ulong)i * step];\n    b += p[(ulong)(i + 1) * step];\n"
      "    c += p[(ulong)(i + 2) * step];\n    d += p[(ulong)(i + 3) * step];\n";
  const std::string sums = Cat("  ", type, " a = 0, b = 0, c = 0, d = 0;\n");
  const std::string more_loads =
      "    e += p[(ulong)(i + 4) * step];\n    f += p[(ulong)(i + 5) * step];\n"
      "    g += p[(ulong)(i + 6) * step];\n    h += p[(ulong)(i + 7) * step];\n";
  const std::string more_sums = Cat("  ", type, " e = 0, f = 0, g = 0, h = 0;\n");
  const std::string store =
      Cat("  a += b + c + d;\n  to[get_global_id(0)] = ", SumOf("a", width), ";\n}\n");
  return Cat(
      "__kernel void copy(__global ", type, "* restrict to, __global const ", type,
      "* restrict from) {\n  to[get_global_id(0)] = from[get_global_id(0)];\n}\n",
      "__kernel void scale(__global ", type, "* restrict to, __global const ", type,
      "* restrict from, const float x) {\n"
      "  to[get_global_id(0)] = from[get_global_id(0)] * x;\n}\n",
      // A group reads `count` times as much memory in a row as one step of its work-items.
      "__kernel void sum(__global float* restrict to, __global const ", type,
      "* restrict from, const int count) {\n"
      "  __global const ",
      type,
      "* p = from + get_group_id(0) * (ulong)count * get_local_size(0) + get_local_id(0);\n"
      "  const int step = get_local_size(0);\n",
      sums, "  for (int i = 0; i < count; i += 4) {\n", four_loads, "  }\n", store,
      // The compiler must not see that each pass reads the same. Eight sums hide an addition's
      // latency where loads hit the nearest cache.
      "__kernel void read_again(__global float* restrict to, __global const ", type,
      "* restrict from, const int count, const int times, const int offset) {\n"
      "  const int step = get_local_size(0);\n",
      sums, more_sums, "  for (int t = 0; t < times; ++t) {\n    __global const ", type,
      "* p = from + (ulong)t * offset + get_local_id(0);\n"
      "    for (int i = 0; i < count; i += 8) {\n",
      four_loads, more_loads, "    }\n  }\n  a += e; b += f; c += g; d += h;\n", store,
      "__kernel void write_again(__global ", type,
      "* restrict to, const int count, const int times, const float x) {\n"
      "  const int step = get_local_size(0);\n"
      "  for (int t = 0; t < times; ++t) {\n    const ",
      type, " v = x + t;\n    __global ", type,
      "* p = to + get_local_id(0);\n    for (int i = 0; i < count; i += 4) {\n"
      "      p[(ulong)i * step] = v;\n      p[(ulong)(i + 1) * step] = v;\n"
      "      p[(ulong)(i + 2) * step] = v;\n      p[(ulong)(i + 3) * step] = v;\n    }\n  }\n}\n"
      "__kernel void nothing(__global float* restrict to) {\n"
      "  if (get_global_id(0) == 0) to[0] = 1;\n}\n");
}

std::string MultiplyAddSource(Scalar type, int width) {
  const std::string vector = TypeOf(type, width);
  const std::string_view scalar = NameOf(type);
  const std::string_view extension = type == Scalar::kF16   ? "cl_khr_fp16"
                                     : type == Scalar::kF64 ? "cl_khr_fp64"
                                                            : "";
  std::string chains, steps, sum;
  for (int i = 0; i < kChains; ++i) {
    const std::string x = Cat("x", i);
    chains += Cat("  ", vector, " ", x, " = (", scalar, ")(get_global_id(0) + ", i, ");\n");
    steps += Cat("    ", x, " = ",
                 type == Scalar::kI32 ? Cat(x, " * vm + va") : Cat("fma(", x, ", vm, va)"), ";\n");
    sum += Cat(i == 0 ? "" : " + ", SumOf(x, width));
  }
  return Cat(extension.empty() ? "" : Cat("#pragma OPENCL EXTENSION ", extension, " : enable\n"),
             "__kernel void multiply_add(__global float* restrict to, const float m, "
             "const float a, const int count) {\n  const ",
             vector, " vm = (", scalar, ")m, va = (", scalar, ")a;\n", chains,
             "  for (int i = 0; i < count; ++i) {\n", steps,
             "  }\n  to[get_global_id(0)] = (float)(", sum, ");\n}\n");
}

std::string MatrixSource() {
  std::string chains, steps, sum;
  for (int i = 0; i < kChains; ++i) {
    std::string outputs;
    for (int k = 0; k < 4; ++k) {
      const std::string x = Cat("x", i, "_", k);
      chains += Cat("  float ", x, " = 0;\n");
      outputs += Cat(k == 0 ? "" : ", ", "\"+f\"(", x, ")");
      sum += Cat(i + k == 0 ? "" : " + ", x);
    }
    steps +=
        Cat("    __asm__ volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};\" : ",
            outputs, " : \"r\"(m));\n");
  }
  return Cat("__kernel void matrix(__global float* restrict to, const uint m, const int count) {\n",
             chains, "  for (int i = 0; i < count; ++i) {\n", steps,
             "  }\n  to[get_global_id(0)] = ", sum, ";\n}\n");
}

}  // namespace tg::calibrate
