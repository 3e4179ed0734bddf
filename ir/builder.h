// Builder: makes nodes with their types inferred from the op table. For passes, importers and
// tests.
//
// A wrong argument (a type that does not fit, a shape that does not) is a bug of the caller and
// stops the program; text from users goes through the parser and the verifier instead.
#ifndef TG_IR_BUILDER_H_
#define TG_IR_BUILDER_H_

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/context.h"
#include "ir/dim.h"
#include "ir/uop.h"

namespace tg {

class Builder {
 public:
  explicit Builder(Context& ctx) : ctx_(ctx) {}
  Context& context() { return ctx_; }

  // ---- Leaves
  const UOp* Const(DType t, double v);  // vector types give a splat as vconst
  const UOp* ConstInt(DType t, int64_t v);
  const UOp* ConstBits(DType t, int64_t bits);
  const UOp* Bool(bool v) { return ConstInt(kBool, v); }
  const UOp* Index(int64_t v) { return ConstInt(kIndex, v); }
  const UOp* Index(const Dim& d);
  const UOp* VConst(DType t, std::span<const int64_t> bits);
  const UOp* Var(std::string_view name);
  const UOp* Iota(int64_t size);
  const UOp* Buffer(std::string_view name, DType t);
  const UOp* DefineGlobal(int64_t arg, DType ptr);
  const UOp* Scratch(DType ptr, int64_t align = 0);  // a fresh id
  const UOp* Range(const UOp* end);                  // a fresh id
  const UOp* Special(SpecialName name, const UOp* size);
  const UOp* Unroll(int64_t axis, int64_t size);

  // ---- Elementwise. The type follows the op's rule.
  const UOp* Alu(Op op, std::initializer_list<const UOp*> srcs);
  const UOp* Alu(Op op, UOpSpan srcs);
  const UOp* Add(const UOp* a, const UOp* b) { return Alu(Op::kAdd, {a, b}); }
  const UOp* Sub(const UOp* a, const UOp* b) { return Alu(Op::kSub, {a, b}); }
  const UOp* Mul(const UOp* a, const UOp* b) { return Alu(Op::kMul, {a, b}); }
  const UOp* Where(const UOp* c, const UOp* a, const UOp* b) { return Alu(Op::kWhere, {c, a, b}); }
  const UOp* And(const UOp* a, const UOp* b) { return Alu(Op::kAnd, {a, b}); }
  const UOp* Lt(const UOp* a, const UOp* b) { return Alu(Op::kCmpLt, {a, b}); }
  const UOp* Not(const UOp* a);  // bool
  const UOp* Cast(const UOp* a, DType t);
  const UOp* Bitcast(const UOp* a, DType t);

  // ---- Movement
  const UOp* Reshape(const UOp* x, const Shape& shape);
  const UOp* Expand(const UOp* x, const Shape& shape);
  const UOp* Broadcast(const UOp* x, const Shape& shape);
  const UOp* Permute(const UOp* x, std::span<const int64_t> order);
  const UOp* Flip(const UOp* x, std::span<const int64_t> axes);
  const UOp* Pad(const UOp* x, const std::vector<std::pair<Dim, Dim>>& pairs);
  const UOp* Shrink(const UOp* x, const std::vector<std::pair<Dim, Dim>>& pairs);

  // ---- Graph
  const UOp* ReduceAxis(const UOp* x, Op op, std::span<const int64_t> axes);
  // `sources`: values, identities and combined numbers (ir/tuple.h).
  const UOp* ReduceTuple(UOpSpan sources, int64_t result, std::span<const int64_t> axes);
  // A scalar of a combining body.
  const UOp* Carried(DType t, int64_t arg);
  const UOp* Sink(UOpSpan roots);
  // targets[i]: the buffer that root i is written to, or empty.
  const UOp* Sink(UOpSpan roots, std::span<const std::string_view> targets);

  // ---- Memory
  const UOp* IndexPtr(const UOp* ptr, const UOp* idx, const UOp* gate = nullptr);
  const UOp* Load(const UOp* address, const UOp* alt = nullptr, int lanes = 0);
  const UOp* Store(const UOp* address, const UOp* value);
  const UOp* After(const UOp* ptr, UOpSpan tokens);
  const UOp* End(const UOp* token, UOpSpan ranges);

  // ---- Lanes
  const UOp* Splat(const UOp* x, int lanes);  // x itself for one lane
  const UOp* Vectorize(UOpSpan scalars);
  const UOp* Gep(const UOp* x, std::span<const int64_t> lanes);
  const UOp* Cat(UOpSpan vectors);

 private:
  const UOp* Dims(Op op, const UOp* x, const Shape& shape);
  const UOp* Pairs(Op op, const UOp* x, const std::vector<std::pair<Dim, Dim>>& pairs);
  const UOp* List(Op op, DType t, const UOp* x, std::span<const int64_t> items);

  Context& ctx_;
};

}  // namespace tg

#endif  // TG_IR_BUILDER_H_
