// A value is moved if that saves time in each run: computing and reading its sources is compared
// with reading the result (cost.h). So chains of operations on weights are moved, while a weight
// that is only cast to a wider type, or a mask of index arithmetic or of a gather (gathers.h),
// stays where it is used. So does a table of which a gather reads a few rows. Values made of a
// param under `fuse` stay too: such a param holds packed weights, and the decoded values would take
// more memory. A param that is needed on another device is copied there once.
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

namespace tg::kernelize {

class Hoister {
 public:
  Hoister(Module& module, const passes::Target& target) : module_(module), target_(target) {}

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
  // The name of the state on `device` that holds `value`, a node of init_, with shape `shape`.
  std::string StateOf(const UOp* value, const Shape& shape, const std::string& device);

  Module& module_;
  const passes::Target& target_;
  Body init_;
  std::vector<Moved> moved_;
  // By value and device: position in moved_.
  std::map<std::pair<const UOp*, std::string>, size_t> number_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_HOIST_H_
