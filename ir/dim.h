// Dim: one extent, stride, offset or bound of a shape. It is a number, or an `index` UOp over the
// module's variables. Two Dims are equal if they are the same number or the same node.
#ifndef TG_IR_DIM_H_
#define TG_IR_DIM_H_

#include <concepts>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "ir/uop.h"

namespace tg {

class Dim {
 public:
  constexpr Dim() = default;
  template <std::integral T>
  constexpr Dim(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT: a number is a Dim
  // A constant node becomes a number.
  Dim(const UOp* u) {  // NOLINT
    if (u->op == Op::kConst) {
      value_ = u->word();
    } else {
      symbol_ = u;
    }
  }

  bool is_symbolic() const { return symbol_ != nullptr; }
  bool Is(int64_t v) const { return !symbol_ && value_ == v; }
  int64_t value() const {
    TG_CHECK(!symbol_);
    return value_;
  }
  const UOp* symbol() const { return symbol_; }

  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  int64_t value_ = 0;
  const UOp* symbol_ = nullptr;
};

using Shape = std::vector<Dim>;

inline bool IsStatic(const Shape& shape) {
  for (const Dim& d : shape) {
    if (d.is_symbolic()) return false;
  }
  return true;
}

// The product of a static shape's extents; 1 for [].
inline int64_t NumElements(const Shape& shape) {
  int64_t n = 1;
  for (const Dim& d : shape) n *= d.value();
  return n;
}

}  // namespace tg

#endif  // TG_IR_DIM_H_
