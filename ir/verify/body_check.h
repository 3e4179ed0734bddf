// State that the rules about one body share: its nodes in order, and the errors reported so far.
#ifndef TG_IR_VERIFY_BODY_CHECK_H_
#define TG_IR_VERIFY_BODY_CHECK_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/text/diagnostic.h"
#include "ir/text/printer.h"
#include "ir/uop.h"
#include "ir/walk.h"
#include "llvm/ADT/StringMap.h"

namespace tg::verify {

enum class Rule {
#define TG_RULE(name, number, text, what) name,
#include "ir/verify/rules.def"
#undef TG_RULE
};

// "[V203] "
std::string Tag(Rule rule);

// The module's symbols, by name.
struct Symbols {
  explicit Symbols(const Module& module);
  llvm::StringMap<const VarDecl*> vars;
  llvm::StringMap<const BufferDecl*> buffers;
  llvm::StringMap<const Graph*> graphs;
  llvm::StringMap<const Kernel*> kernels;
};

class BodyCheck {
 public:
  BodyCheck(const Module& module, const Symbols& symbols, const Body& body, Stage stage,
            std::string_view where, Diagnostics& diags);

  // Reports, and marks the node as bad.
  void Error(Rule rule, const UOp* u, std::string message);
  // The same about a node whose attribute cannot be printed.
  void ErrorUnprintable(Rule rule, const UOp* u, std::string message);
  // About the body as a whole.
  void Error(Rule rule, std::string message);

  // Whether an error was reported about `u` or about a node that it depends on, so that further
  // errors would only follow from that one.
  bool IsBad(const UOp* u) const { return bad_.Contains(u); }
  void MarkBad(const UOp* u) { bad_.Insert(u); }

  std::string_view String(int64_t word) const {
    return body.context->String(static_cast<StringId>(word));
  }
  std::string Name(const UOp* u) { return Printer().Name(u); }
  bool has_shapes() const { return stage <= Stage::kKernel; }

  const Module& module;
  const Symbols& symbols;
  const Body& body;
  const Stage stage;
  const std::string where;
  Diagnostics& diags;
  std::vector<const UOp*> order;  // sources first; in the linear form, the list
  ShapeMap shapes;

 private:
  // Made for the first message.
  const NodePrinter& Printer();

  NodeSet bad_;
  std::unique_ptr<NodePrinter> printer_;
};

// Each checks one subject of one node whose sources passed the checks before; false after an error.
bool CheckStructure(BodyCheck& c, const UOp* u);
bool CheckTypes(BodyCheck& c, const UOp* u);
bool CheckShape(BodyCheck& c, const UOp* u);

// For each address node, the memory that it points into: a define_global or scratch. Null for other
// nodes.
using MemoryRoots = NodeMap<const UOp*>;

// Each checks one subject of a whole body, all nodes of which passed the checks above.
void CheckAssigns(BodyCheck& c);
void CheckKernelCalls(BodyCheck& c);
// Each reduce_tuple and its combining body. In a kernel, `carried` is nowhere else.
void CheckTuples(BodyCheck& c);
void CheckSinkTargets(BodyCheck& c);
void CheckDevices(BodyCheck& c);
// A repeat against the graph that it runs.
void CheckRepeat(BodyCheck& c, BodyCheck& body, const UOp* repeat);
// For the graph named kInitGraph.
void CheckInit(BodyCheck& c);
void CheckKernelBody(BodyCheck& c);
void CheckLinear(BodyCheck& c);

// The argument slots of a kernel, and which it writes.
struct KernelFacts {
  std::vector<const UOp*> slots;  // by number; null where there is none
  std::vector<bool> written;
  std::vector<std::string_view> vars;
};
KernelFacts FactsOf(const Body& kernel);

// Declarations, and the relations between bodies.
void CheckDeclarations(const Module& module, Diagnostics& diags);
void CheckLoops(const Module& module, const Symbols& symbols, Diagnostics& diags);

}  // namespace tg::verify

#endif  // TG_IR_VERIFY_BODY_CHECK_H_
