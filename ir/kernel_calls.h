// KernelCalls: where a module's kernels are called.
#ifndef TG_IR_KERNEL_CALLS_H_
#define TG_IR_KERNEL_CALLS_H_

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"

namespace tg {

// The `kernel` nodes of a module's graphs, by kernel. The first query visits the graphs, which must
// not change after it. Thread-safe.
class KernelCalls {
 public:
  explicit KernelCalls(const Module& module) : module_(module) {}
  UOpSpan Of(std::string_view kernel) const;

 private:
  void Find() const;

  const Module& module_;
  mutable std::once_flag found_;
  mutable std::map<std::string, std::vector<const UOp*>, std::less<>> calls_;
};

}  // namespace tg

#endif  // TG_IR_KERNEL_CALLS_H_
