#include "ir/verify/verifier.h"

#include <algorithm>

#include "ir/verify/body_check.h"

namespace tg {
namespace verify {
namespace {

constexpr VerifierRule kRules[] = {
#define TG_RULE(name, number, text, what) {number, text, what},
#include "ir/verify/rules.def"
#undef TG_RULE
};

// `nodes`: sources first.
void CheckNodes(BodyCheck& c, const std::vector<const UOp*>& nodes) {
  for (const UOp* u : nodes) {
    const auto srcs = u->srcs();
    if (std::any_of(srcs.begin(), srcs.end(), [&](const UOp* s) { return c.IsBad(s); })) {
      // The structure of a node is checked even if its sources are bad, since that needs no
      // sources.
      CheckStructure(c, u);
      c.MarkBad(u);
      continue;
    }
    if (!CheckStructure(c, u) || !CheckTypes(c, u)) continue;
    if (c.has_shapes()) CheckShape(c, u);
  }
}

enum class Scope { kReached, kAllNodes };

void CheckOneBody(BodyCheck& c, bool with_others, Scope scope = Scope::kReached) {
  const size_t before = c.diags.num_errors();
  if (!c.body.root || c.body.root->op != Op::kSink) {
    return c.Error(Rule::kRoot, "the body has no sink as its root");
  }
  // Checking shapes adds nodes.
  if (scope == Scope::kAllNodes) {
    CheckNodes(c, c.body.context->FirstNodes(c.body.context->num_nodes()));
  } else {
    CheckNodes(c, c.order);
  }
  // The rules below relate several nodes, and need each of them to be valid.
  if (c.diags.num_errors() != before) return;
  if (c.stage <= Stage::kKernel) CheckTuples(c);
  if (c.stage == Stage::kTensor) {
    CheckSinkTargets(c);
    CheckAssigns(c);
    CheckDevices(c);
    if (with_others) CheckKernelCalls(c);
  } else {
    CheckKernelBody(c);
    if (c.stage == Stage::kLinear) CheckLinear(c);
  }
}

}  // namespace

std::string Tag(Rule rule) {
  return "[V" + std::to_string(kRules[static_cast<size_t>(rule)].number) + "] ";
}

Symbols::Symbols(const Module& module) {
  for (const VarDecl& v : module.vars) vars.try_emplace(v.name, &v);
  for (const BufferDecl& b : module.buffers) buffers.try_emplace(b.name, &b);
  for (const auto& g : module.graphs) graphs.try_emplace(g->name, g.get());
  for (const auto& k : module.kernels) kernels.try_emplace(k->name, k.get());
}

BodyCheck::BodyCheck(const Module& module_in, const Symbols& symbols_in, const Body& body_in,
                     Stage stage_in, std::string_view where_in, Diagnostics& diags_in)
    : module(module_in),
      symbols(symbols_in),
      body(body_in),
      stage(stage_in),
      where(where_in),
      diags(diags_in),
      shapes(module_in, *body_in.context) {
  NodeSet seen;
  order.reserve(body.context->num_nodes());
  AppendPostOrder(body.linear, seen, order);
  if (body.root) AppendPostOrder(UOpSpan(&body.root, 1), seen, order);
}

const NodePrinter& BodyCheck::Printer() {
  if (!printer_) printer_ = std::make_unique<NodePrinter>(body);
  return *printer_;
}

void BodyCheck::Error(Rule rule, const UOp* u, std::string message) {
  bad_.Insert(u);
  if (diags.full()) return diags.Error({}, {});
  const Location loc = body.side.loc(u);
  std::string context = Printer().ToString(u);
  // A node without a place in the text is described by its body.
  if (!loc.line) context = where + ": " + context;
  diags.Error(loc, Tag(rule) + std::string(Mnemonic(u->op)) + ": " + message, context);
}

void BodyCheck::ErrorUnprintable(Rule rule, const UOp* u, std::string message) {
  bad_.Insert(u);
  diags.Error(body.side.loc(u), Tag(rule) + std::string(Mnemonic(u->op)) + ": " + message, where);
}

void BodyCheck::Error(Rule rule, std::string message) {
  diags.Error({}, Tag(rule) + where + ": " + message);
}

namespace {

bool VerifyBodies(const Module& module, Scope scope, Diagnostics& diags) {
  const size_t before = diags.num_errors();
  const size_t first = diags.errors().size();
  CheckDeclarations(module, diags);
  // The rules for bodies rely on valid declarations.
  if (diags.num_errors() != before) return false;
  const Symbols symbols(module);
  // Kernels come first, because rules for graphs rely on valid kernels.
  for (const auto& kernel : module.kernels) {
    BodyCheck check(module, symbols, kernel->body, kernel->stage, "kernel @" + kernel->name, diags);
    CheckOneBody(check, true, scope);
  }
  const bool kernels_ok = diags.num_errors() == before;
  for (const auto& graph : module.graphs) {
    BodyCheck check(module, symbols, graph->body, Stage::kTensor, "graph @" + graph->name, diags);
    const size_t errors = diags.num_errors();
    CheckOneBody(check, kernels_ok, scope);
    if (graph->name == kInitGraph && diags.num_errors() == errors) CheckInit(check);
  }
  if (diags.num_errors() == before) CheckLoops(module, symbols, diags);
  diags.SortFrom(first);
  return diags.num_errors() == before;
}

}  // namespace

}  // namespace verify

std::span<const VerifierRule> VerifierRules() { return verify::kRules; }

bool VerifyBody(const Module& module, const Body& body, Stage stage, std::string_view where,
                Diagnostics& diags) {
  const size_t before = diags.num_errors();
  const verify::Symbols symbols(module);
  verify::BodyCheck check(module, symbols, body, stage, where, diags);
  verify::CheckOneBody(check, /*with_others=*/false);
  return diags.num_errors() == before;
}

bool VerifyGraph(const Module& module, const Graph& graph, Diagnostics& diags) {
  return VerifyBody(module, graph.body, Stage::kTensor, "graph @" + graph.name, diags);
}

bool VerifyKernel(const Module& module, const Kernel& kernel, Diagnostics& diags) {
  return VerifyBody(module, kernel.body, kernel.stage, "kernel @" + kernel.name, diags);
}

bool VerifyModule(const Module& module, Diagnostics& diags) {
  return verify::VerifyBodies(module, verify::Scope::kReached, diags);
}

bool VerifyParsedModule(const Module& module, Diagnostics& diags) {
  return verify::VerifyBodies(module, verify::Scope::kAllNodes, diags);
}

absl::Status VerifyModule(const Module& module) {
  Diagnostics diags;
  if (VerifyModule(module, diags)) return absl::OkStatus();
  std::string message = diags.ToString();
  if (!message.empty() && message.back() == '\n') message.pop_back();
  return absl::InvalidArgumentError(message);
}

}  // namespace tg
