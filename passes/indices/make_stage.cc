#include "passes/indices/make_stage.h"

#include "base/check.h"

namespace tg::indices {

const UOp* MakeStage(Builder& b, const UOp* x, int64_t size, const UOp* element, const UOp* gate,
                     const StageLoops& axes, const StageOptions& options) {
  TG_CHECK(x->dtype.lanes() == 1);
  std::vector<const UOp*> srcs = {x, element, gate ? gate : b.ConstBits(kBool, 1)};
  for (const auto* list : {&axes.ranges, &axes.unrolls, &axes.specials}) {
    srcs.insert(srcs.end(), list->begin(), list->end());
  }
  if (options.step) srcs.push_back(options.step);
  const AddrSpace space = options.is_local ? AddrSpace::kLocal : AddrSpace::kReg;
  Context& ctx = b.context();
  return ctx.Make(Op::kStage, DType::Pointer(x->dtype.scalar(), size, space), srcs,
                  ctx.MakeAttr(Op::kStage, {ctx.NextId(), options.interleaved,
                                            options.step ? options.buffers : 0,
                                            options.step && options.ahead, options.row}));
}

}  // namespace tg::indices
