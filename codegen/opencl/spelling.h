// How ops are spelled: the table spelling.def and the filling in of operands.
#ifndef TG_CODEGEN_OPENCL_SPELLING_H_
#define TG_CODEGEN_OPENCL_SPELLING_H_

#include <functional>
#include <string>
#include <string_view>

#include "ir/op.h"

namespace tg::opencl {

// C's, from loosest to tightest.
enum Precedence : int {
  kComma,
  kTernary,
  kLogicalOr,
  kLogicalAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEqual,
  kCompare,
  kShift,
  kAdditive,
  kMultiply,
  kUnary,
  kPostfix,
  kPrimary
};

struct Spelling {
  Op op;
  std::string_view classes;
  std::string_view text;
  Precedence precedence;
  std::string_view flags;
  bool has(char flag) const { return flags.find(flag) != std::string_view::npos; }
};

// The row for `op` on operands of class `cls` (a letter of the table), or null.
const Spelling* FindSpelling(Op op, char cls);

// `row.text` with each placeholder replaced: operand(i, p) gives operand i, in parentheses where it
// binds less tightly than p; $= becomes `type`, $one `one`.
std::string FillIn(const Spelling& row, const std::function<std::string(int, int)>& operand,
                   std::string_view type, std::string_view one);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_SPELLING_H_
