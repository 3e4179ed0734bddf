// ReferenceSession: a session on the interpreter. It is slow, needs no device, and defines a
// module's semantics.
#ifndef TG_RUNTIME_SESSION_REFERENCE_SESSION_H_
#define TG_RUNTIME_SESSION_REFERENCE_SESSION_H_

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/interpret/run.h"
#include "ir/module.h"
#include "runtime/session/params.h"
#include "runtime/session/session.h"

namespace tg::runtime {

class ReferenceSession : public Session {
 public:
  // Interprets the module at its current stage.
  ReferenceSession(std::unique_ptr<Module> module, const interpret::InterpretOptions& options)
      : Session(*module, NeedsOfGraphs(*module),
                [&decls = *module] { return std::make_unique<ParamReader>(decls); }),
        module_(std::move(module)),
        options_(options) {}

  absl::StatusOr<std::unique_ptr<Session>> NewSibling() override {
    return std::make_unique<ReferenceSession>(Clone(*module_), options_);
  }

  // Returns, after a run with track_error, the maximum difference between each element of a buffer
  // and another correct evaluation; empty if no difference is allowed.
  std::vector<double> ErrorOf(std::string_view name) const;

 protected:
  absl::Status Upload(const BufferDecl& buffer, std::span<const int64_t> shape,
                      std::span<const std::byte> bytes) override;
  absl::Status Download(const BufferDecl& buffer, std::span<std::byte> elements) override;
  absl::Status Execute(const GraphNeeds& graph, const VarMap& vars, int64_t times) override;

 private:
  absl::Status ExecuteOnce(const GraphNeeds& graph, const VarMap& vars);

  const std::unique_ptr<Module> module_;
  interpret::InterpretOptions options_;
  interpret::HostBuffers buffers_;
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_REFERENCE_SESSION_H_
