#include "passes/target.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/text/parser.h"
#include "passes/target_fields.h"

namespace tg::passes {
namespace {

std::vector<Target> MakePresets() {
  std::vector<Target> all;
  Target cpu;
  cpu.name = "cl-cpu";
  cpu.doc = "PoCL on a CPU with AVX-512";
  cpu.alu_width = 64;
  cpu.mem_width = 64;
  cpu.unaligned_access = true;
  // Local memory and barriers work, but a group is a loop on one core, so that schedules gain
  // nothing from them.
  cpu.local_memory = 1 << 20;
  cpu.private_memory = 6 << 20;
  cpu.max_group_size = 4096;
  cpu.max_groups[1] = cpu.max_groups[2] = 1LL << 31;
  for (int& n : cpu.max_local) n = 4096;
  cpu.compute_units = 2;
  cpu.vector_registers = 32;
  cpu.inlined_instructions = 256;  // LLVM's threshold for inlining at -O3 is 250
  cpu.unrolled_instructions = 1024;
  cpu.cache_bytes = 4 << 20;
  cpu.group_seconds = 1e-8;
  // PoCL computes these lane by lane.
  cpu.own_functions[static_cast<size_t>(Op::kLog2)] = true;
  cpu.own_functions[static_cast<size_t>(Op::kPow)] = true;
  all.push_back(cpu);

  Target avx2 = cpu;
  avx2.name = "cl-cpu-avx2";
  avx2.doc = "PoCL on a CPU with vectors of 32 bytes, as of AVX2, or less";
  avx2.alu_width = 32;
  avx2.mem_width = 32;
  avx2.vector_registers = 16;
  avx2.accumulator_registers = 8;
  avx2.tile_registers = 12;
  avx2.flops_per_second = 2.5e11;
  avx2.core_cache_bytes = 512 << 10;
  all.push_back(avx2);

  Target gpu;
  gpu.name = "cl-gpu";
  gpu.doc = "any OpenCL 1.2 GPU, nothing optional";
  gpu.is_gpu = true;
  gpu.form_error = 0.1;
  gpu.fp64 = false;
  gpu.vector_registers = 64;
  gpu.accumulator_registers = gpu.tile_registers = 8;  // with more, fewer groups run at a time
  gpu.subgroup_size = 32;
  gpu.compute_units = 16;
  gpu.bytes_per_second = 3e11;
  gpu.flops_per_second = 5e12;
  gpu.launch_seconds = 8e-6;
  gpu.f64_rate = 1.0 / 32;
  gpu.int_rate = 0.5;
  gpu.load_weight = 2;
  gpu.near_cache_bytes = 0;
  gpu.core_cache_bytes = 64 << 10;
  gpu.shared_cache_bytes = gpu.cache_bytes;
  gpu.core_cache_bytes_per_second = 8e10;
  gpu.shared_cache_bytes_per_second = gpu.unit_bytes_per_second = 4e10;
  gpu.write_traffic = 1;
  gpu.group_seconds = 1e-8;
  gpu.not_hidden = 1.0 / 4;
  gpu.items_per_unit = 256;
  gpu.kernel_seconds = 4e-6;
  gpu.sector_bytes = 32;
  gpu.accesses_in_turn = 0.7;
  gpu.step_seconds = 4.2e-7;
  gpu.overlapped_instructions = 40;
  gpu.instruction_seconds = 9e-10;
  gpu.barrier_seconds = 6.5e-8;
  gpu.not_overlapped = 0.25;
  all.push_back(gpu);

  Target plain = gpu;
  plain.name = "cl-plain";
  plain.doc = "as cl-gpu, and none of the device's mathematical functions is trusted";
  plain.own_functions = AllMathFunctions();
  all.push_back(plain);

  Target nvidia = gpu;
  nvidia.name = "cl-nvidia-sm90";
  nvidia.doc = "NVIDIA Hopper through its OpenCL";
  nvidia.fp16 = nvidia.fp64 = true;
  nvidia.inline_ptx = nvidia.byte_dots = true;
  nvidia.local_memory = 49152;
  nvidia.max_group_size = 1024;
  nvidia.max_local[0] = nvidia.max_local[1] = 1024;
  nvidia.max_local[2] = 64;
  nvidia.vector_registers = 128;
  nvidia.compute_units = 132;
  nvidia.unit_schedulers = 4;
  nvidia.barrier_seconds = 1e-7;
  nvidia.cache_bytes = 24 << 20;
  nvidia.bytes_per_second = 4.3e12;
  nvidia.flops_per_second = 6e13;
  nvidia.f16_rate = 2;
  nvidia.matrix_flops_per_second = 5e14;
  nvidia.warpgroup_flops_per_second = 8e14;
  nvidia.local_bytes_per_second = 2.2e11;
  nvidia.unit_local_memory = 200 << 10;
  nvidia.unit_registers = 65536;
  nvidia.f64_rate = 0.5;
  nvidia.core_cache_bytes = 128 << 10;
  nvidia.shared_cache_bytes = 50 << 20;
  nvidia.core_cache_bytes_per_second = 2e11;
  nvidia.shared_cache_bytes_per_second = 8e10;
  all.push_back(nvidia);

  Target intel = gpu;
  intel.name = "cl-intel";
  intel.doc = "Intel GPU";
  intel.fp16 = true;
  intel.images = true;
  intel.local_memory = 65536;
  intel.subgroup_size = 16;
  intel.max_group_size = 512;
  for (int& n : intel.max_local) n = 512;
  all.push_back(intel);

  Target adreno = gpu;
  adreno.name = "cl-adreno";
  adreno.doc = "Qualcomm Adreno, with images";
  adreno.fp16 = true;
  adreno.images = true;
  adreno.subgroup_size = 64;
  adreno.max_group_size = 1024;
  for (int& n : adreno.max_local) n = 1024;
  adreno.bytes_per_second = 3e10;
  adreno.flops_per_second = 1e12;
  all.push_back(adreno);

  Target neon = avx2;
  neon.name = "cl-cpu-neon";
  neon.doc = "PoCL on an ARM CPU of 64 bits, with vectors of 16 bytes";
  neon.alu_width = 16;
  neon.mem_width = 16;
  neon.vector_registers = 32;
  neon.accumulator_registers = 16;
  neon.tile_registers = 24;
  neon.compute_units = 4;
  neon.near_cache_bytes = 64 << 10;
  neon.near_cache_ways = 4;
  neon.core_cache_bytes = 1 << 20;
  neon.shared_cache_bytes = 32 << 20;
  neon.fma_accumulators = 12;  // 4 cycles, two begin in each, and half as many again
  neon.flops_per_second = 1.6e11;
  neon.bytes_per_second = 4e10;
  all.push_back(neon);

  // Source for whatever compiler and processor. Its compiler has cheap calls and inlines by itself,
  // and unrolls loops. Functions of a C library have no versions on vectors.
  Target c = avx2;
  c.name = "c";
  c.doc = "C17 by GCC or Clang, with vectors of 32 bytes";
  c.inlined_instructions = c.unrolled_instructions = 0;
  for (const Op op : {Op::kExp2, Op::kLog2, Op::kSin, Op::kPow}) {
    c.own_functions[static_cast<size_t>(op)] = true;
  }
  all.push_back(c);

  Target c99 = c;
  c99.name = "c99";
  c99.doc = "C99 by any compiler, without vectors";
  c99.alu_width = 0;
  c99.mem_width = 1;
  all.push_back(c99);
  // The machine code of runtime/cpu calls no library of functions.
  const auto natively = [](Target target, const char* name, const char* doc) {
    target.name = name;
    target.doc = doc;
    for (const Op op : {Op::kExp2, Op::kLog2, Op::kSin, Op::kPow}) {
      target.own_functions.set(static_cast<size_t>(op));
    }
    target.masked_access = true;
    // The renderer has no calls that could save inlined copies.
    target.inlined_instructions = 0;
    target.launch_seconds = 1e-6;
    return target;
  };
  // Without an instruction for it, dot4 takes two products of pairs of i16 and their additions.
  cpu.dot4_rate = avx2.dot4_rate = 0.25;
  cpu.core_cache_bytes_per_second = 1.7e11;
  cpu.shared_cache_bytes_per_second = 1e11;
  all.push_back(natively(cpu, "cpu-avx512", "machine code for a CPU with AVX-512"));
  all.push_back(natively(avx2, "cpu-avx2", "machine code for a CPU with AVX2"));
  cpu.byte_dots = true;
  cpu.dot4_rate = 1;
  all.push_back(natively(cpu, "cpu-avx512-vnni", "machine code for a CPU with AVX-512 VNNI"));
  return all;
}

}  // namespace

FunctionSet AllMathFunctions() {
  FunctionSet all;
  for (const Op op : kMathFunctions) all.set(static_cast<size_t>(op));
  return all;
}

double OpWeight(Op op) { return GetOpInfo(op).weight; }

std::span<const Target> TargetPresets() {
  static const std::vector<Target>& presets = *new std::vector<Target>(MakePresets());
  return presets;
}

absl::StatusOr<Target> FindTarget(std::string_view name) {
  if (name.ends_with(kTargetFileEnding)) {
    const absl::StatusOr<std::string> text = ReadTextFile(std::string(name));
    if (!text.ok()) return text.status();
    return ParseTarget(*text, name);
  }
  std::string names;
  for (const Target& t : TargetPresets()) {
    if (name.empty() || t.name == name) return t;
    absl::StrAppend(&names, names.empty() ? "" : ", ", t.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown target '", absl::string_view(name.data(), name.size()), "'; there are: ", names,
      ", and files that end in ", std::string(kTargetFileEnding)));
}

bool ComputesIn(const Target& target, Scalar s) {
  switch (s) {
    case Scalar::kF16:
      return target.fp16;
    case Scalar::kF64:
      return target.fp64;
    case Scalar::kI64:
    case Scalar::kU64:
      return target.int64;
    case Scalar::kBF16:
    case Scalar::kFp8E4M3:
    case Scalar::kFp8E5M2:
      return false;
    default:
      return true;
  }
}

}  // namespace tg::passes
