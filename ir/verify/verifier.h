// The verifier: whether a module that can be written down also means something.
//
// Rules are numbered (rules.def; docs/verifier.md is made from it). A message names the rule, the
// place in the text if the node has one, the op and the node:
//   softmax.uop:9:8: error: [V203] add: sources have types f32 and i32
// Verified modules can be interpreted and handed to passes: what those check with TG_CHECK holds.
// Everything here is linear in the size of the module (but for pairs of assigns to one buffer), and
// nothing recurses.
#ifndef TG_IR_VERIFY_VERIFIER_H_
#define TG_IR_VERIFY_VERIFIER_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ir/module.h"
#include "ir/text/diagnostic.h"

namespace tg {

struct VerifierRule {
  int number;
  std::string_view name;
  std::string_view what;  // what holds where it is kept
};
// In the order of their numbers.
std::span<const VerifierRule> VerifierRules();

// False where something is wrong, with at least one error in `diags`. Bodies' contexts may get new
// nodes: symbolic extents.
bool VerifyModule(const Module& module, Diagnostics& diags);
// One body of the module, without what it has to do with others.
bool VerifyGraph(const Module& module, const Graph& graph, Diagnostics& diags);
bool VerifyKernel(const Module& module, const Kernel& kernel, Diagnostics& diags);
// `where` is how messages call the body: "kernel @k".
bool VerifyBody(const Module& module, const Body& body, Stage stage, std::string_view where,
                Diagnostics& diags);

// OK, or all errors in one message.
absl::Status VerifyModule(const Module& module);

}  // namespace tg

#endif  // TG_IR_VERIFY_VERIFIER_H_
