// Translator: the part of the import that tensor graphs and kernels share: it emits a body's nodes,
// sources first, and translates elementwise ops, constants, movement and reductions.
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
  using Ranges = std::vector<std::pair<Dim, Dim>>;

  Translator(const Demand& demand, Module& module, Body& body, Diagnostics& diags);

  // Translates all needed nodes, sources first. Returns false after an error.
  bool TranslateAll();
  // Nodes that must be translated before `n` though they are not its sources.
  virtual std::vector<const Node*> Prerequisites(const Node& n) const {
    (void)n;
    return {};
  }
  // Makes the body's sink over the translations of `sink`'s sources. Returns false, with `error` at
  // the source, if `accepts` refuses one.
  bool SetRoot(const Node& sink, llvm::function_ref<bool(const UOp*)> accepts,
               const std::string& error);
  void SetRoot(const Node& sink, UOpSpan roots);

  // Translates the node as a `t`. Returns null for a node without a value, or after an error.
  const UOp* Translate(const Node& n, DType t);
  // Translates the ops that this class does not handle. Returns null for a node without a value, or
  // after an error.
  virtual const UOp* Other(const Node& n, DType t) = 0;

  // A source's translation as a value: newer versions leave loads implicit.
  virtual const UOp* AsValue(const Node& n, const UOp* u) {
    (void)n;
    return u;
  }
  // Whether the node is not translated because its users do not need it.
  virtual bool IsSkipped(const Node& n) const {
    (void)n;
    return false;
  }
  // The predicate (see below) of an op that Other translated to `u`, from the predicates of its
  // sources. Returns null if the op applies them itself. The default is an error.
  virtual const UOp* OtherPredicate(const Node& n, const UOp* u);

  // Source `i` in the type that `n`, translated as a `t`, demands. Returns null, with an error, if
  // it has no value.
  const UOp* Source(const Node& n, size_t i, DType t);
  // The translation of a node as a `t`, or null.
  const UOp* ValueOf(const Node* n, DType t) const;
  // An extent: a number or a UOp in an argument.
  std::optional<Dim> DimOf(const Value& v);

  // Emits a node with the location of `n`. Returns null, with an error, if it has no shape.
  const UOp* Emit(const Node& n, Op op, DType t, UOpSpan srcs, Attr attr = {});
  const UOp* Emit(const Node& n, Op op, DType t, std::initializer_list<const UOp*> srcs,
                  Attr attr = {}) {
    return Emit(n, op, t, UOpSpan(srcs.begin(), srcs.size()), attr);
  }
  const UOp* EmitReshape(const Node& n, const UOp* x, const Shape& shape);
  const UOp* EmitDims(const Node& n, Op op, const UOp* x, const Shape& shape);
  // Broadcasts sources to one shape, which newer versions leave implicit.
  bool Broadcast(const Node& n, Nodes& srcs);
  // Broadcasts `x`, a scalar or a tensor, to `shape`.
  const UOp* EmitBroadcast(const Node& n, const UOp* x, const Shape& shape);
  const UOp* Zero(DType t) { return b_.ConstBits(t, 0); }
  // Emits a pad or shrink with the pairs of its argument.
  const UOp* EmitPairs(const Node& n, Op op, const UOp* x, const Ranges& pairs);
  const UOp* EmitConst(const Node& n, DType t);
  // Applies a ShapeTracker to `x`, a value or a pointer.
  const UOp* EmitView(const Node& n, const UOp* x, const Value& tracker);
  // Declares a variable of the module and returns it.
  const UOp* EmitVar(const Node& n, const std::string& name, int64_t min, int64_t max, DType t);
  // Translates a variable of newer versions (IsVariable).
  const UOp* Variable(const Node& n, DType t);
  // Converts an integer `u` to index.
  const UOp* AsIndex(const UOp* u);

  // ---- Invalid (invalid.cc). Some elements of a value may be undefined: elements that are
  // Invalid, and elements computed from them. A predicate tells which are defined: a bool of the
  // value's shape or a scalar; null if all are. A store does not write undefined elements.

  // Whether all elements are undefined, in any type. Such a node is not translated.
  bool IsUndefined(const Node* n) const {
    return n->slot < undefined_.size() && undefined_[n->slot];
  }
  const UOp* PredicateOf(const Node* n) const { return predicates_.lookup(n); }
  // The predicate of source `i` as a bool, even if it is constant.
  const UOp* SourcePredicate(const Node& n, size_t i);
  // The conjunction of two predicates; null means always.
  const UOp* Both(const Node& n, const UOp* a, const UOp* b);
  const UOp* Not(const Node& n, const UOp* a);
  // `x` where the predicate holds, `other` elsewhere.
  const UOp* Defined(const Node& n, const UOp* predicate, const UOp* x, const UOp* other);
  // `x`, the value of source 0, with undefined elements replaced by the reduction's identity.
  const UOp* DefinedForReduce(const Node& n, Op op, const UOp* x);
  // Reports an error at the node and returns null.
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
  // Expands a constant power of an integer into products, since tg's pow takes floats.
  const UOp* IntPower(const Node& n, DType t, const UOp* x, const UOp* exponent);
  const UOp* Where(const Node& n, DType t);
  const UOp* Compare(const Node& n);
  const UOp* Cast(const Node& n, DType t);
  // BITCAST to a type of another size: the last axis of x grows or shrinks by the ratio of the
  // sizes.
  const UOp* BitcastResized(const Node& n, const UOp* x, DType t);
  // Applies the movement op `n` to `x`.
  const UOp* Moved(const Node& n, const UOp* x);
  const UOp* ReduceAxis(const Node& n, DType t);
  const UOp* DefineVar(const Node& n, DType t);
  // Reads the extents of an argument (`items`), or of source `i`.
  bool Extents(const Node& n, size_t i, Shape* shape);
  bool Pairs(const Node& n, const UOp* x, Ranges* pairs);
  // Translates the node as each demanded type.
  bool TranslateTypes(const Node& n);

  // ---- Slices that may end past a symbolic extent (slices.cc).

  // A value and a range of each of its axes.
  struct Slice {
    const UOp* x;
    Ranges ranges;
  };
  // Emits the shrink of `x` to `ranges`.
  const UOp* EmitShrink(const Node& n, const UOp* x, const Ranges& ranges);
  Shape ExtentsOf(const Slice& slice);
  // Whether the ranges end inside of x for all values of the variables.
  bool Contains(const Slice& slice);
  // The slices of operands that a slice is computed from, by operand; an operand without axes has
  // none. Returns nullopt if x is not computed from its operands element by element.
  std::optional<std::vector<std::optional<Slice>>> SourcesOf(const Slice& slice);
  // Emits a slice from the slices of its operands.
  const UOp* EmitSlice(const Node& n, const Slice& slice, const Nodes& sources);

  void FindUndefined();
  const UOp* FindPredicate(const Node& n, const UOp* u);
  const UOp* WherePredicate(const Node& n);
  const UOp* CastPredicate(const Node& n, const UOp* u);
  const UOp* MovedPredicate(const Node& n);

  ShapeMap shapes_;
  bool failed_ = false;
  std::vector<llvm::SmallVector<const UOp*, 1>> values_;  // by slot, like Demand::Types
  std::vector<bool> undefined_;                           // by slot; empty if nothing is Invalid
  llvm::DenseMap<const Node*, const UOp*> predicates_;
};

// The op of an argument like Ops.ADD, if a reduction may use it.
std::optional<Op> ReduceOpOf(const Value& v);
// The type of a value that is printed as a `t`: images hold floats.
DType ValueType(DType t);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_TRANSLATOR_H_
