// Values that no input reaches: made of params, constants and places. Not those made of a param
// that must be computed where it is used (prepare.h), such as packed weights: nothing of it is
// stored.
#ifndef TG_PASSES_KERNELIZE_FIXED_VALUES_H_
#define TG_PASSES_KERNELIZE_FIXED_VALUES_H_

#include <string_view>
#include <unordered_set>

#include "ir/module.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::kernelize {

class FixedValues {
 public:
  FixedValues(const Module& module, const Context& context, const NodeSet& fused)
      : context_(context), fused_(fused) {
    for (const BufferDecl& decl : module.buffers) {
      if (decl.role == Role::kParam && !decl.dtype.is_image()) params_.insert(decl.name);
    }
  }

  // Notes whether no input reaches `u`, whose sources were seen before.
  void See(const UOp* u) {
    bool fixed = u->num_srcs > 0 || IsConst(u) || u->op == Op::kIota;
    if (u->op == Op::kBuffer) {
      fixed = !fused_.Contains(u) &&
              params_.contains(context_.String(static_cast<StringId>(u->word())));
    }
    if (fixed && llvm::all_of(u->srcs(), [&](const UOp* s) { return fixed_.Contains(s); })) {
      fixed_.Insert(u);
    }
  }

  bool Contains(const UOp* u) const { return fixed_.Contains(u); }

 private:
  const Context& context_;
  const NodeSet& fused_;
  std::unordered_set<std::string_view> params_;
  NodeSet fixed_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_FIXED_VALUES_H_
