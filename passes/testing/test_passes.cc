#include "passes/testing/test_passes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/check.h"
#include "ir/walk.h"

namespace tg::testing {
namespace {

constexpr passes::PassOption kRenameOptions[] = {
    {"suffix", passes::PassOption::Kind::kString, "_renamed", "what is appended"},
    {"times", passes::PassOption::Kind::kInt, "1", "how often"},
    {"explain", passes::PassOption::Kind::kFlag, "false", "say so"},
};

absl::Status Rename(Module& module, passes::PassContext& context) {
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

absl::Status Nothing(Module&, passes::PassContext&) { return absl::OkStatus(); }

void MakeMulsAdds(Body& body) {
  NodeMap<const UOp*> map;
  for (const UOp* u : PostOrder(body.root)) {
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    map[u] = body.context->Make(u->op == Op::kMul ? Op::kAdd : u->op, u->dtype, srcs, u->attr);
    body.CarryOver(u, map[u]);
  }
  body.root = map.Get(body.root);
}

absl::Status Miscompile(Module& module, passes::PassContext&) {
  for (const auto& graph : module.graphs) MakeMulsAdds(graph->body);
  return absl::OkStatus();
}

absl::Status DropStores(Module& module, passes::PassContext&) {
  for (const auto& kernel : module.kernels) {
    Body& body = kernel->body;
    body.root = body.context->Make(Op::kSink, kVoid, {}, body.context->MakeAttr(Op::kSink, {0}));
  }
  return absl::OkStatus();
}

constexpr passes::PassOption kWrongKernelOptions[] = {
    {"kernel", passes::PassOption::Kind::kString, "", "its name"},
};

// Makes the last addition, product or maximum of floats in one kernel another operation.
absl::Status WrongKernel(Module& module, passes::PassContext& context) {
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

absl::Status Invalid(Module& module, passes::PassContext&) {
  // The last buffer is declared no more, but still used.
  TG_CHECK(!module.buffers.empty());
  module.buffers.pop_back();
  return absl::OkStatus();
}

absl::Status FailHalfWay(Module& module, passes::PassContext&) {
  module.name += "_half_done";
  return absl::UnimplementedError("tests want an error here");
}

constexpr passes::PassOption kCrashOptions[] = {
    {"how", passes::PassOption::Kind::kString, "check",
     "check: a failed TG_CHECK; segv: a bad address"},
};

absl::Status Crash(Module&, passes::PassContext& context) {
  if (context.String("how") == "segv") {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  TG_UNREACHABLE();
}

constexpr passes::PassOption kFaultOptions[] = {
    {"directive", passes::PassOption::Kind::kString, "", "of the kernels that it happens to"},
    {"how", passes::PassOption::Kind::kString, "wrong", "wrong, crash or hang"},
};

// A fault of a kernel that has a directive of this name, as a search meets it.
absl::Status Fault(Module& module, passes::PassContext& context) {
  for (const auto& kernel : module.kernels) {
    const bool has_it =
        std::any_of(kernel->directives.begin(), kernel->directives.end(),
                    [&](const Directive& d) { return d.name == context.String("directive"); });
    if (!has_it) continue;
    if (context.String("how") == "crash") std::abort();
    while (context.String("how") == "hang") ::pause();
    MakeMulsAdds(kernel->body);
  }
  return absl::OkStatus();
}

}  // namespace

constinit const passes::Pass kTestRenamePass = {"test-rename", "appends to the module's name",
                                                kRenameOptions, &Rename};
constinit const passes::Pass kTestNothingPass = {"test-nothing", "changes nothing", {}, &Nothing};
constinit const passes::Pass kTestMiscompilePass = {
    "test-miscompile", "makes each mul in a graph an add", {}, &Miscompile};
constinit const passes::Pass kTestDropStorePass = {
    "test-drop-store", "leaves kernels nothing to do", {}, &DropStores};
constinit const passes::Pass kTestWrongKernelPass = {"test-wrong-kernel",
                                                     "makes one kernel compute something else",
                                                     kWrongKernelOptions, &WrongKernel};
constinit const passes::Pass kTestInvalidPass = {
    "test-invalid", "leaves a module that is not valid", {}, &Invalid};
constinit const passes::Pass kTestFailPass = {
    "test-fail", "changes the module, then returns an error", {}, &FailHalfWay};
constinit const passes::Pass kTestCrashPass = {"test-crash", "ends the process", kCrashOptions,
                                               &Crash};
constinit const passes::Pass kTestFaultPass = {
    "test-fault", "makes kernels with some directive fail", kFaultOptions, &Fault};

}  // namespace tg::testing
