#include "codegen/opencl/testing/check_kernel.h"

#include "absl/strings/str_cat.h"
#include "codegen/opencl/renderer.h"
#include "codegen/opencl/testing/run_kernel.h"
#include "ir/interpret/kernel.h"
#include "passes/linearize/linearize.h"

namespace tg::opencl {

BothResults RunBothWays(Module& module, const std::vector<interpret::HostBuffer>& buffers,
                        const interpret::VarValues& vars, int64_t shuffle) {
  BothResults r;
  auto fail = [&](const absl::Status& s) {
    r.error = absl::StrCat(s.ToString(), "\n", r.source);
    return r;
  };
  Kernel& kernel = *module.kernels.at(0);
  const auto target = passes::FindTarget(module.target);
  if (!target.ok()) return fail(target.status());
  if (kernel.stage == Stage::kExpanded) {
    if (absl::Status s = linearize::LinearizeKernel(kernel, shuffle); !s.ok()) return fail(s);
  }
  const auto rendered = RenderKernel(module, kernel, *target);
  if (!rendered.ok()) return fail(rendered.status());
  r.source = rendered->source;
  r.expected = buffers;
  r.actual = buffers;
  std::vector<interpret::KernelArg> args;
  for (interpret::HostBuffer& b : r.expected) args.push_back({&b, 0, -1});
  interpret::InterpretOptions options = interpret::OptionsFor(module);
  if (absl::Status s = interpret::RunKernel(kernel, args, vars, options); !s.ok()) return fail(s);
  if (absl::Status s = RunOnDevice(r.source, *rendered, r.actual, vars); !s.ok()) return fail(s);
  return r;
}

std::string CheckOnDevice(Module& module, const std::vector<interpret::HostBuffer>& buffers,
                          const interpret::VarValues& vars, const interpret::Tolerance& tolerance,
                          int64_t shuffle) {
  const BothResults r = RunBothWays(module, buffers, vars, shuffle);
  if (!r.error.empty()) return r.error;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (const auto d = interpret::Difference(r.expected[i], r.actual[i], tolerance)) {
      return absl::StrCat("buffer ", i, ": ", *d, "\n", r.source);
    }
  }
  return "";
}

}  // namespace tg::opencl
