// How the model of a source is opened or compiled, as the caller's options say.
#ifndef TG_CAPI_LOAD_H_
#define TG_CAPI_LOAD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "capi/input.h"
#include "model/open.h"
#include "model/source.h"
#include "passes/pass_manager.h"

namespace tg::capi {

// Tells the caller's progress function of each pass.
class PassProgress : public passes::PassObserver {
 public:
  explicit PassProgress(const LoadOptions& options) : options_(options) {}
  absl::Status BeforePass(const passes::PassRun& run, const Module&) override;

 private:
  const LoadOptions& options_;
};

// `options` and `progress` must outlive the result.
absl::StatusOr<model::OpenOptions> OpenOptionsFor(const model::Source& source,
                                                  const LoadOptions& options,
                                                  PassProgress& progress);

// Writes a .tgx file.
absl::Status CompileToFile(const model::Source& source, const LoadOptions& options,
                           const std::string& output);

}  // namespace tg::capi

#endif  // TG_CAPI_LOAD_H_
