#include "runtime/session/given.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/status.h"
#include "base/suggest.h"
#include "runtime/session/contents.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

// Returns whether the user may set the buffer's contents.
bool IsSettable(const BufferDecl& buffer) {
  return buffer.role == Role::kInput || buffer.role == Role::kState ||
         (buffer.role == Role::kParam && !HasContents(buffer));
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

absl::Status CheckInput(const Declarations& decls, std::string_view name, ElementType type,
                        std::span<const int64_t> shape) {
  const BufferDecl* buffer = decls.FindBuffer(name);
  if (buffer == nullptr || !IsSettable(*buffer)) {
    std::vector<std::string_view> names;
    for (const BufferDecl& b : decls.buffers) {
      if (IsSettable(b)) names.push_back(b.name);
    }
    if (buffer == nullptr) return NotFound("there is no input @", name, OtherNames(name, names));
    return InvalidArgument("@", name, " is no input but ", RoleName(buffer->role),
                           buffer->role == Role::kParam ? " with contents of its own" : "");
  }
  VarMap vars;
  return CheckTensor(decls, *buffer, type, shape, vars);
}

absl::StatusOr<const VarDecl*> CheckVar(const Declarations& decls, std::string_view name,
                                        int64_t value) {
  const VarDecl* var = decls.FindVar(name);
  if (var == nullptr) {
    std::vector<std::string_view> names;
    for (const VarDecl& v : decls.vars) names.push_back(v.name);
    return NotFound("there is no variable @", name, OtherNames(name, names));
  }
  if (value < var->min || value > var->max) {
    return InvalidArgument("variable @", name, " cannot be ", value, ": its bounds are [", var->min,
                           ", ", var->max, "]");
  }
  return var;
}

absl::StatusOr<VarMap> ResolveVars(const Declarations& decls, const VarMap& given,
                                   const ShapesByName& shapes) {
  VarMap vars = given;
  // An extent that is an expression is checked when all inputs have given their variables values.
  for (int round = 0; round < 2; ++round) {
    for (const BufferDecl& buffer : decls.buffers) {
      if (buffer.role != Role::kInput) continue;
      const auto shape = shapes.find(buffer.name);
      if (shape == shapes.end()) continue;
      const std::optional<ElementType> type = ElementTypeOf(buffer.dtype.scalar());
      TG_RETURN_IF_ERROR(CheckTensor(decls, buffer, *type, shape->second, vars));
    }
  }
  // A variable with a single possible value gets that value.
  for (const VarDecl& var : decls.vars) {
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
