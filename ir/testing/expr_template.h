// A small expression with names, such as the left side of a rewrite rule: random graphs hold
// instances of the templates that they are given.
#ifndef TG_IR_TESTING_EXPR_TEMPLATE_H_
#define TG_IR_TESTING_EXPR_TEMPLATE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/module_flags.h"
#include "ir/op.h"

namespace tg::testing {

struct ExprTemplate {
  enum class Kind : uint8_t {
    kVar,       // any value, number `value`; equal numbers are one value
    kGate,      // any bool, number `value`
    kConstant,  // any constant, number `value`
    kLiteral,   // the number `value`, or `real` where it is not 0 or a float is asked for
    kOp,
  };
  Kind kind = Kind::kVar;
  Op op = Op::kNoop;           // kOp
  bool bool_operands = false;  // kOp: the operands (of where: the last two) are bools
  int64_t value = 0;
  double real = 0;
  bool is_real = false;  // kLiteral: `real` counts
  std::vector<ExprTemplate> kids;
};

struct RootTemplate {
  ExprTemplate expr;
  // Types that vars and constants may have, as classes of the op table: "xibf"; 's' and 'u' are the
  // signed and the unsigned integers.
  std::string_view classes;
  // Numbers that are to be 1 for most instances: comparisons of constants, as a rule's guard has
  // them.
  std::vector<ExprTemplate> wishes;
  bool bounded = false;  // something is asked of the vars: bounds of theirs should be known
  ModuleFlags flags;     // without all of these the template is of no use
};

}  // namespace tg::testing

#endif  // TG_IR_TESTING_EXPR_TEMPLATE_H_
