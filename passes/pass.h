// Pass: a named function that transforms a module. Each pass is a separate library that includes no
// other pass, except passes/simplify, which is also a library. passes/pipeline.h has the one array
// that orders the passes.
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
#include "passes/thread_pool.h"

namespace tg::passes {

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

// The inputs of one run of a pass, and its outputs besides the module.
struct PassContext {
  const Target& target;
  // The value of every option of the pass, defaults included. The pass manager has checked them.
  std::map<std::string, std::string, std::less<>> options;
  Statistics statistics;  // added up over the run
  // Remarks that an option such as `explain` requests. The tool prints them.
  std::string remarks;
  // Threads that process several kernels at a time. Null: kernels are processed in order.
  ThreadPool* workers = nullptr;

  int64_t Int(std::string_view name) const;
  bool Flag(std::string_view name) const;
  std::string_view String(std::string_view name) const;
};

// Calls work(kernel, statistics) for each kernel, several at a time if the context has workers.
// `work` may change only the kernel and the statistics that it is given. Returns the error of the
// first kernel, in the module's order, that fails. Statistics and error do not depend on the number
// of threads; which kernels after the failing one are processed does.
absl::Status ForEachKernel(Module& module, PassContext& context,
                           llvm::function_ref<absl::Status(Kernel&, Statistics&)> work);

struct Pass {
  std::string_view name;
  std::string_view doc;  // one sentence
  std::span<const PassOption> options;
  absl::Status (*run)(Module& module, PassContext& context);
  std::string_view former = {};  // an older name of the pass, still accepted in pipelines; or empty
};

}  // namespace tg::passes

#endif  // TG_PASSES_PASS_H_
