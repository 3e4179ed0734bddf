#include "runtime/plan/extents.h"

#include "runtime/base/status.h"

namespace tg::runtime {

absl::StatusOr<size_t> BufferBytes(const Module& module, const BufferDecl& buffer) {
  if (!buffer.dtype.is_value()) {
    return Unimplemented("buffer @", buffer.name, " is of type ", buffer.dtype.ToString(),
                         ", which the runtime does not allocate");
  }
  int64_t bytes = ByteSize(buffer.dtype.scalar());
  for (const DeclDim& dim : buffer.shape) {
    int64_t extent = dim.size;
    if (!dim.var.empty()) {
      const VarDecl* var = module.FindVar(dim.var);
      if (var == nullptr) {
        return InvalidArgument("buffer @", buffer.name, ": there is no variable @", dim.var);
      }
      extent = var->max;
    }
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      return InvalidArgument("buffer @", buffer.name, " has more bytes than 64 bits count");
    }
  }
  return static_cast<size_t>(bytes);
}

absl::StatusOr<std::vector<int64_t>> ShapeOf(const BufferDecl& buffer, const VarMap& vars) {
  std::vector<int64_t> shape;
  for (const DeclDim& dim : buffer.shape) {
    if (dim.var.empty()) {
      shape.push_back(dim.size);
      continue;
    }
    const auto value = vars.find(dim.var);
    if (value == vars.end()) {
      return InvalidArgument("variable @", dim.var, ", an extent of buffer @", buffer.name,
                             ", has no value");
    }
    shape.push_back(value->second);
  }
  return shape;
}

}  // namespace tg::runtime
