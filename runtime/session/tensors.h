// Conversions between a module's buffers, tensors in files and host memory, and the interpreter's
// buffers.
#ifndef TG_RUNTIME_SESSION_TENSORS_H_
#define TG_RUNTIME_SESSION_TENSORS_H_

#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/decls.h"
#include "ir/dtype.h"
#include "runtime/io/host_tensor.h"
#include "runtime/plan/extents.h"

namespace tg::interpret {
struct HostBuffer;
}  // namespace tg::interpret

namespace tg::runtime {

// The two enums have the same types; void and index are never stored.
std::optional<ElementType> ElementTypeOf(Scalar scalar);
Scalar ScalarOf(ElementType type);

// Returns the declared type: "f32[4, @n]".
std::string DeclaredType(const BufferDecl& buffer);

// InvalidArgument if a tensor of this type and shape cannot be the buffer's contents. A symbolic
// extent accepts any number within its variable's bounds. Its first occurrence defines the
// variable; later occurrences and `vars` must agree. The values found are added to `vars`.
absl::Status CheckTensor(const Declarations& decls, const BufferDecl& buffer, ElementType type,
                         std::span<const int64_t> shape, VarMap& vars);

// These are a part of //runtime/session.
interpret::HostBuffer ToHostBuffer(const BufferDecl& buffer, const HostTensor& tensor);
// InvalidArgument for an image, or for a type that files cannot store.
absl::StatusOr<HostTensor> ToHostTensor(const interpret::HostBuffer& buffer);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_TENSORS_H_
