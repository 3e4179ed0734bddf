// Parts of the functions that preludes of several languages define.
#ifndef TG_CODEGEN_CLIKE_FUNCTIONS_H_
#define TG_CODEGEN_CLIKE_FUNCTIONS_H_

#include <string>
#include <string_view>

#include "ir/op.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg::clike {

// The body of copy_transposed(to, t, from, f, rows, columns), where t and f are the row strides.
inline constexpr std::string_view kCopyTransposedBody =
    "  for (int r = 0; r < rows; r++) {\n"
    "    for (int c = 0; c < columns; c++) to[c * t + r] = from[r * f + c];\n  }\n}\n";

// Returns the list of a vector's lanes, with a line break behind each eight.
std::string LaneList(int lanes, llvm::function_ref<std::string(int)> lane);
// Returns element i of a strided access by pointer p and stride s: "p[2 * s]".
std::string StridedElement(int i);
// Returns the condition that the maximum or minimum of floats a and b is b. A NaN wins.
std::string_view TakesSecond(Op max_or_min);

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_FUNCTIONS_H_
