#include "frontend/tinygrad/import_tinygrad.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/graph_import.h"
#include "frontend/tinygrad/join_constants.h"
#include "frontend/tinygrad/kernel_import.h"
#include "frontend/tinygrad/reader.h"
#include "frontend/tinygrad/schedule_import.h"
#include "ir/walk.h"

namespace tg::tinygrad {
namespace {

// "graphs/resnet18.repr" gives "resnet18".
std::string ModuleName(std::string_view file_name) {
  file_name.remove_prefix(file_name.find_last_of('/') + 1);  // npos + 1 is 0
  file_name = file_name.substr(0, file_name.find('.'));
  if (file_name.empty() || file_name[0] == '<') file_name = "tinygrad";
  return tinygrad::SymbolFor(file_name);
}

// The roots are a graph, followed by its kernels, or only kernels.
bool ImportRoots(const tinygrad::Text& text, const tinygrad::Directives& directives, Module& module,
                 Diagnostics& diags) {
  const std::span<const tinygrad::Node* const> roots = text.roots;
  const std::vector<const tinygrad::Node*> instructions = tinygrad::InstructionsOf(text);
  if (!instructions.empty()) {
    tinygrad::KernelUse use;
    if (!tinygrad::ImportKernel(text, instructions.back(), instructions, module, &use, diags)) {
      return false;
    }
    tinygrad::RunAlone(use, module);
    return true;
  }
  if (roots.size() == 1 && roots[0]->op == "LINEAR") {
    return tinygrad::ImportSchedule(text, roots[0], directives, module, diags);
  }
  size_t num_values = 0;
  while (num_values < roots.size() && !tinygrad::IsKernelRoot(text, roots[num_values])) {
    ++num_values;
  }
  std::vector<tinygrad::KernelUse> kernels;
  for (const tinygrad::Node* root : roots.subspan(num_values)) {
    if (!tinygrad::ImportKernel(text, root, {}, module, &kernels.emplace_back(), diags))
      return false;
  }
  if (num_values > 0) {
    return tinygrad::ImportGraph(text, roots.first(num_values), directives, kernels, module, diags);
  }
  // A single kernel can be run; the order of several is not known.
  if (kernels.size() == 1 && kernels[0].kernel) tinygrad::RunAlone(kernels[0], module);
  return true;
}

// Whether the module reduces. Loops of a lowered kernel may be reductions.
bool Reduces(const Module& module) {
  if (!module.kernels.empty()) return true;
  return std::any_of(module.graphs.begin(), module.graphs.end(), [](const auto& graph) {
    const auto order = PostOrder(graph->body.root);
    return std::any_of(order.begin(), order.end(),
                       [](const UOp* u) { return u->op == Op::kReduceAxis; });
  });
}

// Whether a product of halves is cast to f32, as where it is summed in f32.
bool WidensProducts(const Module& module) {
  return std::any_of(module.graphs.begin(), module.graphs.end(), [](const auto& graph) {
    const auto order = PostOrder(graph->body.root);
    return std::any_of(order.begin(), order.end(), [](const UOp* u) {
      if (u->op != Op::kCast || u->src(0)->op != Op::kMul) return false;
      const Scalar from = u->src(0)->dtype.scalar();
      return u->dtype.scalar() == Scalar::kF32 && (from == Scalar::kF16 || from == Scalar::kBF16);
    });
  });
}

}  // namespace

bool IsTinygradText(std::string_view text) {
  while (!text.empty()) {
    const size_t start = text.find_first_not_of(" \t\r\n[(");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    if (text[0] == '#') {
      const size_t end = text.find('\n');
      if (end == std::string_view::npos) return false;
      text.remove_prefix(end);
      continue;
    }
    if (text[0] == 'x') {
      const size_t colon = text.find_first_not_of("0123456789", 1);
      if (colon == std::string_view::npos || text.substr(colon, 2) != ":=") return false;
      text.remove_prefix(colon + 2);
    }
    return text.substr(0, 4) == "UOp(";
  }
  return false;
}

std::unique_ptr<Module> ImportTinygrad(std::string_view text, std::string_view file_name,
                                       Diagnostics& diags) {
  diags.SetSource(text, file_name);
  const std::unique_ptr<tinygrad::Text> syntax = tinygrad::ReadText(text, diags);
  if (!syntax) return nullptr;
  tinygrad::JoinConstants(*syntax);
  const auto directives = tinygrad::ReadDirectives(*syntax, diags);
  if (!directives) return nullptr;
  auto module = std::make_unique<Module>();
  module->path = file_name;
  // tinygrad's rules simplify inf/(inf + 1) to 1; without that the gradient of a sigmoid yields
  // NaN.
  module->flags.Add(ModuleFlag::kInfRatio);
  module->name = directives->module.empty() ? ModuleName(file_name) : directives->module;
  if (!ImportRoots(*syntax, *directives, *module, diags)) return nullptr;
  // tinygrad simplifies x*0 to 0 when it turns a sum over a one-hot row into a load.
  if (Reduces(*module)) module->flags.Add(ModuleFlag::kZeroMul);
  // tinygrad's matrix units do not round products of halves.
  if (WidensProducts(*module)) module->flags.Add(ModuleFlag::kWideProducts);
  return module;
}

}  // namespace tg::tinygrad
