// Shrinks a program while something about it stays as it is: delta debugging on the graph.
//
// Tried, from big steps to small ones, until nothing helps any more: dropping results; results that
// are a source of what they were; putting in the place of a node one of its sources, a constant, or
// a param that holds the node's value.
#ifndef TG_TOOLS_FUZZ_REDUCE_H_
#define TG_TOOLS_FUZZ_REDUCE_H_

#include <functional>

#include "ir/testing/random_graph.h"

namespace tg::fuzz {

// Whether a candidate still shows what is being looked for. Candidates are valid modules.
using Interesting = std::function<bool(const testing::RandomProgram&)>;

struct ReduceResult {
  testing::RandomProgram program;
  int tried = 0, kept = 0;  // candidates
};

// `program` has one graph and no kernels, and is interesting itself. At most `max_tries`
// candidates.
ReduceResult Reduce(const testing::RandomProgram& program, const Interesting& interesting,
                    int max_tries = 5000);

testing::RandomProgram CopyProgram(const testing::RandomProgram& program);

// Inputs as params with their values in the text, so that the module stands for itself. Symbolic
// buffers and states cannot be.
void InlineInputs(testing::RandomProgram& program);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_REDUCE_H_
