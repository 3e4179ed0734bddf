// One random program through the whole compiler: after every pass the module must be valid and
// compute what the graph computes.
#ifndef TG_TOOLS_FUZZ_CHECK_H_
#define TG_TOOLS_FUZZ_CHECK_H_

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
  uint64_t seed = 0;        // of what is decided at random: target, opts, order
  std::string target;       // a preset; empty: any
  bool text = true;         // print, parse, print
  bool random_opts = true;  // in half of the programs any legal opts, not the heuristic's
  bool shuffle = true;      // in half of them linearize takes any valid order
  bool simplify = true;     // between passes, now and then
  // What the last step interprets is compared after these passes only; empty: after each.
  std::vector<std::string> passes;
  // Is told each step before it begins: what a process was doing when it died.
  std::function<void(std::string_view)> progress;
  // Is shown the module after each step.
  std::function<void(std::string_view, const Module&)> observe;
};

struct Failure {
  std::string pass;     // "verify", "text", "interpret", a pass, "simplify after lower", "render"
  std::string message;  // one line about what differs, or what the pass said
};

struct Outcome {
  std::optional<Failure> failure;
  std::string skipped;  // why a target cannot run this program; empty: it was checked to the end
  Target target;
  HostBuffers expected;              // with bounds of errors
  std::unique_ptr<Module> compiled;  // linear kernels; null after a failure or where skipped
  std::string source;                // of its kernels, in OpenCL C
};

// The program's own module is not changed. `coverage` may be null.
Outcome Check(const testing::RandomProgram& program, const CheckOptions& options,
              Coverage* coverage);

}  // namespace tg::fuzz

#endif  // TG_TOOLS_FUZZ_CHECK_H_
