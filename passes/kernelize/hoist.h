// What no input reaches is computed once: values made of params and constants alone become results
// of @init, which runs once for each set of params, and are states that the graphs read.
//
// A value is moved where that saves time in each run: its work and what it reads are weighed
// against reading the value (cost.h). So chains of weights are moved; a weight
// that is only cast to a wider type, a mask made of places, stay where they are used. A param
// that is needed on another device than its own is copied there once.
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

  // Takes such values out of a graph that is prepared (prepare.h). Values that several graphs have
  // in common become one. `fused` (prepare.h) follows. `remarks` gets a line for each.
  void Run(Graph& graph, ShapeMap& shapes, NodeSet& fused, std::string& remarks, UOpSpan order);

  // Adds what was taken out to the module's @init.
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
