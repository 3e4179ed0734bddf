// Axes that take more steps than one directive binds.
#ifndef TG_PASSES_DIRECTIVES_IN_TWO_PARTS_H_
#define TG_PASSES_DIRECTIVES_IN_TWO_PARTS_H_

#include <algorithm>
#include <cstdint>

namespace tg::directive {

// The greatest size of an inner part with which an axis of `size` steps is two parts of at most
// `most` steps each. 0: there is none, as for a prime above `most`.
constexpr int64_t InnerOfTwo(int64_t size, int64_t most) {
  for (int64_t inner = std::min(size, most); inner >= 1 && size <= inner * most; --inner) {
    if (size % inner == 0) return inner;
  }
  return 0;
}

}  // namespace tg::directive

#endif  // TG_PASSES_DIRECTIVES_IN_TWO_PARTS_H_
