// The functions with which the OpenCL renderer's tests run a kernel, for machine code instead:
// these tests serve both.
#include "codegen/opencl/testing/check_kernel.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "codegen/llvm/renderer.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "ir/interpret/kernel.h"
#include "passes/legalize/float_functions.h"
#include "passes/linearize/linearize.h"
#include "runtime/cpu/code_generator.h"
#include "runtime/cpu/object_code.h"
#include "runtime/cpu/processor.h"

namespace tg::cpu {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Block = std::unique_ptr<std::byte, Free>;

Block Allocate(size_t size) {
  return Block(static_cast<std::byte*>(std::aligned_alloc(64, (size + 127) / 64 * 64)));
}

absl::Status Run(const codegen::RenderedKernel& kernel, std::span<interpret::HostBuffer> buffers,
                 const interpret::VarValues& vars) {
  const auto object = Compile(kernel.source, Output::kObject);
  if (!object.ok()) return object.status();
  const auto code = ObjectCode::Load(*object);
  if (!code.ok()) return code.status();
  const auto function = reinterpret_cast<llvm_ir::KernelFunction>((*code)->Find(kernel.name));
  if (function == nullptr) return absl::InternalError("the object lacks the kernel");
  const auto value = [&](std::string_view name) {
    const auto it = vars.find(name);
    return it == vars.end() ? int64_t{0} : it->second;
  };
  std::vector<Block> memory;
  std::vector<const void*> arguments;
  for (const codegen::KernelParam& p : kernel.params) {
    if (p.is_var) {
      arguments.push_back(reinterpret_cast<const void*>(value(p.name)));
      continue;
    }
    const auto bytes = interpret::BufferToBytes(buffers[static_cast<size_t>(p.slot)]);
    memory.push_back(Allocate(bytes.size()));
    std::memcpy(memory.back().get(), bytes.data(), bytes.size());
    arguments.push_back(memory.back().get());
  }
  const Block scratch = Allocate(static_cast<size_t>(kernel.group_memory));
  int64_t groups[3];
  for (size_t d = 0; d < 3; ++d) groups[d] = kernel.groups[d].Evaluate(value);
  for (int64_t z = 0; z < groups[2]; ++z) {
    for (int64_t y = 0; y < groups[1]; ++y) {
      for (int64_t x = 0; x < groups[0]; ++x) {
        function(arguments.data(), scratch.get(), x, y, z);
      }
    }
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const codegen::KernelParam& p = kernel.params[i];
    if (!p.writes) continue;
    interpret::HostBuffer& b = buffers[static_cast<size_t>(p.slot)];
    b = interpret::BufferFromBytes(b.dtype, b.shape, arguments[i]);
  }
  return absl::OkStatus();
}

opencl::BothResults RunBoth(Module& module, const std::vector<interpret::HostBuffer>& buffers,
                            const interpret::VarValues& vars, int64_t shuffle) {
  opencl::BothResults r;
  const auto fail = [&](const absl::Status& s) {
    r.error = absl::StrCat(s.ToString(), "\n", r.source);
    return r;
  };
  Kernel& kernel = *module.kernels.at(0);
  auto target = passes::FindTarget(module.target);
  if (!target.ok()) return fail(target.status());
  *target = llvm_ir::Adapted(*target);
  if (kernel.stage == Stage::kExpanded) {
    legalize::LowerFloatFunctions(kernel.body, *target);
    if (absl::Status s = linearize::LinearizeKernel(kernel, shuffle); !s.ok()) return fail(s);
  }
  const auto rendered = codegen::RenderAll(llvm_ir::LlvmRenderer(), module, *target);
  if (!rendered.ok()) return fail(rendered.status());
  r.source = rendered->source;
  r.expected = buffers;
  r.actual = buffers;
  std::vector<interpret::KernelArg> args;
  for (interpret::HostBuffer& b : r.expected) args.push_back({&b, 0, -1});
  if (absl::Status s = interpret::RunKernel(kernel, args, vars, interpret::OptionsFor(module));
      !s.ok())
    return fail(s);
  if (absl::Status s = Run(rendered->kernels[0], r.actual, vars); !s.ok()) return fail(s);
  return r;
}

}  // namespace
}  // namespace tg::cpu

// The functions of the header, which is another library's.
bool tg::opencl::HaveDevice() { return cpu::ThisProcessor().is_supported; }

tg::opencl::BothResults tg::opencl::RunBothWays(Module& module,
                                                const std::vector<interpret::HostBuffer>& buffers,
                                                const interpret::VarValues& vars, int64_t shuffle) {
  return cpu::RunBoth(module, buffers, vars, shuffle);
}

std::string tg::opencl::CheckOnDevice(Module& module,
                                      const std::vector<interpret::HostBuffer>& buffers,
                                      const interpret::VarValues& vars,
                                      const interpret::Tolerance& tolerance, int64_t shuffle) {
  const BothResults r = RunBothWays(module, buffers, vars, shuffle);
  if (!r.error.empty()) return r.error;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (const auto d = interpret::Difference(r.expected[i], r.actual[i], tolerance)) {
      return absl::StrCat("buffer ", i, ": ", *d, "\n", r.source);
    }
  }
  return "";
}
