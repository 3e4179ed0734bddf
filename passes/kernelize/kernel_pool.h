// The kernels of a module, keyed by structure, so that equal kernels are stored once.
#ifndef TG_PASSES_KERNELIZE_KERNEL_POOL_H_
#define TG_PASSES_KERNELIZE_KERNEL_POOL_H_

#include <map>
#include <memory>
#include <set>
#include <string>

#include "ir/module.h"
#include "passes/pass.h"

namespace tg::kernelize {

class KernelPool {
 public:
  explicit KernelPool(Module& module);

  // Returns the name of an equal kernel, or adds this one.
  std::string Add(std::unique_ptr<Kernel> kernel, passes::PassContext& context);

 private:
  Module& module_;
  std::map<std::string, std::string> by_key_;
  std::set<std::string> names_;
};

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_KERNEL_POOL_H_
