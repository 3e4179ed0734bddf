// Generates reference pages from the tables that the code reads: docs/ops.md, docs/verifier.md,
// docs/accuracy.md, docs/onnx.md, docs/targets.md.
#ifndef TG_TOOLS_REFERENCE_DOCS_H_
#define TG_TOOLS_REFERENCE_DOCS_H_

#include <string>

namespace tg::tools {

std::string OpsPage();       // ir/ops.def, ir/scalars.def, frontend/tinygrad/types.def
std::string VerifierPage();  // ir/verify/rules.def
std::string OnnxPage();      // the operators of frontend/onnx
std::string TargetsPage();   // passes/target_fields.cc, passes/target.cc
std::string AccuracyPage();  // ir/accuracy.def, tools/accuracy/compositions.def

}  // namespace tg::tools

#endif  // TG_TOOLS_REFERENCE_DOCS_H_
