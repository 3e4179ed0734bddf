// Checks one random program with the whole compiler: after every pass the module must be valid and
// compute the same values as the graph.
#ifndef TG_TOOLS_FUZZ_CHECK_PROGRAM_H_
#define TG_TOOLS_FUZZ_CHECK_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/testing/random_graph.h"
#include "passes/target.h"
#include "tools/fuzz/coverage.h"

namespace tg::fuzz {

struct CheckOptions {
  uint64_t seed = 0;   // of the random decisions: target, directives, order
  std::string target;  // a preset; empty: a random one
  std::optional<passes::Target> device_target;  // instead of a preset
  bool text = true;                             // prints, parses and prints each module
  // Half of the programs use random legal directives, and a quarter random widths of vectors.
  bool random_directives = true;
  bool shuffle = true;   // in half of the programs linearize uses a random valid order
  bool simplify = true;  // runs simplify between some of the passes
  // Results of the interpreter are compared after these passes only; empty: after each pass.
  std::vector<std::string> passes;
  // Called with each step before it begins, so that a crash can be attributed to its step.
  std::function<void(std::string_view)> progress;
  // Called with the module after each step.
  std::function<void(std::string_view, const Module&)> observe;
};

struct Failure {
  std::string pass;     // "verify", "text", "interpret", a pass, "simplify after lower", "render"
  std::string message;  // one line about the difference, or the pass's error
};

struct Outcome {
  std::optional<Failure> failure;
  std::string skipped;  // why a target cannot run this program; empty if it was checked to the end
  passes::Target target;
  interpret::HostBuffers expected;   // with error bounds
  std::unique_ptr<Module> compiled;  // linear kernels; null after a failure or if skipped
  std::string source;                // of its kernels, as OpenCL C
};

// Does not change the program's module. `coverage` may be null.
Outcome Check(const testing::RandomProgram& program, const CheckOptions& options,
              Coverage* coverage);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_CHECK_PROGRAM_H_
