#include <algorithm>
#include <utility>

#include "base/status.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

absl::StatusOr<bool> Plan::Rebind(const NamedBuffers& buffers) {
  std::vector<int> changed;
  for (const int index : graph_->buffers) {
    BufferRef& its = buffers_[static_cast<size_t>(index)];
    const auto found = buffers.find(executable_->buffers[static_cast<size_t>(index)].name);
    if (found == buffers.end() || found->second == its) continue;
    its = found->second;
    changed.push_back(index);
  }
  if (changed.empty()) return true;
  if (!commands_.empty()) return false;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const std::vector<BufferSlice>& slices = graph_->steps[i].buffers;
    const auto is_changed = [&](const BufferSlice& slice) {
      return std::find(changed.begin(), changed.end(), slice.buffer) != changed.end();
    };
    if (std::none_of(slices.begin(), slices.end(), is_changed)) continue;
    if (!steps_[i].launch) return false;
    const std::vector<codegen::KernelParam>& params = steps_[i].rendered->params;
    for (size_t a = 0; a < params.size(); ++a) {
      if (params[a].is_var) continue;
      const BufferSlice& slice = slices[static_cast<size_t>(params[a].slot)];
      if (!is_changed(slice)) continue;
      TG_ASSIGN_OR_RETURN(BufferRef buffer, Resolve(slice));
      TG_RETURN_IF_ERROR(steps_[i].launch->SetArg(a, std::move(buffer)));
    }
  }
  return true;
}

}  // namespace tg::runtime
