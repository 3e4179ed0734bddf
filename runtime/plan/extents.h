// The values of a module's variables, and the shapes and sizes of buffers that follow from them.
#ifndef TG_RUNTIME_PLAN_EXTENTS_H_
#define TG_RUNTIME_PLAN_EXTENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/decls.h"

namespace tg::runtime {

// Values of variables, by name.
using VarMap = std::map<std::string, int64_t, std::less<>>;

// Returns the bytes to allocate for a buffer. A variable that is not in `vars` counts with its
// greatest value. InvalidArgument if the product overflows or a variable is not declared;
// Unimplemented for images.
absl::StatusOr<size_t> BufferBytes(const Declarations& decls, const BufferDecl& buffer,
                                   const VarMap& vars = {});

// Returns the declared shape with the variables' values substituted. InvalidArgument for a missing
// variable, or an extent that is negative with these values.
absl::StatusOr<std::vector<int64_t>> ShapeOf(const BufferDecl& buffer, const VarMap& vars);

// Whether ShapeOf returns this shape. Allocates nothing.
bool HasShape(const BufferDecl& buffer, const VarMap& vars, std::span<const int64_t> shape);

// Returns the shape that BufferBytes counts without values of variables.
absl::StatusOr<std::vector<int64_t>> GreatestShape(const Declarations& decls,
                                                   const BufferDecl& buffer);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_EXTENTS_H_
