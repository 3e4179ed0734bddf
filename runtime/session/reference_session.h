// ReferenceSession: a session on the interpreter. Slow, without any device, and the authority on
// what a module means.
#ifndef TG_RUNTIME_SESSION_REFERENCE_SESSION_H_
#define TG_RUNTIME_SESSION_REFERENCE_SESSION_H_

#include <memory>
#include <string_view>
#include <vector>

#include "ir/interpret/run.h"
#include "runtime/session/session.h"

namespace tg::runtime {

class ReferenceSession : public Session {
 public:
  // Interprets the module at whatever stage it is.
  ReferenceSession(std::unique_ptr<Module> module, const InterpretOptions& options)
      : Session(std::move(module)), options_(options) {}

  // How far each element of a buffer may be from another correct evaluation, after a run with
  // track_error; empty: not at all.
  std::vector<double> ErrorOf(std::string_view name) const;

 protected:
  absl::Status Upload(const BufferDecl& buffer, std::span<const int64_t> shape,
                      std::span<const std::byte> bytes) override;
  absl::Status Download(const BufferDecl& buffer, HostTensor& tensor) override;
  absl::Status Execute(const Graph& graph, std::span<const BufferDecl* const> buffers,
                       const VarMap& vars) override;

 private:
  InterpretOptions options_;
  HostBuffers buffers_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_REFERENCE_SESSION_H_
