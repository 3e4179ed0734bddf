#include "runtime/session/tensors.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace tg::runtime {
namespace {

constexpr std::pair<Scalar, ElementType> kTypes[] = {
    {Scalar::kBool, ElementType::kBool},      {Scalar::kI8, ElementType::kI8},
    {Scalar::kI16, ElementType::kI16},        {Scalar::kI32, ElementType::kI32},
    {Scalar::kI64, ElementType::kI64},        {Scalar::kU8, ElementType::kU8},
    {Scalar::kU16, ElementType::kU16},        {Scalar::kU32, ElementType::kU32},
    {Scalar::kU64, ElementType::kU64},        {Scalar::kF16, ElementType::kF16},
    {Scalar::kBF16, ElementType::kBF16},      {Scalar::kF32, ElementType::kF32},
    {Scalar::kF64, ElementType::kF64},        {Scalar::kFp8E4M3, ElementType::kF8E4M3},
    {Scalar::kFp8E5M2, ElementType::kF8E5M2},
};
static_assert(std::size(kTypes) == kNumElementTypes);

}  // namespace

std::optional<ElementType> ElementTypeOf(Scalar scalar) {
  for (const auto& [s, type] : kTypes) {
    if (s == scalar) return type;
  }
  return std::nullopt;
}

Scalar ScalarOf(ElementType type) {
  for (const auto& [scalar, t] : kTypes) {
    if (t == type) return scalar;
  }
  TG_UNREACHABLE();
}

std::string DeclaredType(const BufferDecl& buffer) {
  std::string text = buffer.dtype.ToString() + "[";
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    text += Cat(i > 0 ? ", " : "", buffer.shape[i].Text());
  }
  return text + "]";
}

absl::Status CheckTensor(const Declarations& decls, const BufferDecl& buffer, ElementType type,
                         std::span<const int64_t> shape, VarMap& vars) {
  const auto mismatch = [&] {
    return InvalidArgument("buffer @", buffer.name, " is ", DeclaredType(buffer), ", not ",
                           TypeAndShape(type, shape));
  };
  if (!buffer.dtype.is_value() || ElementTypeOf(buffer.dtype.scalar()) != type ||
      buffer.shape.size() != shape.size()) {
    return mismatch();
  }
  VarMap learnt = vars;
  for (size_t i = 0; i < shape.size(); ++i) {
    const DeclDim& dim = buffer.shape[i];
    if (!dim.is_symbolic() && dim.size != shape[i]) return mismatch();
    if (dim.var.empty()) continue;
    const VarDecl* var = decls.FindVar(dim.var);
    if (var == nullptr) {
      return InvalidArgument("buffer @", buffer.name, ": there is no variable @", dim.var);
    }
    if (shape[i] < var->min || shape[i] > var->max) {
      return InvalidArgument("buffer @", buffer.name, " is ", DeclaredType(buffer), " with @",
                             dim.var, " in [", var->min, ", ", var->max, "], not ",
                             TypeAndShape(type, shape));
    }
    const auto [value, is_new] = learnt.try_emplace(dim.var, shape[i]);
    if (!is_new && value->second != shape[i]) {
      return InvalidArgument("buffer @", buffer.name, " is ", DeclaredType(buffer), " and @",
                             dim.var, " is ", value->second, ", so it cannot be ",
                             TypeAndShape(type, shape));
    }
  }
  // An extent that is an expression determines no variable. It is checked if its variables have
  // values.
  for (size_t i = 0; i < shape.size(); ++i) {
    const DeclDim& dim = buffer.shape[i];
    if (dim.expr.empty()) continue;
    const auto lookup = [&](std::string_view name) -> std::optional<int64_t> {
      const auto value = learnt.find(name);
      return value == learnt.end() ? std::nullopt : std::optional(value->second);
    };
    const std::optional<int64_t> extent = dim.Evaluate(lookup);
    if (!extent || *extent == shape[i]) continue;
    return InvalidArgument("buffer @", buffer.name, " is ", DeclaredType(buffer), " and ",
                           dim.expr.Values(lookup), ", so that ", dim.Text(), " is ", *extent,
                           "; it cannot be ", TypeAndShape(type, shape));
  }
  vars = std::move(learnt);
  return absl::OkStatus();
}

}  // namespace tg::runtime
