// Views of states and values, each with what it is by a model of memory (array_model.h). Internal
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
// The contents of a state's buffer, flat. One that is written is another one.
using Memory = std::shared_ptr<const std::vector<int64_t>>;

// A node with what it is: a view of a state, or a value.
struct Handle {
  const UOp* node = nullptr;
  Array array;       // of a view: where each element is in memory; else the elements
  Memory memory;     // of a view: what it holds; else null
  size_t state = 0;  // of a view
  const Extents& shape() const { return array.shape; }
};

class ViewMaker {
 public:
  ViewMaker(Rng& rng, Builder& b) : rng_(rng), b_(b) {}

  // `x` through `most` random movement ops at most, which leave each element at one place.
  Handle Place(Handle x, int64_t most);
  // `x` in this shape: repeated where it is one element, else flat and cut or padded.
  Handle ToShape(const Handle& x, const Extents& shape);
  Handle Shrink(const Handle& x, const std::vector<std::pair<int64_t, int64_t>>& pairs);
  // What a shrink that drops nothing keeps.
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
  // Every second or third element along an axis: padded to whole steps, cut into these, the first
  // of each kept.
  Handle RandomSteps(const Handle& x);

  Rng& rng_;
  Builder& b_;
};

}  // namespace tg::testing

#endif  // TG_IR_TESTING_VIEW_MAKER_H_
