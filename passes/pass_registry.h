// PassRegistry: the passes that a textual pipeline may name. The built-in passes come from
// passes/pipeline.h; an embedder of tg adds further ones.
#ifndef TG_PASSES_PASS_REGISTRY_H_
#define TG_PASSES_PASS_REGISTRY_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/pass.h"

namespace tg::passes {

// Does not own the passes: they are constants with static storage duration.
class PassRegistry {
 public:
  // Fails if the pass's name or former name is taken, if the name is `default`, if its name or an
  // option's name does not match `[a-z][a-z0-9-]*`, if two options have one name, if an option has
  // an invalid default, or if the pass has no function.
  absl::Status Add(const Pass& pass);
  // The same for the passes of the program itself, where an error is a bug and aborts.
  void AddAll(std::span<const Pass* const> passes);

  // The pass of this name, or of this former name; or null.
  const Pass* Find(std::string_view name) const;
  // The same, but an unknown name is an error, which suggests a similar name or else lists all.
  absl::StatusOr<const Pass*> Get(std::string_view name) const;
  // In order of registration.
  std::span<const Pass* const> passes() const { return passes_; }

 private:
  std::vector<const Pass*> passes_;
};

// The option of this name, or null.
const PassOption* FindOption(const Pass& pass, std::string_view name);
// Why `value` is invalid for the option, such as "must be an integer"; empty if it is valid.
std::string_view CheckOptionValue(const PassOption& option, std::string_view value);

}  // namespace tg::passes

#endif  // TG_PASSES_PASS_REGISTRY_H_
