// GraphMaker: the pool of values from which a random graph grows. Internal to random_graph.h.
#ifndef TG_IR_TESTING_GRAPH_MAKER_H_
#define TG_IR_TESTING_GRAPH_MAKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/shape.h"
#include "ir/testing/random_graph.h"
#include "ir/testing/random_values.h"
#include "ir/testing/rng.h"

namespace tg::testing {

struct Value {
  const UOp* node = nullptr;
  Shape shape;
  std::vector<int64_t> extents;  // the shape, evaluated with the variables
  // Correct evaluations may differ slightly: the value depends on a transcendental function or a
  // sum of floats.
  bool rough = false;
  // The value was computed, so a NaN in it may have any bits.
  bool computed = false;

  Scalar scalar() const { return node->dtype.scalar(); }
  int64_t size() const { return interpret::NumElements(extents); }
};

class GraphMaker {
 public:
  GraphMaker(uint64_t seed, const RandomGraphOptions& options);
  RandomProgram Make();

 private:
  // ---- graph_maker.cc: the pool
  void Step();
  Value Wrap(const UOp* u, bool rough = false, bool computed = false);
  // Picks one of these types; in narrow graphs usually an integer of 8 or 16 bits, if there is one.
  Scalar PickScalar(const std::vector<Scalar>& scalars);
  void Push(Value v);
  Value Recent();
  std::optional<Value> Find(Scalar s, const Shape* shape, bool exact);
  Value NewBuffer(Scalar s, const Shape& shape);
  // Numbers that increase along one axis of `shape`, or a constant if no axis allows it.
  Value Places(Scalar s, const Shape& shape);
  Value Constant(Scalar s, bool nonzero = false);  // of shape []
  Value Source(Scalar s);                          // a value of this type from the pool
  // A value of this type that can be combined with `like`: it has the same shape, or shape [].
  Value Operand(Scalar s, const Value& like, bool exact);
  Value Exact(Value v);  // v, or another value if v is rough
  Value ToScalar(Value v, Scalar s);
  Value ToShape(Value v, const Shape& shape);
  Value Broadcast(Value v, const Shape& shape);  // from shape []
  Value WithoutNan(Value v);
  bool Declarable(const Shape& shape) const;
  Shape RandomShape();
  void Finish();
  void NameNodes();
  int64_t Evaluate(const Dim& d) const;

  // ---- make_elementwise.cc
  Value Elementwise();
  Value ElementwiseOf(Op op, Scalar s);
  Value Cast();
  Value Reduce(const Value& x);
  Value ReduceTuple(const Value& x, const std::vector<int64_t>& axes);
  Value Wrapper();      // contiguous, detach, ...
  Value IndexScalar();  // integer arithmetic on variables, as a value of the pool

  // ---- make_template.cc
  Value Narrow();
  std::optional<Value> FromTemplate(const RootTemplate& t);
  const RootTemplate* PickTemplate();  // one that can match in this module; null: none
  void ChooseNumbers(const RootTemplate& t, int64_t* numbers);
  Value Bounded(const Value& v, const int64_t* numbers);  // numbers: 4 likely bounds, or null
  const UOp* Instantiate(const ExprTemplate& t, bool want_bool, const struct TemplateNames& names);

  // ---- make_movement.cc
  Value Movement(Value x);
  std::optional<Value> Reshape(const Value& x);
  std::optional<Value> Expand(const Value& x);
  std::optional<Value> Permute(const Value& x);
  std::optional<Value> Flip(const Value& x);
  std::optional<Value> Pad(const Value& x);
  std::optional<Value> Shrink(const Value& x);
  // Every second or third element along an axis, in the form of front ends: padded to a multiple of
  // the step, reshaped to steps, and shrunk to the first element of each.
  std::optional<Value> Stepped(const Value& x);
  std::optional<Value> View(const Value& x);
  Value Moved(const Value& x, const UOp* u) { return Wrap(u, x.rough, x.computed); }
  std::vector<int64_t> RandomFactors(int64_t n);
  bool Small(const std::vector<int64_t>& extents) const;

  // ---- make_memory.cc
  void StartState();
  void WriteState();
  Value Place(Value x);  // part of a buffer, without repeated elements
  Value BufferView();

  struct State {
    std::string name;
    Value entry;
    Value now;                        // the whole buffer after all previous writes
    std::vector<const UOp*> assigns;  // all assigns to the buffer
  };
  struct IndexValue {
    const UOp* node;
    double magnitude;  // upper bound of the absolute value
  };

  const RandomGraphOptions& options_;
  Rng rng_;
  const uint64_t devices_seed_;
  RandomProgram program_;
  Module& module_;
  Body& body_;
  Builder b_;
  ShapeMap shapes_;
  std::vector<Value> pool_;
  std::vector<IndexValue> index_pool_;
  std::vector<const UOp*> index_vars_;
  std::vector<State> states_;
  std::vector<const UOp*> effects_;  // assigns that the sink keeps alive
  const UOp* var_ = nullptr;         // the variable that is an extent
  int64_t var_value_ = 0, var_min_ = 0, var_max_ = 0;
  ValueStyle style_ = ValueStyle::kTame;
  bool empty_ = false;  // extents may be 0
  bool templates_ = false;
  bool inexact_ = false;  // values may differ from the exact result of the ops
  int num_buffers_ = 0;
};

// The scalar types of a class mask such as "bixf" (and 's', 'u'), without index.
std::vector<Scalar> ScalarsOf(std::string_view classes);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_GRAPH_MAKER_H_
