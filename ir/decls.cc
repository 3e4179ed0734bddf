#include "ir/decls.h"

#include "base/cat.h"

namespace tg {
namespace {

constexpr std::string_view kRoles[] = {"input", "output", "param", "state", "temp"};

}  // namespace

std::string_view RoleName(Role r) { return kRoles[static_cast<int>(r)]; }

std::optional<Role> RoleFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kRoles); ++i) {
    if (kRoles[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

std::optional<int64_t> DeclDim::Evaluate(const DimExpr::Lookup& lookup) const {
  if (!is_symbolic()) return size;
  return expr.empty() ? lookup(var) : expr.Evaluate(lookup);
}

std::string DeclDim::Text() const {
  if (!is_symbolic()) return std::to_string(size);
  return expr.empty() ? "@" + var : expr.Text();
}

std::optional<DimExpr::Range> BoundsOf(const Declarations& decls, const DeclDim& dim) {
  const auto bounds = [&](std::string_view name) {
    const VarDecl* var = decls.FindVar(name);
    return var ? std::optional(DimExpr::Range{var->min, var->max}) : std::nullopt;
  };
  if (!dim.is_symbolic()) return DimExpr::Range{dim.size, dim.size};
  return dim.expr.empty() ? bounds(dim.var) : dim.expr.Bounds(bounds);
}

std::string BrokenRequirement(const Declarations& decls, const DimExpr::Lookup& vars) {
  for (const Requirement& r : decls.requirements) {
    const std::optional<int64_t> left = r.left.Evaluate(vars), right = r.right.Evaluate(vars);
    if (!left || !right || (r.is_equality ? *left == *right : *left <= *right)) continue;
    std::vector<DimTerm> both = r.left.terms();
    both.insert(both.end(), r.right.terms().begin(), r.right.terms().end());
    const std::string text = Cat("the sizes do not fit: ", r.what.empty() ? "" : r.what + ": ",
                                 r.left.Text(), r.is_equality ? " and " : " must be at most ",
                                 r.right.Text(), r.is_equality ? " must be equal; " : "; ");
    return Cat(text, "they are ", *left, " and ", *right, " with ",
               DimExpr(std::move(both)).Values(vars));
  }
  return "";
}

const BufferDecl* Declarations::FindBuffer(std::string_view buffer) const {
  for (const BufferDecl& b : buffers) {
    if (b.name == buffer) return &b;
  }
  return nullptr;
}

const VarDecl* Declarations::FindVar(std::string_view var) const {
  for (const VarDecl& v : vars) {
    if (v.name == var) return &v;
  }
  return nullptr;
}

}  // namespace tg
