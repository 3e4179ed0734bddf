// PassRegistry: the passes that a textual pipeline may name. tg's own come from passes/pipeline.h;
// whoever embeds tg adds theirs.
#ifndef TG_PASSES_PASS_REGISTRY_H_
#define TG_PASSES_PASS_REGISTRY_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/pass.h"

namespace tg {

// Does not own passes: they are constants of the program.
class PassRegistry {
 public:
  // An error where the name is taken or is not of the form `[a-z][a-z0-9-]*`, where an option has
  // such a name or an invalid default, or where the pass has no function.
  absl::Status Add(const Pass& pass);
  // The same, for passes that are part of the program: an error is a bug.
  void AddAll(std::span<const Pass* const> passes);

  // Null where there is none.
  const Pass* Find(std::string_view name) const;
  // An unknown name is an error that suggests the nearest or lists all.
  absl::StatusOr<const Pass*> Get(std::string_view name) const;
  // In order of registration.
  std::span<const Pass* const> passes() const { return passes_; }

 private:
  std::vector<const Pass*> passes_;
};

// The option of this name, or null.
const PassOption* FindOption(const Pass& pass, std::string_view name);
// What is wrong with `value` for the option; empty where nothing is.
std::string_view CheckOptionValue(const PassOption& option, std::string_view value);

}  // namespace tg

#endif  // TG_PASSES_PASS_REGISTRY_H_
