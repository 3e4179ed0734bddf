#include "runtime/plan/extents.h"

#include <algorithm>

#include "base/status.h"

namespace tg::runtime {

absl::StatusOr<size_t> BufferBytes(const Declarations& decls, const BufferDecl& buffer,
                                   const VarMap& vars) {
  if (!buffer.dtype.is_value()) {
    return Unimplemented("buffer @", buffer.name, " is of type ", buffer.dtype.ToString(),
                         ", which the runtime does not allocate");
  }
  int64_t bytes = ByteSize(buffer.dtype.scalar());
  for (const DeclDim& dim : buffer.shape) {
    std::string missing;
    dim.ForEachVar([&](const std::string& var) {
      if (decls.FindVar(var) == nullptr) missing = var;
    });
    if (!missing.empty()) {
      return InvalidArgument("buffer @", buffer.name, ": there is no variable @", missing);
    }
    const std::optional<int64_t> extent =
        vars.empty() ? std::nullopt
                     : dim.Evaluate([&](std::string_view name) -> std::optional<int64_t> {
                         const auto value = vars.find(name);
                         return value == vars.end() ? std::nullopt : std::optional(value->second);
                       });
    const std::optional<DimExpr::Range> bounds =
        extent ? DimExpr::Range{*extent, *extent} : BoundsOf(decls, dim);
    if (!bounds || bounds->second < 0 || __builtin_mul_overflow(bytes, bounds->second, &bytes)) {
      return InvalidArgument("buffer @", buffer.name, " has more bytes than 64 bits count");
    }
  }
  return static_cast<size_t>(bytes);
}

absl::StatusOr<std::vector<int64_t>> ShapeOf(const BufferDecl& buffer, const VarMap& vars) {
  std::vector<int64_t> shape;
  for (const DeclDim& dim : buffer.shape) {
    std::string missing;
    const std::optional<int64_t> extent =
        dim.Evaluate([&](std::string_view name) -> std::optional<int64_t> {
          const auto value = vars.find(name);
          if (value != vars.end()) return value->second;
          missing = name;
          return std::nullopt;
        });
    if (!missing.empty()) {
      return InvalidArgument("variable @", missing, ", in an extent of buffer @", buffer.name,
                             ", has no value");
    }
    if (!extent || *extent < 0) {
      return InvalidArgument("extent ", dim.Text(), " of buffer @", buffer.name,
                             extent ? " is negative" : " overflows");
    }
    shape.push_back(*extent);
  }
  return shape;
}

bool HasShape(const BufferDecl& buffer, const VarMap& vars, std::span<const int64_t> shape) {
  const auto lookup = [&](std::string_view name) -> std::optional<int64_t> {
    const auto value = vars.find(name);
    return value == vars.end() ? std::nullopt : std::optional(value->second);
  };
  return std::equal(
      buffer.shape.begin(), buffer.shape.end(), shape.begin(), shape.end(),
      [&](const DeclDim& dim, int64_t size) { return size >= 0 && dim.Evaluate(lookup) == size; });
}

absl::StatusOr<std::vector<int64_t>> GreatestShape(const Declarations& decls,
                                                   const BufferDecl& buffer) {
  TG_RETURN_IF_ERROR(BufferBytes(decls, buffer).status());
  std::vector<int64_t> shape;
  for (const DeclDim& dim : buffer.shape) shape.push_back(BoundsOf(decls, dim)->second);
  return shape;
}

}  // namespace tg::runtime
