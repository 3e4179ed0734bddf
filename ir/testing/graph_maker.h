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
  std::vector<int64_t> extents;  // what the variables make of the shape
  // Correct evaluations may differ a little: below a transcendental or a sum of floats.
  bool rough = false;
  // A NaN in it may have any bits, because it was computed.
  bool computed = false;

  Scalar scalar() const { return node->dtype.scalar(); }
  int64_t size() const { return NumElements(extents); }
};

class GraphMaker {
 public:
  GraphMaker(uint64_t seed, const RandomGraphOptions& options);
  RandomProgram Make();

 private:
  // ---- graph_maker.cc: the pool
  void Step();
  Value Wrap(const UOp* u, bool rough = false, bool computed = false);
  // One of these types: in narrow graphs most often an integer of 8 or 16 bits, if there is one.
  Scalar PickScalar(const std::vector<Scalar>& scalars);
  void Push(Value v);
  Value Recent();
  std::optional<Value> Find(Scalar s, const Shape* shape, bool exact);
  Value NewBuffer(Scalar s, const Shape& shape);
  // Numbers that count along one axis of `shape`, or a constant where it has none to count.
  Value Places(Scalar s, const Shape& shape);
  Value Constant(Scalar s, bool nonzero = false);  // of shape []
  Value Source(Scalar s);                          // a value of this type from the pool
  // A value of this type that can be combined with `like`: of its shape, or of shape [].
  Value Operand(Scalar s, const Value& like, bool exact);
  Value Exact(Value v);  // v, or in place of a rough one another
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
  Value Wrapper();      // contiguous, detach, ...
  Value IndexScalar();  // integer arithmetic on variables, brought into the pool as a number

  // ---- make_template.cc
  Value Narrow();
  std::optional<Value> FromTemplate(const RootTemplate& t);
  const RootTemplate* PickTemplate();  // one that may matter to this module; null: none
  void ChooseNumbers(const RootTemplate& t, int64_t* numbers);
  Value Bounded(const Value& v, const int64_t* numbers);  // numbers: 4 that may matter, or null
  const UOp* Instantiate(const ExprTemplate& t, bool want_bool, const struct TemplateNames& names);

  // ---- make_movement.cc
  Value Movement(Value x);
  std::optional<Value> Reshape(const Value& x);
  std::optional<Value> Expand(const Value& x);
  std::optional<Value> Permute(const Value& x);
  std::optional<Value> Flip(const Value& x);
  std::optional<Value> Pad(const Value& x);
  std::optional<Value> Shrink(const Value& x);
  // Each second or third element along an axis, as front ends write it: padded to whole steps, cut
  // into these, one of each kept.
  std::optional<Value> Stepped(const Value& x);
  std::optional<Value> View(const Value& x);
  Value Moved(const Value& x, const UOp* u) { return Wrap(u, x.rough, x.computed); }
  std::vector<int64_t> RandomFactors(int64_t n);
  bool Small(const std::vector<int64_t>& extents) const;

  // ---- make_memory.cc
  void StartState();
  void WriteState();
  Value Place(Value x);  // a part of a buffer, each element once
  Value BufferView();

  struct State {
    std::string name;
    Value entry;
    Value now;                        // the whole buffer after all writes so far
    std::vector<const UOp*> assigns;  // all of them
  };
  struct IndexValue {
    const UOp* node;
    double magnitude;  // no value is greater
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
  std::vector<const UOp*> effects_;  // assigns that the sink holds on to
  const UOp* var_ = nullptr;         // the extent that is a variable
  int64_t var_value_ = 0, var_min_ = 0, var_max_ = 0;
  ValueStyle style_ = ValueStyle::kTame;
  bool empty_ = false;  // extents of 0 occur
  bool templates_ = false;
  bool inexact_ = false;  // other values than those of the ops are allowed
  int num_buffers_ = 0;
};

// The scalars of a class mask such as "bixf" (and 's', 'u'), index left out.
std::vector<Scalar> ScalarsOf(std::string_view classes);

}  // namespace tg::testing

#endif  // TG_IR_TESTING_GRAPH_MAKER_H_
