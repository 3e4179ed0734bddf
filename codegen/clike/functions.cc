#include "codegen/clike/functions.h"

#include "codegen/clike/cat.h"

namespace tg::clike {

std::string LaneList(int lanes, llvm::function_ref<std::string(int)> lane) {
  std::string out;
  for (int i = 0; i < lanes; ++i) {
    out += i == 0 ? "" : i % 8 == 0 ? ",\n      " : ", ";
    out += lane(i);
  }
  return out;
}

std::string StridedElement(int i) {
  return i == 0 ? "p[0]" : i == 1 ? "p[s]" : Cat("p[", i, " * s]");
}

std::string_view TakesSecond(Op max_or_min) {
  return max_or_min == Op::kMax ? "(a < b) | (b != b)" : "(b < a) | (b != b)";
}

}  // namespace tg::clike
