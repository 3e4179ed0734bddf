// Random tensor graphs: valid modules of every op, type and combination of movement, with inputs to
// run them on. For property tests of passes: what a pass makes of one must compute the same.
//
// The same seed and options give the same program on every machine. Tensors are small, so that an
// interpretation takes well under a millisecond.
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
  // Nodes that are made before outputs are chosen; nodes that no output needs are dropped.
  int min_nodes = 40;
  int max_nodes = 130;
  int64_t max_elements = 160;  // of a tensor
  // Shares of graphs, in percent.
  int symbolic = 15;        // with extents that are variables
  int special = 25;         // with infinities, NaN, zeros of both signs, limits of integers
  int state = 30;           // with buffers that are written in place
  int empty = 4;            // with extents of 0
  int template_share = 60;  // with instances of `templates`
  int inexact = 8;          // with flags under which other values are right too
  int devices = 8;          // over several devices
  // Most values are integers of 8 and 16 bits, most of these near their limits, where arithmetic
  // wraps; every op takes integers.
  bool narrow = false;
  bool writes = false;  // only in-place writes through chains of views (write_chains.h)
  ModuleFlags flags = {ModuleFlag::kNoContract};
  std::span<const RootTemplate> templates;
};

struct RandomProgram {
  std::unique_ptr<Module> module;  // with one graph, @main
  HostBuffers inputs;
  VarValues vars;
};

RandomProgram MakeRandomProgram(uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace tg::testing

#endif  // TG_IR_TESTING_RANDOM_GRAPH_H_
