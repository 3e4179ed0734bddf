// Random tensor graphs: valid modules with all ops, types and combinations of movement, and inputs
// to run them on. For property tests of passes: the output of a pass must compute the same values.
//
// The same seed and options give the same program on every machine. Tensors are small, so that
// interpretation is fast.
#ifndef TG_IR_TESTING_RANDOM_GRAPH_H_
#define TG_IR_TESTING_RANDOM_GRAPH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret/host_buffer.h"
#include "ir/module.h"
#include "ir/testing/expr_template.h"

namespace tg::testing {

struct RandomGraphOptions {
  // Number of nodes made before outputs are chosen; nodes that no output needs are dropped.
  int min_nodes = 40;
  int max_nodes = 130;
  int64_t max_elements = 160;  // of a tensor
  // Percentages of graphs.
  int symbolic = 15;        // with symbolic extents
  int special = 25;         // with infinities, NaN, zeros of both signs, limits of integers
  int state = 30;           // with in-place writes
  int empty = 4;            // with extents of 0
  int template_share = 60;  // with instances of `templates`
  int inexact = 8;          // with flags that permit other values
  int devices = 8;          // on several devices
  // Most values are integers of 8 and 16 bits, most of them near their limits, where arithmetic
  // wraps; every op takes integers.
  bool narrow = false;
  bool writes = false;        // only in-place writes through chains of views (write_chains.h)
  bool contractions = false;  // only sums of products (contractions.h)
  ModuleFlags flags = {ModuleFlag::kNoContract};
  std::span<const RootTemplate> templates;
};

struct RandomProgram {
  std::unique_ptr<Module> module;  // with one graph, @main
  interpret::HostBuffers inputs;
  interpret::VarValues vars;
};

RandomProgram MakeRandomProgram(uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace tg::testing

#endif  // TG_IR_TESTING_RANDOM_GRAPH_H_
