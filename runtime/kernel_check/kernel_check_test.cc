#include "runtime/kernel_check/kernel_check.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "ir/testing/random_graph.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "passes/kernelize/kernelize.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "runtime/kernel_check/reproduction.h"
#include "runtime/session/session_testing.h"
#include "runtime/session/tensors.h"

namespace tg::kernel_check {
namespace {

constexpr const Pass* kKernelize[] = {&kKernelizePass};

using runtime::DeviceSession;
using runtime::Floats;
using ::testing::HasSubstr;

constexpr char kTwoKernels[] = R"(tg 1
module @m
buffer @x : f32[6, 40] input
buffer @t : f32[6, 1] output
buffer @y : f32[6, 40] output
buffer @steps : f32[6, 40] state

graph @main {
  %x = buffer @x : f32
  %s = reduce_axis %x {op = add, axes = [1]} : f32
  %c = contiguous %s : f32
  %b = expand %c {shape = [6, 40]} : f32
  %m = mul %x, %b : f32
  %steps = buffer @steps : f32
  %a = add %steps, %m : f32
  %w = assign %steps, %a : f32
  sink %c -> @t, %m -> @y, %w
}
)";

// A module on the device with its checker.
struct Checked {
  std::unique_ptr<Module> reference;
  std::unique_ptr<KernelChecker> checker;
  std::unique_ptr<DeviceSession> session;
};

// Compiles the module; `plant` may change the compiled one.
absl::Status Open(std::unique_ptr<Module> module, CheckOptions check,
                  const std::function<void(Module&)>& plant, Checked& out) {
  runtime::DeviceSessionOptions options;
  options.context = runtime::TestContext();
  options.target = runtime::TargetForDevice(options.context->info());
  PassManagerOptions passes;
  passes.target = &options.target;
  TG_RETURN_IF_ERROR(PassManager(MakePipeline(kKernelize), passes).Run(*module));
  out.reference = Clone(*module);
  TG_RETURN_IF_ERROR(runtime::CompileForTarget(*module, options.target));
  if (plant) plant(*module);
  out.checker = std::make_unique<KernelChecker>(*out.reference, *module, std::move(check));
  options.observer = out.checker.get();
  TG_ASSIGN_OR_RETURN(out.session, DeviceSession::Create(std::move(module), std::move(options)));
  return absl::OkStatus();
}

absl::Status Open(const std::string& text, CheckOptions check,
                  const std::function<void(Module&)>& plant, Checked& out) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ParseModule(text, "test.uop", diagnostics);
  if (module == nullptr) return diagnostics.ToStatus();
  return Open(std::move(module), std::move(check), plant, out);
}

// Makes the last op of this kind in kernel `number` another one.
std::function<void(Module&)> Plant(size_t number, Op from, Op to) {
  return [=](Module& module) {
    Body& body = module.kernels[number]->body;
    const UOp* changed = nullptr;
    for (const UOp* u : body.linear) {
      if (u->op == from && u->dtype.is_value() && IsFloat(u->dtype.scalar())) changed = u;
    }
    ASSERT_NE(changed, nullptr);
    NodeMap<const UOp*> map;
    for (const UOp*& u : body.linear) {
      std::vector<const UOp*> srcs;
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      const UOp* const old = u;
      u = map[old] = body.context->Make(old == changed ? to : old->op, old->dtype, srcs, old->attr);
    }
    body.root = body.linear.back();
  };
}

std::vector<float> Ramp(size_t n) {
  std::vector<float> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 17) * 0.37f - 2;
  return x;
}

TEST(KernelCheck, RightKernelsAgree) {
  Checked c;
  ASSERT_OK(Open(kTwoKernels, {}, {}, c));
  ASSERT_OK(c.session->Set("x", Floats({6, 40}, Ramp(240))));
  ASSERT_OK(c.session->Run());
  ASSERT_OK(c.session->Run());
  EXPECT_FALSE(c.checker->finding());
  EXPECT_EQ(c.checker->counts().whole, 2 * c.session->last_plan()->kernels().size());
  EXPECT_THAT(c.checker->Summary(), HasSubstr("kernels agree with the interpreter"));
}

// The second kernel's mul is an add. The first is right, and the one that is named is the second.
TEST(KernelCheck, TheWrongKernelIsNamedWithItsLargestDifference) {
  Checked c;
  ASSERT_OK(Open(kTwoKernels, {}, Plant(1, Op::kMul, Op::kAdd), c));
  const std::vector<float> x = Ramp(240);
  ASSERT_OK(c.session->Set("x", Floats({6, 40}, x)));
  const absl::Status status = c.session->Run();
  ASSERT_TRUE(absl::IsFailedPrecondition(status)) << status;
  ASSERT_TRUE(c.checker->finding());
  const Finding& finding = *c.checker->finding();
  EXPECT_EQ(finding.step, 1u);
  EXPECT_EQ(finding.reference, c.reference->kernels[1].get());
  EXPECT_EQ(finding.compiled->name, c.session->module().kernels[1]->name);
  // What the kernel computed, and where it is furthest from the product.
  double largest = 0;
  for (size_t row = 0; row < 6; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 40; ++i) sum += x[row * 40 + i];
    for (size_t i = 0; i < 40; ++i) {
      const double v = x[row * 40 + i];
      largest = std::max(largest, std::fabs((v + sum) - v * sum));
    }
  }
  EXPECT_NEAR(finding.worst.difference, largest, 1e-4);
  EXPECT_NEAR(std::fabs(finding.worst.actual - finding.worst.expected), largest, 1e-4);
  EXPECT_THAT(std::string(status.message()), HasSubstr("kernel 2 of 3, @"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("differs from the interpreter: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(" of 240 elements; the largest difference"));
}

// A kernel of which only some elements are interpreted.
TEST(KernelCheck, AWrongKernelIsFoundBySampledElements) {
  constexpr char kSums[] = R"(tg 1
module @m
buffer @x : f32[512, 512] input
buffer @y : f32[512, 1] output
graph @main {
  %x = buffer @x : f32
  %e = mul %x, %x : f32
  %s = reduce_axis %e {op = add, axes = [1]} : f32
  sink %s -> @y
}
)";
  CheckOptions check;
  check.max_evaluations = 1 << 17;
  for (const bool wrong : {false, true}) {
    Checked c;
    ASSERT_OK(Open(kSums, check, wrong ? Plant(0, Op::kAdd, Op::kSub) : nullptr, c));
    ASSERT_OK(c.session->Set("x", Floats({512, 512}, Ramp(512 * 512))));
    const absl::Status status = c.session->Run();
    EXPECT_EQ(status.ok(), !wrong) << status;
    if (wrong) {
      ASSERT_TRUE(c.checker->finding());
      EXPECT_TRUE(c.checker->finding()->sampled);
      EXPECT_THAT(std::string(status.message()), HasSubstr(" sampled elements"));
      continue;
    }
    EXPECT_EQ(c.checker->counts().sampled, 1u);
    EXPECT_GT(c.checker->counts().least_sample, 16);
    EXPECT_LT(c.checker->counts().least_sample, 512);
    EXPECT_EQ(c.checker->counts().least_sample_of, 512);
    EXPECT_THAT(c.checker->Summary(), HasSubstr("sampled elements"));
  }
}

// The module of a wrong kernel, with another device's session: right without the fault, and wrong
// in the same element with it.
TEST(KernelCheck, AReproductionHasTheKernelAndItsInputs) {
  for (const std::string& shape : {std::string("6"), std::string("@n")}) {
    std::string text = kTwoKernels;
    for (size_t at; (at = text.find("[6, 40]")) != std::string::npos;) {
      text.replace(at, 7, "[" + std::string(shape == "@n" ? "@n" : "6") + ",40]");
    }
    for (size_t at; (at = text.find("f32[6, 1]")) != std::string::npos;) {
      text.replace(at, 9, "f32[" + shape + ",1]");
    }
    if (shape == "@n") {
      text.replace(text.find("buffer @x"), 0, "var @n : [1, 9]\n");
      text.replace(text.find("{shape = [@n,40]}"), 17, "{shape = [%n, 40]}");
      text.replace(text.find("  %x = "), 0, "  %n = var @n : index\n");
    }
    Checked c;
    ASSERT_OK(Open(text, {}, Plant(1, Op::kMul, Op::kAdd), c));
    ASSERT_OK(c.session->Set("x", Floats({6, 40}, Ramp(240))));
    ASSERT_FALSE(c.session->Run().ok());
    ASSERT_TRUE(c.checker->finding());
    const Finding& finding = *c.checker->finding();
    const std::string path = std::string(::testing::TempDir()) + "/wrong";
    const auto written = WriteReproduction(finding, *c.reference, c.session->module(), path);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_EQ(written->arguments.back(), path + ".uop");
    std::ifstream file(path + ".uop");
    const std::string again((std::istreambuf_iterator<char>(file)), {});

    for (const bool wrong : {false, true}) {
      Diagnostics diagnostics;
      std::unique_ptr<Module> module = ParseModule(again, "again.uop", diagnostics);
      ASSERT_NE(module, nullptr) << diagnostics.ToString() << again;
      module->path = path + ".uop";
      ASSERT_OK(VerifyModule(*module));
      Checked r;
      ASSERT_OK(Open(std::move(module), {}, wrong ? Plant(0, Op::kMul, Op::kAdd) : nullptr, r));
      for (const Contents& contents : finding.before) {
        const BufferDecl& decl = c.session->module().buffers[static_cast<size_t>(contents.buffer)];
        const BufferDecl* own = r.session->module().FindBuffer(decl.name);
        ASSERT_NE(own, nullptr) << decl.name;
        if (own->file.empty()) {
          EXPECT_EQ(shape, "@n");
          ASSERT_OK(r.session->Set(decl.name, {*runtime::ElementTypeOf(decl.dtype.scalar()),
                                               contents.shape, contents.bytes}));
        }
      }
      const absl::Status status = r.session->Run();
      EXPECT_EQ(status.ok(), !wrong) << status;
      if (!wrong) continue;
      ASSERT_TRUE(r.checker->finding());
      EXPECT_EQ(r.checker->finding()->worst.element, finding.worst.element);
      EXPECT_EQ(r.checker->finding()->worst.actual, finding.worst.actual);
      EXPECT_EQ(r.checker->finding()->worst.expected, finding.worst.expected);
    }
  }
}

// Nothing is reported where nothing is wrong, at all types and with states and symbolic sizes.
TEST(KernelCheck, RandomGraphsAgree) {
  size_t kernels = 0;
  for (uint64_t seed = 1000; seed < 1030; ++seed) {
    testing::RandomGraphOptions graph;
    graph.devices = 0;
    testing::RandomProgram program = testing::MakeRandomProgram(seed, graph);
    Checked c;
    const absl::Status opened = Open(std::move(program.module), {}, {}, c);
    if (!opened.ok()) continue;  // a loop, or a type that the device lacks
    bool is_set = true;
    for (const auto& [name, buffer] : program.inputs) {
      const auto tensor = runtime::ToHostTensor(buffer);
      is_set = is_set && tensor.ok() && c.session->Set(name, *tensor).ok();
    }
    for (const auto& [name, value] : program.vars) c.session->SetVar(name, value).IgnoreError();
    if (!is_set) continue;
    const absl::Status status = c.session->Run();
    EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status;
    kernels += c.checker->counts().whole;
  }
  EXPECT_GT(kernels, 60u);
}

}  // namespace
}  // namespace tg::kernel_check
