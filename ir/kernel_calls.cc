#include "ir/kernel_calls.h"

#include "ir/walk.h"

namespace tg {

void KernelCalls::Find() const {
  for (const auto& graph : module_.graphs) {
    if (!graph->body.root) continue;
    for (const UOp* u : graph->body.Order()) {
      if (u->op != Op::kKernel) continue;
      const auto name = static_cast<StringId>(u->word());
      calls_[std::string(graph->body.context->String(name))].push_back(u);
    }
  }
}

UOpSpan KernelCalls::Of(std::string_view kernel) const {
  std::call_once(found_, [this] { Find(); });
  const auto it = calls_.find(kernel);
  return it == calls_.end() ? UOpSpan() : UOpSpan(it->second);
}

}  // namespace tg
