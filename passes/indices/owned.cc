// The part of IndexLowering that concerns what each work-item of several owns a part of.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/indices/index_lowering.h"

namespace tg::indices {

std::vector<const UOp*> IndexLowering::OwnersOf(const UOp* node) const {
  std::vector<const UOp*> out;
  for (size_t i : nest_.AxesOf(node)) {
    if (nest_.axes[i].owned) out.push_back(where_.axis[i]);
  }
  return out;
}

std::vector<IndexLowering::OwnedPart> IndexLowering::OwnedParts(
    const std::vector<size_t>& own) const {
  std::vector<OwnedPart> out;
  int64_t inner = 1;  // elements of the base axes behind
  for (size_t i : llvm::reverse(own)) {
    for (const loop_nest::Digit& digit : nest_.maps[i].digits) {
      const loop_nest::LoopAxis& axis = nest_.axes[digit.axis];
      if (!axis.owned) continue;
      out.push_back({digit.stride * inner, axis.max_size, where_.axis[digit.axis]});
    }
    inner *= nest_.base[i].max_size;
  }
  llvm::sort(out, [](const OwnedPart& a, const OwnedPart& b) { return a.stride > b.stride; });
  return out;
}

const UOp* IndexLowering::AmongOwn(const UOp* element, const std::vector<OwnedPart>& parts) {
  for (const OwnedPart& part : parts) {
    const UOp* stride = b_.Index(part.stride);
    const UOp* number = b_.Alu(Op::kFloorDiv, {element, stride});
    const UOp* owner = simplify_(b_.Alu(Op::kFloorMod, {number, b_.Index(part.size)}));
    if (owner != simplify_(part.item)) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("kernel's work-items own parts of a staged value, and one reads another's"));
      return element;
    }
    const UOp* before = b_.Alu(Op::kFloorDiv, {element, b_.Index(part.stride * part.size)});
    const UOp* behind = b_.Alu(Op::kFloorMod, {element, stride});
    element = simplify_(b_.Add(b_.Mul(before, stride), behind));
  }
  return element;
}

const UOp* IndexLowering::KeepOwnParts(const UOp* sink) {
  NodeMap<const UOp*> map;
  llvm::SmallVector<const UOp*, 8> srcs;
  for (const UOp* u : PostOrder(sink)) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = nullptr;
    const UOp* stage = u->op == Op::kStage                                  ? u
                       : u->op == Op::kIndex && u->src(0)->op == Op::kStage ? u->src(0)
                                                                            : nullptr;
    const auto parts = stage ? owned_.find(stage->word()) : owned_.end();
    if (parts != owned_.end()) {
      srcs[1] = AmongOwn(srcs[1], parts->second);
      if (!status_.ok()) return nullptr;
    }
    if (parts != owned_.end() && u->op == Op::kIndex) {
      to = b_.IndexPtr(srcs[0], srcs[1], srcs.size() > 2 ? srcs[2] : nullptr);
    } else if (parts != owned_.end()) {
      int64_t size = u->dtype.size();
      for (const OwnedPart& part : parts->second) size /= part.size;
      const DType memory = DType::Pointer(u->dtype.scalar(), size, u->dtype.space());
      to = b_.context().Make(Op::kStage, memory, {srcs.data(), srcs.size()}, u->attr);
    } else {
      to = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
    }
    map[u] = to;
    body_.CarryOver(u, to);
  }
  return map.Get(sink);
}

}  // namespace tg::indices
