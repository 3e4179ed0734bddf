// Random kernels mean the same before and after devectorize, on every target.
#include "passes/devectorize/devectorize.h"

#include <cmath>
#include <random>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "ir/interpret/kernel.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/value.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"
#include "passes/devectorize/random_kernel.h"

namespace tg::devectorize {
namespace {

absl::Status Devectorize(Module& module, const passes::Target& target, int alu_width,
                         int mem_width) {
  passes::PassContext context{target, {}, {}, {}};
  for (const passes::PassOption& o : kDevectorizePass.options) {
    context.options[std::string(o.name)] = std::string(o.default_value);
  }
  context.options["alu-width"] = std::to_string(alu_width);
  context.options["mem-width"] = std::to_string(mem_width);
  return kDevectorizePass.run(module, context);
}

std::vector<interpret::HostBuffer> BuffersAfter(const RandomKernel& k, absl::Status* status) {
  std::vector<interpret::HostBuffer> buffers = k.buffers;
  std::vector<interpret::KernelArg> args;
  for (interpret::HostBuffer& b : buffers) args.push_back({&b});
  interpret::InterpretOptions options;
  options.mulacc = interpret::MulAcc::kTwoRoundings;
  *status = interpret::RunKernel(*k.module->kernels[0], args, {}, options);
  return buffers;
}

bool SameValue(Scalar s, int64_t a, int64_t b) {
  if (a == b) return true;
  return IsFloat(s) && std::isnan(DoubleFromBits(s, a)) && std::isnan(DoubleFromBits(s, b));
}

// Checks the form that linearize and the renderer rely on.
void CheckForm(const Kernel& kernel, const passes::Target& target) {
  NodeSet used;
  for (const UOp* u : PostOrder(kernel.body.root)) {
    const int lanes = u->dtype.lanes();
    EXPECT_FALSE(u->dtype.is_index());
    EXPECT_TRUE(lanes <= 16 && (lanes & (lanes - 1)) == 0) << Mnemonic(u->op) << " of " << lanes;
    EXPECT_TRUE(u->op != Op::kFloorDiv && u->op != Op::kFloorMod && u->op != Op::kThreefry &&
                u->op != Op::kReduce)
        << Mnemonic(u->op);
    if (u->op == Op::kIndex) {
      EXPECT_EQ(lanes, 1);
    }
    if (IsElementwise(u->op) && u->dtype.is_value() && u->op != Op::kCast &&
        u->op != Op::kBitcast) {
      EXPECT_TRUE(passes::ComputesIn(target, u->dtype.scalar())) << u->dtype.ToString();
      if (target.is_gpu) {
        EXPECT_EQ(lanes, 1) << Mnemonic(u->op);
      }
    }
  }
}

class RandomKernels : public testing::TestWithParam<std::tuple<std::string, int, int>> {};

TEST_P(RandomKernels, MeanTheSame) {
  const auto& [name, alu_width, mem_width] = GetParam();
  const passes::Target target = *passes::FindTarget(name);
  int done = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const RandomKernel k =
        MakeRandomKernel(seed * 31 + static_cast<uint64_t>(mem_width), {.f64 = target.fp64});
    k.module->target = name;
    const std::string text = PrintModule(*k.module);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    ASSERT_TRUE(VerifyModule(*k.module).ok()) << VerifyModule(*k.module);
    absl::Status status;
    const std::vector<interpret::HostBuffer> before = BuffersAfter(k, &status);
    // Rare: the generator multiplies its way out of what `index` holds.
    ASSERT_TRUE(status.ok()) << status;

    status = Devectorize(*k.module, target, alu_width, mem_width);
    ASSERT_TRUE(status.ok()) << status;
    SCOPED_TRACE("afterwards\n" + PrintModule(*k.module));
    ASSERT_TRUE(VerifyModule(*k.module).ok()) << VerifyModule(*k.module);
    CheckForm(*k.module->kernels[0], target);
    const std::vector<interpret::HostBuffer> after = BuffersAfter(k, &status);
    ASSERT_TRUE(status.ok()) << status;
    const interpret::HostBuffer& x = before[0];
    for (size_t i = 0; i < x.data.size(); ++i) {
      ASSERT_TRUE(SameValue(x.dtype.scalar(), x.data[i], after[0].data[i]))
          << "element " << i << ": " << x.data[i] << " before, " << after[0].data[i] << " after";
    }
    ++done;
  }
  EXPECT_EQ(done, 400);
}

// The kernels of the lit tests, which show one decision each: they mean the same, too.
class Examples : public testing::TestWithParam<std::string> {};

TEST_P(Examples, MeanTheSame) {
  auto module = ReadModuleFile("passes/devectorize/test/" + GetParam() + ".uop");
  ASSERT_TRUE(module.ok()) << module.status();
  const passes::Target target = *passes::FindTarget((*module)->target);
  const auto run = [&](const Kernel& kernel) {
    std::mt19937_64 random(5);
    std::vector<interpret::HostBuffer> buffers;
    for (const UOp* u : PostOrder(kernel.body.root)) {
      if (u->op != Op::kDefineGlobal) continue;
      if (u->dtype.size() > 100000) return std::vector<interpret::HostBuffer>{};
      const auto slot = static_cast<size_t>(u->word());
      if (slot >= buffers.size()) buffers.resize(slot + 1);
      interpret::HostBuffer& b = buffers[slot];
      b.dtype = u->dtype.is_image() ? u->dtype : DType(u->dtype.scalar());
      b.shape = {u->dtype.size()};
      if (u->dtype.is_image()) b.shape = {u->dtype.height(), u->dtype.width(), 4};
    }
    for (interpret::HostBuffer& b : buffers) {
      const int64_t size = b.dtype.is_image() ? b.dtype.size() : b.shape.empty() ? 0 : b.shape[0];
      // Eighths: sums of them are exact in any order.
      for (int64_t i = 0; i < size; ++i) {
        const double v = static_cast<double>(random() % 65) / 8 - 4;
        b.data.push_back(BitsFromDouble(b.dtype.scalar(), IsFloat(b.dtype.scalar()) ? v : v * 8));
      }
    }
    std::vector<interpret::KernelArg> args;
    for (interpret::HostBuffer& b : buffers) args.push_back({&b});
    const absl::Status status = interpret::RunKernel(kernel, args, {{"n", 7}}, {});
    EXPECT_TRUE(status.ok()) << status;
    return buffers;
  };
  std::vector<std::vector<interpret::HostBuffer>> before;
  for (const auto& k : (*module)->kernels) before.push_back(run(*k));
  const absl::Status status = Devectorize(**module, target, target.alu_width, target.mem_width);
  ASSERT_TRUE(status.ok()) << status;
  int compared = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const Kernel& kernel = *(*module)->kernels[i];
    const std::vector<interpret::HostBuffer> after = run(kernel);
    // Dead slots at the end may be gone.
    for (size_t slot = 0; slot < after.size(); ++slot) {
      if (after[slot].data.empty()) continue;
      EXPECT_EQ(before[i][slot].data, after[slot].data) << kernel.name << " slot " << slot;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Lit, Examples,
                         testing::Values("arithmetic", "float_types", "gpu", "images", "in_order",
                                         "integers", "memory", "registers"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Targets, RandomKernels,
                         testing::Values(std::tuple("cl-cpu", 64, 64), std::tuple("cl-cpu", 16, 16),
                                         std::tuple("cl-cpu", 32, 8), std::tuple("cl-gpu", 0, 16),
                                         std::tuple("cl-nvidia-sm90", 0, 16)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name + "_" + std::to_string(std::get<1>(info.param)) + "_" +
                                  std::to_string(std::get<2>(info.param));
                         });

}  // namespace
}  // namespace tg::devectorize
