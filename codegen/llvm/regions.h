// Regions: how the work-items of a group run one after the other on a processor.
//
// A barrier divides the linear list into regions. Each region is run by all work-items, in a loop,
// before the next begins. A loop or an `if` with a barrier inside is entered once for the whole
// group: its trip count and condition are the same for every work-item, as barriers demand. A value
// that is computed in one region and used in another is kept in memory for each work-item.
#ifndef TG_CODEGEN_LLVM_REGIONS_H_
#define TG_CODEGEN_LLVM_REGIONS_H_

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace tg::llvm_ir {

class Regions {
 public:
  // A statement that belongs to no region: a barrier, or the begin or end of a block around one.
  static constexpr int kOutside = -1;

  explicit Regions(const Kernel& kernel);

  // The number of work-items of a group. 1 also where the kernel has no local axis.
  int64_t items() const { return items_; }
  // Whether there is more than one work-item and more than one region, so that values are kept.
  bool keeps_values() const { return items_ > 1 && count_ > 1; }
  // The region of a position of the linear list.
  int of(size_t position) const { return region_[position]; }
  // Whether the value of a node, by its id, is used in another region than its own.
  bool is_retained(const UOp* u) const { return keeps_values() && retained_[u->id]; }

 private:
  void FindRegions(const std::vector<const UOp*>& order);
  void FindRetained(const Kernel& kernel);

  int64_t items_ = 1;
  int count_ = 1;
  std::vector<int> region_;     // by position
  std::vector<bool> retained_;  // by node id
};

}  // namespace tg::llvm_ir

#endif  // TG_CODEGEN_LLVM_REGIONS_H_
