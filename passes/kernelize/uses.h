// How a value is used: in which kernel, and through which mapping of indices.
//
// Two uses are one where the same kernel reads the value at the same index expressions. A use is
// kept as the chain of movement ops and reduces between the kernel's store and the value,
// normalised so that chains that obviously map alike are equal: reshapes collapse and cancel.
#ifndef TG_PASSES_KERNELIZE_USES_H_
#define TG_PASSES_KERNELIZE_USES_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "ir/shape.h"
#include "ir/uop.h"

namespace tg {

using UseId = uint32_t;

class UseTable {
 public:
  explicit UseTable(ShapeMap& shapes) : shapes_(shapes) {}

  // The use of what kernel `root` stores, element by element.
  UseId Root(const UOp* root);
  // The use of movement op `u`'s source by a use of `u`.
  UseId Through(UseId use, const UOp* u);
  // The use of reduce_axis `u`'s source by a use of `u`.
  UseId Inside(UseId use, const UOp* u);

  const UOp* KernelOf(UseId use) const { return rows_[use].kernel; }

 private:
  struct Row {
    const UOp* kernel;
    UseId parent;
    bool reshape;
    Shape outside;  // of a reshape: the shape on the consumer's side
  };
  using Key = std::tuple<UseId, uint32_t, uint64_t, std::vector<int64_t>>;

  UseId Find(Key key, Row row);
  std::vector<int64_t> Encode(const Shape& shape) const;

  ShapeMap& shapes_;
  std::vector<Row> rows_;
  std::map<Key, UseId> ids_;
};

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_USES_H_
