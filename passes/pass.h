// Pass: a named function from module to module. Each pass is a library of its own; none includes
// another. passes/pipeline.h holds the one array that orders them.
#ifndef TG_PASSES_PASS_H_
#define TG_PASSES_PASS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/target.h"

namespace tg {

// An option of a pass, given as `pass:name=value` or `pass:flag`.
struct PassOption {
  enum class Kind { kFlag, kInt, kString };
  std::string_view name;
  Kind kind = Kind::kInt;
  std::string_view default_value;
  std::string_view doc;
};

// What a run of a pass is given and what it reports.
struct PassContext {
  const Target& target;
  // Every option of the pass, with its default where none was given. Checked by the pass manager.
  std::map<std::string, std::string, std::less<>> options;
  // Counts by name, in "pass.what" form; added up over the run.
  std::map<std::string, int64_t, std::less<>> statistics;
  // What an option such as `explain` asked to be said; the tool prints it.
  std::string remarks;

  int64_t Int(std::string_view name) const;
  bool Flag(std::string_view name) const;
  std::string_view String(std::string_view name) const;
};

struct Pass {
  std::string_view name;
  std::string_view doc;  // one sentence
  std::span<const PassOption> options;
  absl::Status (*run)(Module& module, PassContext& context);
};

}  // namespace tg

#endif  // TG_PASSES_PASS_H_
