// Makes random values and views of states, each with a model (array_model.h): the elements of a
// value, or the memory of a view's state and the positions of the view's elements in it. Internal
// to write_chains.h.
#ifndef TG_IR_TESTING_VIEW_MAKER_H_
#define TG_IR_TESTING_VIEW_MAKER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/testing/array_model.h"
#include "ir/testing/rng.h"

namespace tg::testing {

using Extents = std::vector<int64_t>;
// The flat contents of a state's buffer. A write makes a new object.
using Memory = std::shared_ptr<const std::vector<int64_t>>;

// A node and its model: a view of a state, or a value.
struct Handle {
  const UOp* node = nullptr;
  Array array;       // for a view: the position in memory of each element; else the elements
  Memory memory;     // for a view: the memory; else null
  size_t state = 0;  // for a view
  const Extents& shape() const { return array.shape; }
};

class ViewMaker {
 public:
  ViewMaker(Rng& rng, Builder& b) : rng_(rng), b_(b) {}

  // Applies at most `most` random movement ops to `x`, none of which repeats an element.
  Handle Place(Handle x, int64_t most);
  // Converts `x` to this shape: broadcasts a single element, otherwise flattens it and shrinks or
  // pads it.
  Handle ToShape(const Handle& x, const Extents& shape);
  Handle Shrink(const Handle& x, const std::vector<std::pair<int64_t, int64_t>>& pairs);
  // The pairs of a shrink that drops nothing.
  std::vector<std::pair<int64_t, int64_t>> All(const Handle& x);
  // The same node as a value.
  static Handle Read(const Handle& x);

 private:
  static Handle With(const Handle& x, const UOp* node, Array array);
  Handle Reshape(const Handle& x, const Extents& shape);
  Handle Pad(const Handle& x, const std::vector<std::pair<int64_t, int64_t>>& pairs);
  Handle RandomReshape(const Handle& x);
  Handle RandomPermute(const Handle& x);
  Handle RandomFlip(const Handle& x);
  Handle RandomShrink(const Handle& x);
  // Every second or third element along an axis: padded to a multiple of the step, reshaped to
  // steps, and shrunk to the first element of each.
  Handle RandomSteps(const Handle& x);

  Rng& rng_;
  Builder& b_;
};

}  // namespace tg::testing

#endif  // TG_IR_TESTING_VIEW_MAKER_H_
