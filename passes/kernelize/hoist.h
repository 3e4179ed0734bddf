// Moves values that depend only on params and constants to @init, which runs once for each set of
// params. There they are stored in states that the graphs read.
//
// A value is moved if that saves time in each run: its arithmetic and its reads are compared with
// reading the result (cost.h). So chains of weights are moved, while a weight that is only cast to
// a wider type, or a mask of index arithmetic, stays where it is used. So does what is made of a
// param under `fuse`: packed weights, whose decoded values would take more memory than they do. A
// param that is needed on another device is copied there once.
#ifndef TG_PASSES_KERNELIZE_HOIST_H_
#define TG_PASSES_KERNELIZE_HOIST_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"
#include "passes/target.h"

namespace tg {

class Hoister {
 public:
  Hoister(Module& module, const Target& target) : module_(module), target_(target) {}

  // Removes such values from a prepared graph (prepare.h). Equal values of several graphs share one
  // state. Updates `fused` (prepare.h). Adds a line to `remarks` for each value.
  void Run(Graph& graph, ShapeMap& shapes, NodeSet& fused, std::string& remarks, UOpSpan order);

  // Adds the removed values to the module's @init.
  void Finish();

 private:
  struct Moved {
    std::string state;
    const UOp* value;  // in init_
  };
  // The state on this device that holds `value`, a node of init_, of this shape.
  std::string StateOf(const UOp* value, const Shape& shape, const std::string& device);

  Module& module_;
  const Target& target_;
  Body init_;
  std::vector<Moved> moved_;
  // By value and device: position in moved_.
  std::map<std::pair<const UOp*, std::string>, size_t> number_;
};

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_HOIST_H_
