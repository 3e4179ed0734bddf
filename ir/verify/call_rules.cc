// V402, V405, V407, V408: kernels and loops that a graph runs.
#include <algorithm>
#include <memory>

#include "ir/tuple.h"
#include "ir/verify/body_check.h"

namespace tg::verify {
namespace {

// The `buffer` behind a version or a part of a buffer. Null for other values.
const UOp* NamedBuffer(const UOp* u) {
  while (u->op == Op::kAssign || u->op == Op::kAfter || u->op == Op::kBufferView) u = u->src(0);
  return u->op == Op::kBuffer ? u : nullptr;
}

// The buffer that an assign writes, or a part of it.
const UOp* WrittenBuffer(const UOp* assign) {
  const UOp* target = assign->src(0);
  while (IsMovement(target->op)) target = target->src(0);
  return NamedBuffer(target);
}

class CallCheck {
 public:
  explicit CallCheck(BodyCheck& c) : c_(c) {
    // A kernel's assigns come after it in the order, so they are collected before any call is
    // checked.
    for (const UOp* u : c.order) {
      if (u->op == Op::kAssign && u->src(1)->op == Op::kKernel) assigns_[u->src(1)].push_back(u);
    }
  }

  void Check(const UOp* call) {
    const std::string name(c_.String(call->word(0)));
    auto [it, is_new] = facts_.try_emplace(name);
    if (is_new) {
      const Kernel& kernel = *c_.symbols.kernels.lookup(name);
      it->second = {FactsOf(kernel.body), kernel.stage};
    }
    const KernelFacts& facts = it->second.facts;
    if (!CheckCount(call, facts)) return;
    for (size_t i = 0; i < facts.slots.size(); ++i) {
      if (facts.slots[i] && !CheckSlot(call, i, facts)) return;
    }
    if (!CheckVars(call, it->second)) return;
    CheckAssigns(call, facts);
  }

 private:
  struct Known {
    KernelFacts facts;
    Stage stage = Stage::kKernel;
  };

  bool Fail(const UOp* u, std::string message, Rule rule = Rule::kKernelOperands) {
    c_.Error(rule, u, std::move(message));
    return false;
  }

  bool CheckCount(const UOp* call, const KernelFacts& facts) {
    if (call->num_srcs >= facts.slots.size()) return true;
    return Fail(call, "the kernel has " + std::to_string(facts.slots.size()) +
                          " argument slots, there are " + std::to_string(call->num_srcs) +
                          " operands");
  }

  bool CheckSlot(const UOp* call, size_t i, const KernelFacts& facts) {
    if (!facts.slots[i]) return true;  // nothing uses it any more
    const UOp* operand = call->src(i);
    const DType slot = facts.slots[i]->dtype;
    const std::string what = "operand " + std::to_string(i) + " (" + c_.Name(operand) + ") ";
    const UOp* buffer = NamedBuffer(operand);
    if (!buffer) {
      return Fail(call, what + "is not a buffer (buffer, buffer_view, assign or after)");
    }
    const std::string_view name = c_.String(buffer->word(0));
    const BufferDecl& decl = *c_.symbols.buffers.lookup({name.data(), name.size()});
    const bool fits = slot.is_image() || decl.dtype.is_image()
                          ? slot == decl.dtype
                          : slot.scalar() == operand->dtype.scalar();
    if (!fits) {
      return Fail(call, what + "has elements of type " + decl.dtype.ToString() + ", slot " +
                            std::to_string(i) + " of the kernel is " + slot.ToString());
    }
    const Shape& shape = c_.shapes.Of(operand);
    if (slot.size() != DType::kUnknownSize && IsStatic(shape) && slot.size() > NumElements(shape)) {
      return Fail(call, what + "has " + std::to_string(NumElements(shape)) + " elements, slot " +
                            std::to_string(i) + " of the kernel is " + slot.ToString());
    }
    if (facts.written[i] && (decl.role == Role::kInput || decl.role == Role::kParam)) {
      return Fail(call,
                  "the kernel writes operand " + std::to_string(i) + " ('@" + std::string(name) +
                      "'), whose role is " + std::string(RoleName(decl.role)),
                  Rule::kReadOnly);
    }
    return true;
  }

  bool CheckVars(const UOp* call, const Known& kernel) {
    const KernelFacts& facts = kernel.facts;
    std::vector<std::string_view> given;
    for (size_t i = facts.slots.size(); i < call->num_srcs; ++i) {
      const UOp* operand = call->src(i);
      const UOp* var = operand->op == Op::kBind ? operand->src(0) : operand;
      // Unused slots at the end may be missing in the kernel.
      if (given.empty() && NamedBuffer(operand)) continue;
      if (var->op != Op::kVar) {
        return Fail(call, "operand " + std::to_string(i) + " (" + c_.Name(operand) +
                              ") comes after the kernel's " + std::to_string(facts.slots.size()) +
                              " slots and is no variable");
      }
      given.push_back(c_.String(var->word(0)));
    }
    for (std::string_view name : facts.vars) {
      if (std::find(given.begin(), given.end(), name) == given.end()) {
        return Fail(
            call, "the kernel uses the variable '@" + std::string(name) + "', which is no operand");
      }
    }
    return true;
  }

  void CheckAssigns(const UOp* call, const KernelFacts& facts) {
    const auto& assigns = assigns_[call];
    for (size_t i = 0; i < facts.slots.size(); ++i) {
      if (!facts.written[i]) continue;
      const auto is_it = [&](const UOp* a) {
        return a->src(0) == call->src(i) || WrittenBuffer(a) == NamedBuffer(call->src(i));
      };
      if (std::any_of(assigns.begin(), assigns.end(), is_it)) continue;
      Fail(call,
           "it writes operand " + std::to_string(i) + " (" + c_.Name(call->src(i)) +
               "), and no assign says so",
           Rule::kKernelResult);
      return;
    }
    for (const UOp* a : assigns) {
      bool written = false;
      for (size_t i = 0; i < facts.slots.size(); ++i) {
        written |= facts.written[i] && WrittenBuffer(a) == NamedBuffer(call->src(i));
      }
      if (written) continue;
      Fail(a,
           "kernel '@" + std::string(c_.String(call->word(0))) + "' does not write " +
               c_.Name(a->src(0)),
           Rule::kKernelResult);
      return;
    }
  }

  BodyCheck& c_;
  NodeMap<std::vector<const UOp*>> assigns_;
  llvm::StringMap<Known> facts_;
};

// A loop against the graph that it runs.
void CheckLoop(BodyCheck& c, BodyCheck& body, const UOp* loop) {
  const auto fail = [&](std::string message) {
    c.Error(Rule::kLoopBody, loop, std::move(message));
  };
  const size_t carried = loop->num_srcs - 1;
  const UOp* sink = body.body.root;
  if (sink->num_srcs != carried) {
    return fail("it carries " + std::to_string(carried) + " values, its body yields " +
                std::to_string(sink->num_srcs));
  }
  const auto same = [&](const UOp* in_body, size_t i) {
    const UOp* outside = loop->src(1 + i);
    if (in_body->dtype != outside->dtype) return false;
    const Shape& a = body.shapes.Of(in_body);
    const Shape& b = c.shapes.Of(outside);
    // Symbolic extents are nodes of different contexts: only their places are compared.
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Dim& x, const Dim& y) {
      return x.is_symbolic() || y.is_symbolic() ? x.is_symbolic() == y.is_symbolic() : x == y;
    });
  };
  for (size_t i = 0; i < carried; ++i) {
    if (!same(sink->src(i), i)) {
      return fail("carried value " + std::to_string(i) + " has type " +
                  loop->src(1 + i)->dtype.ToString() +
                  "; what the body yields for it has another type or shape");
    }
  }
  const NodeSet in_tuples = InTuplesOnly(body.order);
  for (const UOp* u : body.order) {
    if (u->op != Op::kCarried || in_tuples.Contains(u)) continue;
    const int64_t arg = u->word(0);
    if (arg >= static_cast<int64_t>(carried)) {
      return fail("its body takes carried value " + std::to_string(arg) + ", there are " +
                  std::to_string(carried));
    }
    if (!same(u, static_cast<size_t>(arg))) {
      return fail("its body takes carried value " + std::to_string(arg) +
                  " with another type or shape");
    }
  }
}

}  // namespace

void CheckKernelCalls(BodyCheck& c) {
  CallCheck calls(c);
  for (const UOp* u : c.order) {
    if (u->op == Op::kKernel) calls.Check(u);
  }
}

void CheckLoops(const Module& module, const Symbols& symbols, Diagnostics& diags) {
  struct GraphInfo {
    std::unique_ptr<BodyCheck> check;
    std::vector<const UOp*> loops;
    int state = 0;  // 1: on the path, 2: done
  };
  llvm::StringMap<GraphInfo> graphs;
  bool any = false;
  for (const auto& g : module.graphs) {
    for (uint32_t i = 0; i < g->body.context->num_nodes(); ++i) {
      const Op op = g->body.context->node(i)->op;
      any |= op == Op::kLoop || op == Op::kRepeat;
    }
  }
  if (!any) return;
  for (const auto& g : module.graphs) {
    GraphInfo& info = graphs[g->name];
    info.check = std::make_unique<BodyCheck>(module, symbols, g->body, Stage::kTensor,
                                             "graph @" + g->name, diags);
    for (const UOp* u : info.check->order) {
      if (u->op == Op::kLoop || u->op == Op::kRepeat) info.loops.push_back(u);
    }
  }
  for (const auto& g : module.graphs) {
    // Which graph runs which: a walk with a path, to find one that runs itself.
    std::vector<std::pair<std::string, size_t>> path;
    if (graphs[g->name].state == 0) path.emplace_back(g->name, 0);
    while (!path.empty()) {
      auto& [name, next] = path.back();
      GraphInfo& info = graphs[name];
      info.state = 1;
      if (next == info.loops.size()) {
        info.state = 2;
        path.pop_back();
        continue;
      }
      const UOp* loop = info.loops[next++];
      const std::string body(info.check->String(loop->word(0)));
      if (graphs[body].state == 1) {
        info.check->Error(Rule::kLoopBody, loop, "graph @" + body + " runs itself");
        return;
      }
      if (loop->op == Op::kLoop) {
        CheckLoop(*info.check, *graphs[body].check, loop);
      } else {
        CheckRepeat(*info.check, *graphs[body].check, loop);
      }
      if (graphs[body].state == 0) path.emplace_back(body, 0);
    }
  }
}

}  // namespace tg::verify
