// Regions: the parts of a kernel between barriers.
#ifndef TG_CODEGEN_C_REGIONS_H_
#define TG_CODEGEN_C_REGIONS_H_

#include <vector>

#include "ir/module.h"
#include "llvm/ADT/DenseSet.h"

namespace tg::c {

class Regions {
 public:
  explicit Regions(const Kernel& kernel);

  // Whether there is more than one.
  bool several() const { return several_; }
  // Returns the number of the region of a position in the linear list; it ascends.
  int At(int position) const { return region_[static_cast<size_t>(position)]; }
  // Returns whether a loop or an if contains a barrier.
  bool HasBarrier(const UOp* block) const { return with_barrier_.contains(block); }

 private:
  bool several_ = false;
  std::vector<int> region_;  // by position
  llvm::DenseSet<const UOp*> with_barrier_;
};

}  // namespace tg::c

#endif  // TG_CODEGEN_C_REGIONS_H_
