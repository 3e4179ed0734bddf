#include "passes/devectorize/devectorize.h"

#include <bitset>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/scratch.h"
#include "ir/walk.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "passes/devectorize/alu_width.h"
#include "passes/devectorize/horizontal.h"
#include "passes/devectorize/memory_width.h"
#include "passes/devectorize/operand_width.h"
#include "passes/devectorize/transpose_square.h"
#include "passes/devectorize/whole_sectors.h"
#include "passes/legalize/float_functions.h"
#include "passes/legalize/float_types.h"
#include "passes/legalize/forward.h"
#include "passes/legalize/index_type.h"
#include "passes/legalize/integer.h"

namespace tg::devectorize {
namespace {

constexpr passes::PassOption kOptions[] = {
    {"alu-width", passes::PassOption::Kind::kInt, "-1",
     "bytes of a vector in arithmetic at most, 0 for scalars; -1: the target's"},
    {"mem-width", passes::PassOption::Kind::kInt, "-1",
     "bytes that one access moves; -1: the target's"},
    {"functions", passes::PassOption::Kind::kString, "target",
     "exp2, log2, sin, pow, sqrt and division: 'own', written out in arithmetic; 'device'; or "
     "'target'"},
};

// What ops and types a body contains, so that steps that would find nothing to do are skipped.
struct Contents {
  explicit Contents(UOpSpan order) {
    for (const UOp* u : order) {
      ops.set(static_cast<size_t>(u->op));
      scalars.set(static_cast<size_t>(u->dtype.scalar()));
      if (u->op == Op::kIndex) narrow_addresses |= !u->src(1)->dtype.is_index();
    }
  }
  bool Has(Op op) const { return ops.test(static_cast<size_t>(op)); }
  bool HasAnyOf(llvm::function_ref<bool(Scalar)> which) const {
    for (int i = 0; i < kNumScalars; ++i) {
      if (scalars.test(static_cast<size_t>(i)) && which(static_cast<Scalar>(i))) return true;
    }
    return false;
  }

  std::bitset<kNumOps> ops;
  std::bitset<kNumScalars> scalars;
  // The kernel has been legalized before, so that its addresses already have the target's types.
  bool narrow_addresses = false;
};

// Fails if the private scratch of the kernel exceeds what the target has. To be called after
// CutMemory, which decides whether register scratch becomes private.
absl::Status CheckPrivateMemory(UOpSpan order, const passes::Target& target) {
  const int64_t bytes = ScratchBytes(order, AddrSpace::kPrivate);
  if (bytes <= target.private_memory) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("it needs ", bytes, " bytes of private memory or more; target ", target.name,
                   " has ", target.private_memory, " for a work-item"));
}

absl::Status RunOnKernel(const Module& module, Kernel& kernel, passes::Target target,
                         passes::Statistics& statistics) {
  Body& body = kernel.body;
  RootOrder order(body);
  const Contents contents(order.Get());
  // Accesses are split only while all addresses have type index, which is what AffineExpr
  // can analyse. A kernel with other addresses has been through this pass before.
  const bool is_first = !contents.narrow_addresses;
  // Comes before vectors are split, because there are fewer nodes then.
  if (contents.Has(Op::kMulAcc)) legalize::SplitIntegerMulAcc(body);
  target.alu_width = OperandWidth(order.Get(), target);
  // Accesses, reduces and types of addresses are rewritten node by node, so that one walk does all
  // three.
  legalize::IndexTypes types(body, module);
  std::optional<LaneReducer> reducer;
  if (contents.Has(Op::kReduce)) {
    reducer.emplace(body, !module.flags.has(ModuleFlag::kNoReassociate), target, order.Get());
  }
  const auto reduce = [&](const UOp* u, UOpSpan srcs) {
    return reducer ? reducer->Rewrite(u, srcs) : nullptr;
  };
  if (is_first) {
    const absl::StatusOr<MemoryStatistics> memory =
        CutMemory(body, module, target, order.Get(), types, reduce);
    if (!memory.ok()) return memory.status();
    statistics["devectorize.wide-accesses"] += memory->wide_accesses;
    statistics["devectorize.scalar-accesses"] += memory->scalar_accesses;
  } else {
    Builder b(*body.context);
    legalize::ForwardRewrite(body, order.Get(), [&](const UOp* u, UOpSpan srcs) {
      const UOp* reduced = reduce(u, srcs);
      return types.Finish(reduced ? reduced : legalize::WithSources(b, u, srcs));
    });
  }
  if (reducer && !reducer->status().ok()) return reducer->status();
  if (contents.Has(Op::kScratch)) {
    if (absl::Status s = CheckPrivateMemory(order.Get(), target); !s.ok()) return s;
  }
  legalize::LegalizeIntegers(body, module, order.Get(), target.dot4_rate > 0);
  if (contents.HasAnyOf([&](Scalar s) { return legalize::ConcernsFloatTypes(s, target); })) {
    if (absl::Status s = legalize::LowerFloatTypes(body, target); !s.ok()) return s;
  }
  // Not done twice: the expansions contain the device's own division and square root as first
  // approximations, which must stay.
  if (is_first) legalize::LowerFloatFunctions(body, target);
  // Comes after all of these steps, since they create arithmetic that must be split too.
  CutArithmetic(body, module, target, order.Get());
  if (target.HasVectors()) TransposeSquares(body, order);
  FillSectors(body, target, order);
  return absl::OkStatus();
}

absl::Status Run(Module& module, passes::PassContext& context) {
  passes::Target target = context.target;
  if (context.Int("alu-width") >= 0) target.alu_width = static_cast<int>(context.Int("alu-width"));
  if (context.Int("mem-width") >= 0) target.mem_width = static_cast<int>(context.Int("mem-width"));
  const std::string_view functions = context.String("functions");
  if (functions == "own") {
    target.own_functions = passes::AllMathFunctions();
  } else if (functions == "device") {
    target.own_functions.reset();
  } else if (functions != "target") {
    return absl::InvalidArgumentError(
        absl::StrCat("option functions is '", absl::string_view(functions.data(), functions.size()),
                     "'; it may be target, own or device"));
  }
  return passes::ForEachKernel(
      module, context, [&](Kernel& kernel, passes::Statistics& statistics) {
        if (kernel.stage != Stage::kExpanded) return absl::OkStatus();
        const absl::Status s = RunOnKernel(module, kernel, target, statistics);
        if (s.ok()) return s;
        return absl::Status(s.code(), absl::StrCat("kernel @", kernel.name, ": ", s.message()));
      });
}

}  // namespace

constinit const passes::Pass kDevectorizePass = {
    "devectorize", "cuts accesses and arithmetic to the target's widths and types", kOptions, &Run};

}  // namespace tg::devectorize
