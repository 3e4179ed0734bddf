#include "passes/kernelize/convolution_forms.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "ir/matrix/matrix_instruction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/convolution.h"
#include "passes/kernelize/copy_nodes.h"
#include "passes/kernelize/fixed_values.h"
#include "passes/kernelize/rewrite_graph.h"
#include "passes/kernelize/winograd.h"

namespace tg::kernelize {
namespace {

// A convolution that reads its input and weights from buffers.
struct Alone : GraphAlone {
  using GraphAlone::GraphAlone;
  const UOp* reduce = nullptr;
};

class FormChooser {
 public:
  FormChooser(const Module& module, const Body& body, ShapeMap& shapes,
              const passes::Target& target, PredictModule predict, const NodeSet& fused,
              std::string& remarks)
      : module_(module),
        b_(*body.context),
        shapes_(shapes),
        target_(target),
        predict_(predict),
        fused_(fused),
        remarks_(remarks),
        convolutions_(shapes),
        fixed_(module, b_.context(), fused) {}

  void See(const UOp* u) { fixed_.See(u); }

  // The same sum in the form that is the fastest; null if that is the one it has.
  const UOp* Rewritten(const UOp* u) {
    if (fixed_.Contains(u)) return nullptr;
    const std::optional<Convolution> c = convolutions_.Find(u, WinogradForm::kWindow);
    if (!c || c->input == c->weights) return nullptr;
    // What must be computed in place is not stored in tiles.
    for (const UOp* v : {u, c->input, c->from, c->weights}) {
      if (fused_.Contains(v)) return nullptr;
    }
    const WinogradForm* form = Fastest(*c);
    return form ? ByTiles(b_, shapes_, *c, *form) : nullptr;
  }

 private:
  // Of the operations of sums of products, at the full rate.
  double SumSeconds(double operations) const {
    const auto matrix =
        target_.HasMatrixInstructions()
            ? MatrixInstructionFor(Scalar::kF32, Scalar::kF32, Scalar::kF32, module_.flags)
            : std::nullopt;
    if (!matrix) return cost::ArithmeticSeconds(operations, target_);
    return cost::MatrixSeconds(operations, static_cast<size_t>(matrix->RateBits()), target_);
  }

  double Bound(const WinogradWork& work) const {
    return SumSeconds(work.operations) + cost::ArithmeticSeconds(work.transforms, target_) +
           cost::LaunchSeconds(work.kernels - 1, target_);
  }

  const WinogradForm* Fastest(const Convolution& c) {
    const std::string key = Key(c);
    const auto [known, is_new] = known_.try_emplace(key, nullptr);
    if (!is_new) return known->second;
    std::vector<std::pair<double, const WinogradForm*>> forms;
    for (const WinogradForm& form : WinogradForms()) {
      forms.emplace_back(Bound(WorkOf(c, form)), &form);
    }
    llvm::sort(forms, llvm::less_first());
    const double as_it_is = Seconds(c, nullptr);
    double least = as_it_is * (1 - target_.prediction_error);
    std::string line = absl::StrCat("kernelize: convolution of ", c.channels, " to ", c.results,
                                    " channels, ", c.images, " x ", c.space[0].results, " x ",
                                    c.space[1].results, ": ", 1e6 * as_it_is, " us as it is");
    for (const auto& [bound, form] : forms) {
      if (bound >= least) break;
      const double seconds = Seconds(c, form);
      absl::StrAppend(&line, ", ", 1e6 * seconds, " by tiles of ", form->tile);
      if (seconds < least) least = seconds, known->second = form;
    }
    absl::StrAppend(&remarks_, line, known->second ? ": by tiles\n" : ": as it is\n");
    return known->second;
  }

  std::unique_ptr<Alone> CopyAlone(const Convolution& c) {
    auto out = std::make_unique<Alone>(module_.flags);
    NodeMap<const UOp*> map;
    const auto buffer = [&](std::string_view name, const UOp* u, Role role) {
      return out->AddBuffer(name, u->dtype, shapes_.Of(u), role);
    };
    map[c.input] = buffer("x", c.input, Role::kInput);
    map[c.weights] =
        buffer("w", c.weights, fixed_.Contains(c.weights) ? Role::kParam : Role::kInput);
    buffer("y", c.reduce, Role::kOutput);
    out->reduce = CopyNodes(c.reduce, b_.context(), *out->body().context, map);
    return out;
  }

  std::string Key(const Convolution& c) {
    const std::unique_ptr<Alone> alone = CopyAlone(c);
    alone->SetResult(alone->reduce, "y");
    return alone->Key();
  }

  double Seconds(const Convolution& c, const WinogradForm* form) {
    const std::unique_ptr<Alone> alone = CopyAlone(c);
    const UOp* value = alone->reduce;
    if (form) {
      ShapeMap shapes(alone->module, *alone->body().context);
      Builder b(*alone->body().context);
      const auto own = Convolutions(shapes).Find(alone->reduce, WinogradForm::kWindow);
      value = ByTiles(b, shapes, *own, *form);
    }
    alone->SetResult(value, "y");
    return predict_(alone->module);
  }

  const Module& module_;
  Builder b_;
  ShapeMap& shapes_;
  const passes::Target& target_;
  const PredictModule predict_;
  const NodeSet& fused_;
  std::string& remarks_;
  Convolutions convolutions_;
  FixedValues fixed_;
  llvm::StringMap<const WinogradForm*> known_;
};

}  // namespace

void ChooseConvolutionForms(const Module& module, Body& body, ShapeMap& shapes,
                            const passes::Target& target, PredictModule predict, NodeSet& fused,
                            std::string& remarks, UOpSpan order) {
  if (!module.flags.has(ModuleFlag::kWinograd) || module.flags.has(ModuleFlag::kNoReassociate)) {
    return;
  }
  FormChooser chooser(module, body, shapes, target, predict, fused, remarks);
  RewriteGraph(body, fused, order, [&](const UOp* u) {
    chooser.See(u);
    return chooser.Rewritten(u);
  });
}

}  // namespace tg::kernelize
