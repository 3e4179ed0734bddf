#include "frontend/tinygrad/kernel_import.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "frontend/tinygrad/directives.h"
#include "frontend/tinygrad/lowered_import.h"
#include "frontend/tinygrad/translator.h"
#include "ir/walk.h"

namespace tg::tinygrad {
namespace {

// Translates STORE(DEFINE_GLOBAL, VIEW, value) and LOAD(DEFINE_GLOBAL, VIEW), which access shaped
// memory.
class AstTranslator : public Translator {
 public:
  AstTranslator(const Demand& demand, Module& module, Kernel& kernel, Diagnostics& diags)
      : Translator(demand, module, kernel.body, diags) {}

  bool Run(const Node& sink) {
    return TranslateAll() &&
           SetRoot(
               sink, [](const UOp* u) { return u->op == Op::kStore; }, "it is no STORE");
  }

 private:
  const UOp* Other(const Node& n, DType t) override {
    switch (demand_.OpOf(&n).cls) {
      case OpClass::kSink:
        return nullptr;
      case OpClass::kDefineGlobal:
        return DefineGlobal(n);
      case OpClass::kView:
        return View(n, t);
      case OpClass::kLoad: {
        const UOp* place = Place(n);
        return place ? Emit(n, Op::kLoad, t, {place}) : nullptr;
      }
      case OpClass::kStore: {
        const UOp *place = Place(n), *value = place ? Source(n, 2, kVoid) : nullptr;
        return value ? Emit(n, Op::kStore, kVoid, {place, value}) : nullptr;
      }
      case OpClass::kValid:
        if (n.num_srcs != 1 || n.src(0)->op != "VIEW") return Fail(n, "expected a VIEW");
        return EmitView(n, b_.Bool(true), n.src(0)->arg);
      case OpClass::kDefineLocal:
        return Fail(n,
                    "an AST with local memory, as optimizing makes it, is not read; print the "
                    "one before, or the lowered kernel");
      default:
        return Fail(n, "this op does not stand in the AST of a kernel");
    }
  }

  const UOp* DefineGlobal(const Node& n) {
    const DType t = demand_.TypeOf(&n).type;
    if (n.arg.kind != Kind::kInt || n.arg.number < 0 || n.arg.number > 1000) {
      return Fail(n, "expected the number of a slot");
    }
    if (!t.is_memory()) return Fail(n, "its type is no pointer");
    return Emit(n, Op::kDefineGlobal, t, {}, ctx_.MakeAttr(Op::kDefineGlobal, {n.arg.number}));
  }

  const UOp* View(const Node& n, DType t) {
    if (t.is_void() || n.num_srcs == 0) return nullptr;  // the user, a load or a constant, reads it
    const UOp* x = Source(n, 0, t);
    return x ? EmitView(n, x, n.arg) : nullptr;
  }

  // The target of a LOAD or a STORE: source 0 through the view in source 1.
  const UOp* Place(const Node& n) {
    const UOp* memory = Source(n, 0, kVoid);
    if (!memory) return nullptr;
    if (!memory->dtype.is_memory() || n.num_srcs < 2 || n.src(1)->op != "VIEW") {
      return Fail(n, "expected a DEFINE_GLOBAL and a VIEW");
    }
    return EmitView(n, memory, n.src(1)->arg);
  }
};

// The name in KernelInfo(name='r_4_8', ...), without color codes.
std::string NameOf(const Node& root, const Module& module) {
  const Value* name = FindItem(root.arg, "name");
  std::string text = name && name->kind == Kind::kString ? Unquote(name->text()) : "kernel";
  for (size_t at; (at = text.find('\x1b')) != std::string::npos;) {
    text.erase(at, std::min(text.find('m', at), text.size() - 1) - at + 1);
  }
  text = SymbolFor(text);
  std::string result = text;
  for (int i = 1; module.FindKernel(result); ++i) result = text + "n" + std::to_string(i);
  return result;
}

}  // namespace

std::vector<const Node*> InstructionsOf(const Text& text) {
  std::vector<const Node*> out;
  if (text.roots.size() == 1 && text.roots[0]->op == "LINEAR") {
    const Node* linear = text.roots[0];
    for (size_t i = 0; i < linear->num_srcs; ++i) out.push_back(linear->src(i));
  } else if (text.is_list) {
    out = text.roots;
  }
  while (!out.empty() && out.back()->op != "SINK") out.pop_back();
  // A list may also hold kernels and graphs.
  if (out.size() < 2 || out[0]->op == "SINK" || !IsKernelRoot(text, out.back())) out.clear();
  return out;
}

bool IsKernelRoot(const Text& text, const Node* root) {
  if (root->arg.is_call("KernelInfo") || root->op == "PROGRAM") return true;
  uint32_t begin = 0;
  for (const Node* r : text.roots) {
    if (r == root) break;
    begin = r->id + 1;
  }
  for (uint32_t id = begin; id <= root->id; ++id) {
    if (text.nodes[id].op == "DEFINE_GLOBAL") return true;
  }
  return false;
}

bool ImportKernel(const Text& text, const Node* root, std::span<const Node* const> instructions,
                  Module& module, KernelUse* use, Diagnostics& diags) {
  if (root->op == "COPY") {
    *use = {};
    return true;
  }
  // PROGRAM(SINK, LINEAR, SOURCE, BINARY) of newer versions: the SINK holds the whole kernel.
  if (root->op == "PROGRAM" && root->num_srcs > 0) root = root->src(0);
  // Only the instructions have the conditions of stores.
  std::vector<const Node*> roots;
  for (const Node* n : instructions) {
    if (n->op == "IF") roots.push_back(n);
  }
  roots.push_back(root);
  Demand demand;
  if (!demand.Compute(text, roots, diags)) return false;
  auto kernel = std::make_unique<Kernel>();
  kernel->name = NameOf(*root, module);
  kernel->loc = root->loc;
  if (root->op != "SINK") {
    diags.Error(root->loc, std::string(root->op) + ": expected the SINK of a kernel");
    return false;
  }
  const bool good = demand.is_lowered() ? ImportLowered(demand, *root, instructions, module,
                                                        *kernel, &use->retained_slots, diags)
                                        : AstTranslator(demand, module, *kernel, diags).Run(*root);
  if (!good) return false;
  use->kernel = kernel.get();
  for (const UOp* u : PostOrder(kernel->body.root)) {
    if (u->op != Op::kVar) continue;
    use->vars.emplace_back(kernel->body.context->String(static_cast<StringId>(u->word())));
  }
  module.kernels.push_back(std::move(kernel));
  return true;
}

std::map<int64_t, SlotUse> SlotsOf(const KernelUse& use) {
  std::map<int64_t, SlotUse> slots;
  const auto memory = [](const UOp* u) {
    while (u->op != Op::kDefineGlobal && u->num_srcs > 0) u = u->src(0);
    return u;
  };
  for (const UOp* u : PostOrder(use.kernel->body.root)) {
    if (u->op == Op::kDefineGlobal) slots[u->word()].type = u->dtype;
    if (u->op != Op::kLoad && u->op != Op::kStore) continue;
    const UOp* m = memory(u->src(0));
    if (m->op != Op::kDefineGlobal) continue;
    (u->op == Op::kLoad ? slots[m->word()].read : slots[m->word()].written) = true;
  }
  for (const int64_t slot : use.retained_slots) slots[slot].read = true;
  return slots;
}

void RunAlone(const KernelUse& use, Module& module) {
  const std::map<int64_t, SlotUse> slots = SlotsOf(use);
  auto graph = std::make_unique<Graph>();
  graph->name = "main";
  Builder b(*graph->body.context);
  std::vector<const UOp*> operands;
  for (int64_t i = 0; !slots.empty() && i <= slots.rbegin()->first; ++i) {
    // The caller passes all slots, also unused ones.
    const auto it = slots.find(i);
    const SlotUse slot = it == slots.end()
                             ? SlotUse{DType::Pointer(Scalar::kF32, 1, AddrSpace::kGlobal)}
                             : it->second;
    BufferDecl decl;
    decl.name = "data" + std::to_string(i);
    decl.role = !slot.written ? (slot.read ? Role::kInput : Role::kTemp)
                : slot.read   ? Role::kState
                              : Role::kOutput;
    if (slot.type.is_image()) {
      decl.dtype = slot.type;
      decl.shape = {{slot.type.height(), {}}, {slot.type.width(), {}}, {4, {}}};
    } else {
      decl.dtype = slot.type.scalar();
      decl.shape = {{std::max<int64_t>(slot.type.size(), 0), {}}};
    }
    operands.push_back(b.Buffer(decl.name, slot.type.value_scalar()));
    module.buffers.push_back(std::move(decl));
  }
  const std::vector<const UOp*> buffers = operands;
  for (const std::string& var : use.vars) operands.push_back(b.Var(var));
  Context& ctx = b.context();
  const UOp* call = ctx.Make(Op::kKernel, kVoid, operands,
                             ctx.MakeAttr(Op::kKernel, {int64_t{ctx.Intern(use.kernel->name)}}));
  std::vector<const UOp*> written;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto it = slots.find(static_cast<int64_t>(i));
    if (it == slots.end() || !it->second.written) continue;
    written.push_back(ctx.Make(Op::kAssign, buffers[i]->dtype, {buffers[i], call}));
  }
  graph->body.root = b.Sink(written);
  module.graphs.push_back(std::move(graph));
}

}  // namespace tg::tinygrad
