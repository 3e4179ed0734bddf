#include "runtime/session/given.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/status.h"
#include "ir/text/diagnostic.h"
#include "ir/walk.h"
#include "runtime/session/params.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

// Returns whether the user may set the buffer's contents.
bool IsSettable(const BufferDecl& buffer) {
  return buffer.role == Role::kInput || buffer.role == Role::kState ||
         (buffer.role == Role::kParam && !HasContents(buffer));
}

// Returns the variables that a graph and the bodies of its loops read from the run. Variables that
// a bind sets are excluded.
std::set<std::string> VarsAskedFor(const Module& module, const Graph& graph) {
  std::set<std::string> asked, bound;
  std::set<const Graph*> seen = {&graph};
  std::vector<const Graph*> work = {&graph};
  while (!work.empty()) {
    const Body& body = work.back()->body;
    work.pop_back();
    const auto name = [&](const UOp* u) {
      return std::string(body.context->String(static_cast<StringId>(u->word(0))));
    };
    for (const UOp* u : PostOrder(body.root)) {
      if (u->op == Op::kVar) asked.insert(name(u));
      if (u->op == Op::kBind) bound.insert(name(u->src(0)));
      if (u->op != Op::kLoop) continue;
      const Graph* inner = module.FindGraph(name(u));
      if (inner != nullptr && seen.insert(inner).second) work.push_back(inner);
    }
  }
  for (const BufferDecl* buffer : BuffersOf(module, graph)) {
    if (buffer->role == Role::kTemp) continue;
    for (const DeclDim& dim : buffer->shape) {
      dim.ForEachVar([&](const std::string& var) { asked.insert(var); });
    }
  }
  for (const std::string& var : bound) asked.erase(var);
  return asked;
}

}  // namespace

std::string OtherNames(std::string_view wrong, std::span<const std::string_view> names) {
  const std::string guess = DidYouMean(wrong, {names.begin(), names.end()});
  if (!guess.empty()) return guess;
  std::string list;
  for (const std::string_view name : names) {
    list += Cat(list.empty() ? "; there are @" : ", @", name);
  }
  return list;
}

std::vector<const BufferDecl*> BuffersOf(const Module& module, const Graph& graph) {
  std::set<std::string_view> used;
  const tg::Context& context = *graph.body.context;
  for (const UOp* u : PostOrder(graph.body.root)) {
    if (u->op == Op::kBuffer) used.insert(context.String(static_cast<StringId>(u->word())));
  }
  const auto targets = graph.body.root->words();
  for (size_t i = 1; i < targets.size(); ++i) {
    used.insert(context.String(static_cast<StringId>(targets[i])));
  }
  std::vector<const BufferDecl*> out;
  for (const BufferDecl& buffer : module.buffers) {
    if (used.contains(buffer.name)) out.push_back(&buffer);
  }
  return out;
}

absl::Status CheckInput(const Module& module, std::string_view name, ElementType type,
                        std::span<const int64_t> shape) {
  const BufferDecl* buffer = module.FindBuffer(name);
  if (buffer == nullptr || !IsSettable(*buffer)) {
    std::vector<std::string_view> names;
    for (const BufferDecl& b : module.buffers) {
      if (IsSettable(b)) names.push_back(b.name);
    }
    if (buffer == nullptr) return NotFound("there is no input @", name, OtherNames(name, names));
    return InvalidArgument("@", name, " is no input but ", RoleName(buffer->role),
                           buffer->role == Role::kParam ? " with contents of its own" : "");
  }
  VarMap vars;
  return CheckTensor(module, *buffer, type, shape, vars);
}

absl::StatusOr<const VarDecl*> CheckVar(const Module& module, std::string_view name,
                                        int64_t value) {
  const VarDecl* var = module.FindVar(name);
  if (var == nullptr) {
    std::vector<std::string_view> names;
    for (const VarDecl& v : module.vars) names.push_back(v.name);
    return NotFound("there is no variable @", name, OtherNames(name, names));
  }
  if (value < var->min || value > var->max) {
    return InvalidArgument("variable @", name, " cannot be ", value, ": its bounds are [", var->min,
                           ", ", var->max, "]");
  }
  return var;
}

absl::StatusOr<VarMap> ResolveVars(const Module& module, const VarMap& given,
                                   const ShapesByName& shapes) {
  VarMap vars = given;
  // An extent that is an expression is checked when all inputs have given their variables values.
  for (int round = 0; round < 2; ++round) {
    for (const BufferDecl& buffer : module.buffers) {
      if (buffer.role != Role::kInput) continue;
      const auto shape = shapes.find(buffer.name);
      if (shape == shapes.end()) continue;
      const std::optional<ElementType> type = ElementTypeOf(buffer.dtype.scalar());
      TG_RETURN_IF_ERROR(CheckTensor(module, buffer, *type, shape->second, vars));
    }
  }
  // A variable with a single possible value gets that value.
  for (const VarDecl& var : module.vars) {
    if (var.min == var.max) vars.try_emplace(var.name, var.min);
  }
  return vars;
}

std::string Missing::ToString() const {
  std::string text;
  for (const BufferDecl* buffer : buffers) {
    text += Cat(text.empty() ? "" : ", ", RoleName(buffer->role), " @", buffer->name, " (",
                DeclaredType(*buffer), ")");
  }
  for (const VarDecl* var : vars) {
    text += Cat(text.empty() ? "" : ", ", "variable @", var->name, " (", var->min, " to ", var->max,
                ")");
  }
  return text;
}

Needs NeedsOf(const Module& module, const Graph& graph) {
  Needs needs{BuffersOf(module, graph), {}};
  for (const std::string& name : VarsAskedFor(module, graph)) {
    if (const VarDecl* var = module.FindVar(name)) needs.vars.push_back(var);
  }
  return needs;
}

bool Needs::Uses(std::string_view var) const {
  for (const VarDecl* v : vars) {
    if (v->name == var) return true;
  }
  bool uses = false;
  for (const BufferDecl* buffer : buffers) {
    for (const DeclDim& dim : buffer->shape) {
      dim.ForEachVar([&](std::string_view name) { uses |= name == var; });
    }
  }
  return uses;
}

Missing FindMissing(std::span<const Needs* const> needs, const VarMap& vars,
                    const ShapesByName& shapes) {
  Missing missing;
  std::set<std::string_view> listed;  // buffers and variables have distinct names
  for (const Needs* n : needs) {
    for (const BufferDecl* buffer : n->buffers) {
      if (!IsSettable(*buffer) || buffer->role == Role::kState) continue;
      if (shapes.contains(buffer->name) || !listed.insert(buffer->name).second) continue;
      missing.buffers.push_back(buffer);
      if (buffer->role != Role::kInput) continue;
      // The buffer's shape will determine these variables.
      for (const DeclDim& dim : buffer->shape) {
        if (!dim.var.empty()) listed.insert(dim.var);
      }
    }
  }
  for (const Needs* n : needs) {
    for (const VarDecl* var : n->vars) {
      if (vars.contains(var->name) || !listed.insert(var->name).second) continue;
      missing.vars.push_back(var);
    }
  }
  return missing;
}

}  // namespace tg::runtime
