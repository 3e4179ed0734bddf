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
  explicit FormChooser(const PredictedGraph& graph)
      : graph_(graph),
        b_(*graph.body.context),
        convolutions_(graph.shapes),
        fixed_(graph.module, *graph.body.context, graph.fused) {}

  void See(const UOp* u) { fixed_.See(u); }

  // The same sum in the form that is the fastest; null if that is the one it has.
  const UOp* Rewritten(const UOp* u) {
    if (fixed_.Contains(u)) return nullptr;
    const std::optional<Convolution> c = convolutions_.Find(u, WinogradForm::kWindow);
    if (!c || c->input == c->weights) return nullptr;
    // What must be computed in place is not stored in tiles.
    for (const UOp* v : {u, c->input, c->from, c->weights}) {
      if (graph_.fused.Contains(v)) return nullptr;
    }
    const WinogradForm* form = Fastest(*c);
    return form ? ByTiles(b_, graph_.shapes, *c, *form) : nullptr;
  }

 private:
  // Of the operations of sums of products, at the full rate.
  double SumSeconds(double operations) const {
    const auto matrix =
        graph_.target.HasMatrixInstructions()
            ? MatrixInstructionFor(Scalar::kF32, Scalar::kF32, Scalar::kF32, graph_.module.flags)
            : std::nullopt;
    if (!matrix) return cost::ArithmeticSeconds(operations, graph_.target);
    return cost::MatrixSeconds(operations, static_cast<size_t>(matrix->RateBits()), graph_.target);
  }

  double Bound(const WinogradWork& work) const {
    return SumSeconds(work.operations) + cost::ArithmeticSeconds(work.transforms, graph_.target) +
           cost::LaunchSeconds(work.kernels - 1, graph_.target);
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
    double least = as_it_is * (1 - graph_.target.prediction_error);
    std::string line = absl::StrCat("kernelize: convolution of ", c.channels, " to ", c.results,
                                    " channels, ", c.images, " x ", c.space[0].results, " x ",
                                    c.space[1].results, ": ", 1e6 * as_it_is, " us as it is");
    for (const auto& [bound, form] : forms) {
      if (bound >= least) break;
      const double seconds = Seconds(c, form);
      absl::StrAppend(&line, ", ", 1e6 * seconds, " by tiles of ", form->tile);
      if (seconds < least) least = seconds, known->second = form;
    }
    absl::StrAppend(&graph_.remarks, line, known->second ? ": by tiles\n" : ": as it is\n");
    return known->second;
  }

  std::unique_ptr<Alone> CopyAlone(const Convolution& c) {
    auto out = std::make_unique<Alone>(graph_.module.flags);
    NodeMap<const UOp*> map;
    const auto buffer = [&](std::string_view name, const UOp* u, Role role) {
      return out->AddBuffer(name, u->dtype, graph_.shapes.Of(u), role);
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
    return graph_.predict(alone->module);
  }

  const PredictedGraph& graph_;
  Builder b_;
  Convolutions convolutions_;
  FixedValues fixed_;
  llvm::StringMap<const WinogradForm*> known_;
};

}  // namespace

void ChooseConvolutionForms(const PredictedGraph& graph, UOpSpan order) {
  const ModuleFlags& flags = graph.module.flags;
  if (!flags.has(ModuleFlag::kWinograd) || flags.has(ModuleFlag::kNoReassociate)) return;
  FormChooser chooser(graph);
  RewriteGraph(graph.body, graph.fused, order, [&](const UOp* u) {
    chooser.See(u);
    return chooser.Rewritten(u);
  });
}

}  // namespace tg::kernelize
