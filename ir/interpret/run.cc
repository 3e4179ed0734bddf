#include "ir/interpret/run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/interpret/graph.h"

namespace tg::interpret {

InterpretOptions OptionsFor(const Module& module) {
  InterpretOptions options;
  options.flags = module.flags;
  if (module.flags.has(ModuleFlag::kNoContract)) {
    options.mulacc = MulAcc::kTwoRoundings;
    options.allow_contraction = false;
  }
  return options;
}

absl::StatusOr<HostBuffers> Interpret(const Module& module, std::string_view graph,
                                      const HostBuffers& inputs, const VarValues& vars,
                                      const InterpretOptions& options) {
  const Graph* g = module.FindGraph(graph);
  if (!g) {
    return absl::NotFoundError(
        absl::StrCat("module @", module.name, " has no graph @", std::string(graph)));
  }
  const std::string broken =
      BrokenRequirement(module, [&](std::string_view name) -> std::optional<int64_t> {
        const auto value = vars.find(name);
        return value == vars.end() ? std::nullopt : std::optional(value->second);
      });
  if (!broken.empty()) return absl::InvalidArgumentError(broken);
  auto result = InterpretGraph(module, *g, inputs, vars, options);
  if (!result.ok()) return result.status();
  return std::move(result->buffers);
}

absl::StatusOr<HostBuffers> Interpret(const Module& module, std::string_view graph,
                                      const HostBuffers& inputs, const VarValues& vars) {
  return Interpret(module, graph, inputs, vars, OptionsFor(module));
}

absl::StatusOr<HostBuffers> InterpretFirstRun(const Module& module, std::string_view graph,
                                              const HostBuffers& inputs, const VarValues& vars,
                                              const InterpretOptions& options) {
  if (graph == kInitGraph || !module.FindGraph(kInitGraph)) {
    return Interpret(module, graph, inputs, vars, options);
  }
  absl::StatusOr<HostBuffers> made = Interpret(module, kInitGraph, inputs, {}, options);
  if (!made.ok()) return made;
  // What is there already stays: insert does not replace.
  made->insert(inputs.begin(), inputs.end());
  return Interpret(module, graph, *made, vars, options);
}

}  // namespace tg::interpret
