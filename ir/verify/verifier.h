// The verifier: checks that a syntactically correct module is well-formed.
//
// Rules are numbered (rules.def; docs/verifier.md is made from it). A message names the rule, the
// position in the text if the node has one, the op and the node:
//   softmax.uop:9:8: error: [V203] add: sources have types f32 and i32
// Verified modules can be interpreted and given to passes, whose TG_CHECKs hold. Time is linear in
// the size of the module, but for pairs of assigns to one buffer. Nothing recurses.
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
  std::string_view what;  // the condition that holds
};
// In the order of their numbers.
std::span<const VerifierRule> VerifierRules();

// False if the module is invalid; then `diags` has at least one error. May add nodes for symbolic
// extents to the contexts of bodies.
bool VerifyModule(const Module& module, Diagnostics& diags);
// Verifies a module as the parser made it, including the lines that no sink reaches, one by one.
// After a pass, nodes that no sink reaches are not part of the module.
bool VerifyParsedModule(const Module& module, Diagnostics& diags);
// Verifies one body of the module, without the rules that relate bodies.
bool VerifyGraph(const Module& module, const Graph& graph, Diagnostics& diags);
bool VerifyKernel(const Module& module, const Kernel& kernel, Diagnostics& diags);
// `where` names the body in messages: "kernel @k".
bool VerifyBody(const Module& module, const Body& body, Stage stage, std::string_view where,
                Diagnostics& diags);

// OK, or all errors in one message.
absl::Status VerifyModule(const Module& module);

}  // namespace tg

#endif  // TG_IR_VERIFY_VERIFIER_H_
