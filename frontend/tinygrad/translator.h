// Translator: what tensor graphs and kernels have in common when they become bodies of a module:
// nodes one after the other, sources first; elementwise ops, constants, movement and reductions.
#ifndef TG_FRONTEND_TINYGRAD_TRANSLATOR_H_
#define TG_FRONTEND_TINYGRAD_TRANSLATOR_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/tinygrad/demand.h"
#include "frontend/tinygrad/syntax.h"
#include "frontend/tinygrad/views.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "ir/shape.h"
#include "ir/text/diagnostic.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::tinygrad {

class Translator {
 public:
  virtual ~Translator() = default;

 protected:
  using Nodes = llvm::SmallVector<const UOp*, 4>;

  Translator(const Demand& demand, Module& module, Body& body, Diagnostics& diags);

  // Every node that is needed, sources first. False after an error.
  bool TranslateAll();
  // Nodes that are translated before `n` though they are no sources of it.
  virtual std::vector<const Node*> Prerequisites(const Node& n) const {
    (void)n;
    return {};
  }
  // The body's sink over what `sink`'s sources became; false, with `error` at the source, where one
  // is not what `accepts` wants.
  bool SetRoot(const Node& sink, llvm::function_ref<bool(const UOp*)> accepts,
               const std::string& error);
  void SetRoot(const Node& sink, UOpSpan roots);

  // The node as a `t`: null for what has no value, or after an error.
  const UOp* Translate(const Node& n, DType t);
  // The ops that this class does not know. Null for what has no value, or after an error.
  virtual const UOp* Other(const Node& n, DType t) = 0;

  // A source's translation as a value: newer versions leave loads to the reader.
  virtual const UOp* AsValue(const Node& n, const UOp* u) {
    (void)n;
    return u;
  }
  // Whether a node is not translated, since who needs it does without.
  virtual bool IsSkipped(const Node& n) const {
    (void)n;
    return false;
  }
  // The predicate (see below) of an op that Other translated to `u`, from those of its sources:
  // null where the op takes them into account itself. An error by default.
  virtual const UOp* OtherPredicate(const Node& n, const UOp* u);

  // Source `i`, as `n` takes it when it is a `t`; null, with an error, where it has no value.
  const UOp* Source(const Node& n, size_t i, DType t);
  // The translation of a node as a `t`; null where there is none.
  const UOp* ValueOf(const Node* n, DType t) const;
  // An extent: a number or a UOp in an argument.
  std::optional<Dim> DimOf(const Value& v);

  // A node and its place; null, with an error, where it has no shape.
  const UOp* Emit(const Node& n, Op op, DType t, UOpSpan srcs, Attr attr = {});
  const UOp* Emit(const Node& n, Op op, DType t, std::initializer_list<const UOp*> srcs,
                  Attr attr = {}) {
    return Emit(n, op, t, UOpSpan(srcs.begin(), srcs.size()), attr);
  }
  const UOp* EmitReshape(const Node& n, const UOp* x, const Shape& shape);
  const UOp* EmitDims(const Node& n, Op op, const UOp* x, const Shape& shape);
  // Sources of one shape, as newer versions leave it to the reader.
  bool Broadcast(const Node& n, Nodes& srcs);
  // `x`, a scalar or of a shape that broadcasts to `shape`, as a `shape`.
  const UOp* EmitBroadcast(const Node& n, const UOp* x, const Shape& shape);
  const UOp* Zero(DType t) { return b_.ConstBits(t, 0); }
  // pad or shrink, by the pairs of its argument.
  const UOp* EmitPairs(const Node& n, Op op, const UOp* x,
                       const std::vector<std::pair<Dim, Dim>>& pairs);
  const UOp* EmitConst(const Node& n, DType t);
  // `x`, a value or a pointer, through a ShapeTracker.
  const UOp* EmitView(const Node& n, const UOp* x, const Value& tracker);
  // A variable of the module; declares it.
  const UOp* EmitVar(const Node& n, const std::string& name, int64_t min, int64_t max, DType t);
  // A variable of newer versions (IsVariable).
  const UOp* Variable(const Node& n, DType t);
  // `u`, an integer, as an index.
  const UOp* AsIndex(const UOp* u);

  // ---- Invalid (invalid.cc). Some elements of a value may be undefined: those that are Invalid,
  // and what is computed from them. A predicate says which are defined: a bool of the value's shape
  // or a scalar, null where all are. A store does not write the others.

  // Whether all elements are undefined, of whatever type: such a node is not translated.
  bool IsUndefined(const Node* n) const {
    return n->slot < undefined_.size() && undefined_[n->slot];
  }
  const UOp* PredicateOf(const Node* n) const { return predicates_.lookup(n); }
  // The predicate of source `i` as a bool, also where it is constant.
  const UOp* SourcePredicate(const Node& n, size_t i);
  // Where both hold; null: always.
  const UOp* Both(const Node& n, const UOp* a, const UOp* b);
  const UOp* Not(const Node& n, const UOp* a);
  // `x` where the predicate holds, `other` elsewhere.
  const UOp* Defined(const Node& n, const UOp* predicate, const UOp* x, const UOp* other);
  // `x`, the value of source 0, as what a reduction takes: undefined elements do not count.
  const UOp* DefinedForReduce(const Node& n, Op op, const UOp* x);
  // Reports at the node and returns null.
  std::nullptr_t Fail(const Node& n, const std::string& message);
  bool Refuse(const Node& n, const std::string& message) {
    Fail(n, message);
    return false;
  }
  bool failed() const { return failed_; }
  const Shape& ShapeOf(const UOp* u) { return shapes_.Of(u); }

  const Demand& demand_;
  Module& module_;
  Body& body_;
  Context& ctx_;
  Builder b_;
  Diagnostics& diags_;
  bool has_shapes_ = true;

 private:
  const UOp* Elementwise(const Node& n, DType t);
  // tg's pow is of floats: a constant power of an integer is a product.
  const UOp* IntPower(const Node& n, DType t, const UOp* x, const UOp* exponent);
  const UOp* Where(const Node& n, DType t);
  const UOp* Compare(const Node& n);
  const UOp* Cast(const Node& n, DType t);
  // BITCAST to a type of another size: the last axis of x gets as much shorter or longer.
  const UOp* BitcastResized(const Node& n, const UOp* x, DType t);
  // The movement of `n`, applied to `x`.
  const UOp* Moved(const Node& n, const UOp* x);
  const UOp* ReduceAxis(const Node& n, DType t);
  const UOp* DefineVar(const Node& n, DType t);
  // The extents of an argument (`items`), or of source `i`.
  bool Extents(const Node& n, size_t i, Shape* shape);
  bool Pairs(const Node& n, const UOp* x, std::vector<std::pair<Dim, Dim>>* pairs);
  // As each of the types that are wanted.
  bool TranslateTypes(const Node& n);

  void FindUndefined();
  const UOp* FindPredicate(const Node& n, const UOp* u);
  const UOp* WherePredicate(const Node& n);
  const UOp* CastPredicate(const Node& n, const UOp* u);
  const UOp* MovedPredicate(const Node& n);

  ShapeMap shapes_;
  bool failed_ = false;
  std::vector<llvm::SmallVector<const UOp*, 1>> values_;  // by slot, like Demand::Types
  std::vector<bool> undefined_;                           // by slot; empty where nothing is Invalid
  llvm::DenseMap<const Node*, const UOp*> predicates_;
};

// The op of an argument like Ops.ADD, if it can stand in a reduction.
std::optional<Op> ReduceOpOf(const Value& v);
// The type of a value of type `t`: images hold floats.
DType ValueType(DType t);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_TRANSLATOR_H_
