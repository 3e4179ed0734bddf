#include "runtime/search/capture.h"

#include <set>
#include <utility>

#include "base/status.h"
#include "runtime/device/buffer.h"
#include "runtime/plan/extents.h"

namespace tg::search {
namespace {

absl::StatusOr<kernel_check::Contents> ContentsOf(const Module& module, const runtime::Plan& plan,
                                                  size_t step, int buffer) {
  const BufferDecl& decl = module.buffers[static_cast<size_t>(buffer)];
  kernel_check::Contents contents;
  contents.buffer = buffer;
  TG_ASSIGN_OR_RETURN(contents.shape, runtime::ShapeOf(decl, plan.VarsOf(step)));
  size_t bytes = static_cast<size_t>(ByteSize(decl.dtype.scalar()));
  for (const int64_t extent : contents.shape) bytes *= static_cast<size_t>(extent);
  contents.bytes.resize(bytes);
  if (bytes > 0) TG_RETURN_IF_ERROR(runtime::Read(*plan.buffer(buffer), 0, contents.bytes));
  return contents;
}

}  // namespace

void Capture::Want(size_t kernel, const std::string& path) {
  kernel_ = kernel;
  path_ = path;
  written_ = NotFound("the kernel did not run");
}

absl::StatusOr<CapturedKernel> Capture::Take() { return std::move(written_); }

absl::Status Capture::BeforeStep(const runtime::ScheduledGraph& graph, const runtime::Plan& plan,
                                 size_t step) {
  const runtime::ScheduledKernel& call = plan.step(step);
  if (path_.empty() || call.is_copy() || static_cast<size_t>(call.kernel) != kernel_ ||
      plan.kernels()[step].empty) {
    return absl::OkStatus();
  }
  kernel_check::Finding finding;
  finding.graph = graph.name;
  finding.step = step;
  finding.reference = unscheduled_.kernels[kernel_].get();
  finding.call = call;
  finding.vars = plan.VarsOf(step);
  std::set<int> read;
  for (const runtime::BufferSlice& slice : call.buffers) {
    if (!read.insert(slice.buffer).second) continue;
    TG_ASSIGN_OR_RETURN(kernel_check::Contents contents,
                        ContentsOf(compiled_, plan, step, slice.buffer));
    finding.before.push_back(std::move(contents));
  }
  written_ = [&]() -> absl::StatusOr<CapturedKernel> {
    TG_ASSIGN_OR_RETURN(kernel_check::Reproduction written,
                        kernel_check::WriteReproduction(finding, unscheduled_, compiled_, path_));
    return CapturedKernel{std::move(written), ReuseOf(graph, plan, step, compiled_)};
  }();
  path_.clear();
  return absl::OkStatus();
}

}  // namespace tg::search
