// Between a module's buffers, tensors in files and host memory, and the interpreter's buffers.
#ifndef TG_RUNTIME_SESSION_TENSORS_H_
#define TG_RUNTIME_SESSION_TENSORS_H_

#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/dtype.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"
#include "runtime/io/host_tensor.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

// The two type lists name the same types; void and index are never stored.
std::optional<ElementType> ElementTypeOf(Scalar scalar);
Scalar ScalarOf(ElementType type);

// "f32[4, @n]", as declared.
std::string DeclaredType(const BufferDecl& buffer);

// InvalidArgument where a tensor of this type and shape cannot be the buffer's contents. A symbolic
// extent takes any number within its variable's bounds; the first one decides, later ones and
// `vars` must agree with it. What was learnt is added to `vars`.
absl::Status CheckTensor(const Module& module, const BufferDecl& buffer, ElementType type,
                         std::span<const int64_t> shape, VarMap& vars);

HostBuffer ToHostBuffer(const BufferDecl& buffer, const HostTensor& tensor);
// InvalidArgument for an image or a type that files do not have.
absl::StatusOr<HostTensor> ToHostTensor(const HostBuffer& buffer);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_TENSORS_H_
