// Translates ops of other programs, and fields of older texts, to tg's names: hints for errors, and
// a section of docs/ops.md.
#ifndef TG_IR_TEXT_FOREIGN_OPS_H_
#define TG_IR_TEXT_FOREIGN_OPS_H_

#include <span>
#include <string>
#include <string_view>

#include "ir/op.h"

namespace tg {

// A function of x, or of a, b and c, in terms of tg's ops. `names` are separated by blanks.
struct ForeignFunction {
  std::string_view names;
  std::string_view formula;  // calls of ops, numbers, true, + - * /
};
std::span<const ForeignFunction> ForeignFunctions();

// An op that is not elementwise.
struct ForeignOp {
  std::string_view names;
  std::string_view ours;
};
std::span<const ForeignOp> ForeignOps();

// "; write exp2(x * 1.4426950408889634)", or a guess at a misspelt op, or empty.
std::string GuessOp(std::string_view word);

// The current name of a field of `op` that older texts call `old`; empty if there is none.
std::string_view RenamedField(Op op, std::string_view old);

}  // namespace tg

#endif  // TG_IR_TEXT_FOREIGN_OPS_H_
