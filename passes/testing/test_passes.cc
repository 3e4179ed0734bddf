#include "passes/testing/test_passes.h"

#include <vector>

#include "ir/check.h"
#include "ir/walk.h"

namespace tg {
namespace {

constexpr PassOption kRenameOptions[] = {
    {"suffix", PassOption::Kind::kString, "_renamed", "what is appended"},
    {"times", PassOption::Kind::kInt, "1", "how often"},
    {"explain", PassOption::Kind::kFlag, "false", "say so"},
};

absl::Status Rename(Module& module, PassContext& context) {
  for (int64_t i = 0; i < context.Int("times"); ++i) {
    module.name += context.String("suffix");
    ++context.statistics["test-rename.renamed"];
  }
  if (context.Flag("explain")) {
    context.remarks +=
        "test-rename: the module is now @" + module.name + " for " + context.target.name + "\n";
  }
  return absl::OkStatus();
}

absl::Status Nothing(Module&, PassContext&) { return absl::OkStatus(); }

absl::Status Miscompile(Module& module, PassContext&) {
  for (const auto& graph : module.graphs) {
    Body& body = graph->body;
    NodeMap<const UOp*> map;
    for (const UOp* u : PostOrder(body.root)) {
      std::vector<const UOp*> srcs;
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      map[u] = body.context->Make(u->op == Op::kMul ? Op::kAdd : u->op, u->dtype, srcs, u->attr);
      body.CarryOver(u, map[u]);
    }
    body.root = map.Get(body.root);
  }
  return absl::OkStatus();
}

absl::Status DropStores(Module& module, PassContext&) {
  for (const auto& kernel : module.kernels) {
    Body& body = kernel->body;
    body.root = body.context->Make(Op::kSink, kVoid, {}, body.context->MakeAttr(Op::kSink, {0}));
  }
  return absl::OkStatus();
}

constexpr PassOption kWrongKernelOptions[] = {
    {"kernel", PassOption::Kind::kString, "", "its name"},
};

// Makes the last addition, product or maximum of floats in one kernel another operation.
absl::Status WrongKernel(Module& module, PassContext& context) {
  Kernel* kernel = module.FindKernel(context.String("kernel"));
  if (kernel == nullptr) return absl::NotFoundError("there is no such kernel");
  Body& body = kernel->body;
  const UOp* changed = nullptr;
  for (const UOp* u : body.linear) {
    const bool is_float = u->dtype.is_value() && IsFloat(u->dtype.scalar());
    if (is_float && (u->op == Op::kAdd || u->op == Op::kMul || u->op == Op::kMax)) changed = u;
  }
  if (changed == nullptr) return absl::NotFoundError("the kernel has no operation to change");
  NodeMap<const UOp*> map;
  std::vector<const UOp*> linear;
  for (const UOp* u : body.linear) {
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const Op op = u != changed ? u->op : u->op == Op::kAdd ? Op::kSub : Op::kAdd;
    map[u] = body.context->Make(op, u->dtype, srcs, u->attr);
    if (linear.empty() || linear.back() != map[u]) linear.push_back(map[u]);
    body.CarryOver(u, map[u]);
  }
  body.linear = std::move(linear);
  body.root = body.linear.back();
  return absl::OkStatus();
}

absl::Status Invalid(Module& module, PassContext&) {
  // The last buffer is declared no more, but still used.
  TG_CHECK(!module.buffers.empty());
  module.buffers.pop_back();
  return absl::OkStatus();
}

absl::Status FailHalfWay(Module& module, PassContext&) {
  module.name += "_half_done";
  return absl::UnimplementedError("tests want an error here");
}

constexpr PassOption kCrashOptions[] = {
    {"how", PassOption::Kind::kString, "check", "check: a failed TG_CHECK; segv: a bad address"},
};

absl::Status Crash(Module&, PassContext& context) {
  if (context.String("how") == "segv") {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  TG_UNREACHABLE();
}

}  // namespace

constinit const Pass kTestRenamePass = {"test-rename", "appends to the module's name",
                                        kRenameOptions, &Rename};
constinit const Pass kTestNothingPass = {"test-nothing", "changes nothing", {}, &Nothing};
constinit const Pass kTestMiscompilePass = {
    "test-miscompile", "makes each mul in a graph an add", {}, &Miscompile};
constinit const Pass kTestDropStorePass = {
    "test-drop-store", "leaves kernels nothing to do", {}, &DropStores};
constinit const Pass kTestWrongKernelPass = {"test-wrong-kernel",
                                             "makes one kernel compute something else",
                                             kWrongKernelOptions, &WrongKernel};
constinit const Pass kTestInvalidPass = {
    "test-invalid", "leaves a module that is not valid", {}, &Invalid};
constinit const Pass kTestFailPass = {
    "test-fail", "changes the module, then returns an error", {}, &FailHalfWay};
constinit const Pass kTestCrashPass = {"test-crash", "ends the process", kCrashOptions, &Crash};

}  // namespace tg
