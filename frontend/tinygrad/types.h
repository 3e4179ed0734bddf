// tinygrad's names of scalar types.
#ifndef TG_FRONTEND_TINYGRAD_TYPES_H_
#define TG_FRONTEND_TINYGRAD_TYPES_H_

#include <iterator>
#include <string_view>

#include "ir/dtype.h"

namespace tg::tinygrad {

struct TypeNames {
  Scalar scalar;
  std::string_view names;  // separated by '|'
};
inline constexpr TypeNames kTypeNames[] = {
#define TG_TINYGRAD_TYPE(scalar, names) {Scalar::scalar, names},
#include "frontend/tinygrad/types.def"
#undef TG_TINYGRAD_TYPE
};
static_assert(std::size(kTypeNames) == kNumScalars - 1, "every scalar but index");

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_TYPES_H_
