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
#include "llvm/ADT/STLExtras.h"
#include "passes/target.h"
#include "passes/workers.h"

namespace tg {

// An option of a pass, given as `pass:name=value` or `pass:flag`.
struct PassOption {
  enum class Kind { kFlag, kInt, kString };
  std::string_view name;
  Kind kind = Kind::kInt;
  std::string_view default_value;
  std::string_view doc;
};

// Counts by name, in "pass.what" form.
using Statistics = std::map<std::string, int64_t, std::less<>>;

// What a run of a pass is given and what it reports.
struct PassContext {
  const Target& target;
  // Every option of the pass, with its default where none was given. Checked by the pass manager.
  std::map<std::string, std::string, std::less<>> options;
  Statistics statistics;  // added up over the run
  // What an option such as `explain` asked to be said; the tool prints it.
  std::string remarks;
  // For work on several kernels at a time; null: one after the other.
  Workers* workers = nullptr;

  int64_t Int(std::string_view name) const;
  bool Flag(std::string_view name) const;
  std::string_view String(std::string_view name) const;
};

// Calls work(kernel, statistics) for each kernel, several at a time where the context has workers.
// It changes its kernel and the statistics that it is given, nothing else. What comes out does not
// depend on the number of threads: statistics are added up in order, and of several errors the one
// of the first kernel is returned.
absl::Status ForEachKernel(Module& module, PassContext& context,
                           llvm::function_ref<absl::Status(Kernel&, Statistics&)> work);

struct Pass {
  std::string_view name;
  std::string_view doc;  // one sentence
  std::span<const PassOption> options;
  absl::Status (*run)(Module& module, PassContext& context);
};

}  // namespace tg

#endif  // TG_PASSES_PASS_H_
