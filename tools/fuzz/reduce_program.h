// Shrinks a program while a property holds: delta debugging on the graph.
//
// It tries, from large steps to small ones, until none succeeds: to drop results; to replace a
// result by one of its sources; and to replace a node by one of its sources, a constant, or a param
// that holds the node's value.
#ifndef TG_TOOLS_FUZZ_REDUCE_PROGRAM_H_
#define TG_TOOLS_FUZZ_REDUCE_PROGRAM_H_

#include <functional>

#include "ir/testing/random_graph.h"

namespace tg::fuzz {

// Whether a candidate still has the property. Candidates are valid modules.
using Interesting = std::function<bool(const testing::RandomProgram&)>;

struct ReduceResult {
  testing::RandomProgram program;
  int tried = 0, kept = 0;  // numbers of candidates
};

struct ReduceOptions {
  int max_tries = 5000;  // candidates at most
  // Called before each candidate; the reduction ends where it returns true.
  std::function<bool()> stop = {};
  // Called after each candidate, with the smallest program so far and the size of its graph.
  // `kept`: whether it is new.
  std::function<void(const ReduceResult& best, size_t nodes, bool kept)> progress = {};
};

// `program` has one graph and no kernels, and has the property.
ReduceResult Reduce(const testing::RandomProgram& program, const Interesting& interesting,
                    const ReduceOptions& options = {});

testing::RandomProgram CopyProgram(const testing::RandomProgram& program);

// Turns inputs into params with their values in the text, so that the module is self-contained.
// Symbolic buffers and states cannot be converted.
void InlineInputs(testing::RandomProgram& program);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_REDUCE_PROGRAM_H_
