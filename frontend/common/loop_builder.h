// LoopBuilder: a loop of a graph that is being built, as a `repeat`.
//
//   LoopBuilder loop(g, "scan", length);
//   const Value state = loop.AddState(initial);
//   const Value next = ...;                 // of `state` and of loop.step()
//   loop.SetNext(0, next);
//   const size_t rows = loop.AddRows(next, loop.step());
//   if (!loop.Finish()) return;
//   ... loop.Last(0), loop.Rows(rows) ...
//
// An iteration is built like any other part of the graph. What does not depend on a state or on the
// number of the iteration is computed once, before the loop.
#ifndef TG_FRONTEND_COMMON_LOOP_BUILDER_H_
#define TG_FRONTEND_COMMON_LOOP_BUILDER_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/common/graph_builder.h"
#include "ir/walk.h"

namespace tg::frontend {

class LoopBuilder {
 public:
  // `name` is the beginning of the names of what the loop declares. It runs `trip` times. Where the
  // bounds of the variables do not say how often that is, there is an error.
  LoopBuilder(GraphBuilder& g, std::string_view name, const Dim& trip);

  // The number of the iteration, from 0.
  const Dim& step() const { return step_; }
  // Adds a value that an iteration reads and the one before it computes; returns it as it is at the
  // start of an iteration.
  Value AddState(Value initial);
  void SetNext(size_t state, Value next) { states_[state].next = next; }
  // Each iteration writes `value` to row `row` (0 <= row < trip; another one in each iteration) of
  // a new tensor; returns the tensor's number.
  size_t AddRows(Value value, const Dim& row);
  // The loop ends before an iteration at whose start this state, a scalar bool, is false. Call it
  // at most once.
  void SetCondition(size_t state) { condition_ = state; }

  // What the nodes from number `first` to before `last` compute is left to the iterations, also
  // where nothing in it changes: a loop that perhaps does not run shall not compute it before.
  void SetInside(uint32_t first, uint32_t last) { inside_ = {first, last}; }

  // Makes the loop; false after an error. Nodes that the body alone has get the origin.
  bool Finish(std::string_view origin = {});
  // The state after the last iteration.
  Value Last(size_t state) const { return states_[state].last; }
  // [trip, ...]. A row that no iteration writes has no value.
  Value Rows(size_t rows) const { return rows_[rows].all; }

 private:
  struct State {
    Value initial = nullptr, first = nullptr, second = nullptr;  // buffers
    Value next = nullptr, last = nullptr;
  };
  struct RowsOf {
    Value value = nullptr, buffer = nullptr, all = nullptr;
    Dim row;
  };

  // A temporary of this type and shape; null after an error.
  Value Temporary(DType type, const Shape& shape);
  // What an iteration writes, sources first.
  std::vector<Value> Writes();
  void FindVarying(UOpSpan order);
  void FindRepeatable(UOpSpan order);
  // Adds the counts that decide the sizes of the body to what it reads.
  void ReadMeasures(const Body& body);
  // A node of the body for a value that is computed before the loop.
  const UOp* Capture(const UOp* u);
  const UOp* CopyNode(const UOp* u, UOpSpan srcs);
  Value Assign(Value target, Value value);

  GraphBuilder& g_;
  const std::string name_;
  const Dim trip_;
  Dim step_;
  std::vector<State> states_;
  std::vector<RowsOf> rows_;
  std::optional<size_t> condition_;
  std::pair<uint32_t, uint32_t> inside_;
  // While the body is made.
  Body* body_ = nullptr;
  NodeSet varying_;     // what an iteration computes
  NodeSet repeatable_;  // what costs nothing, or is made of weights alone
  NodeMap<const UOp*> copies_;
  std::vector<Value> reads_;  // buffers that the body reads
};

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_LOOP_BUILDER_H_
