// A small expression with named leaves, such as the left side of a rewrite rule. Random graphs
// contain instances of given templates.
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
    kVar,       // any value with the number `value`; equal numbers are one value
    kGate,      // any bool with the number `value`
    kConstant,  // any constant with the number `value`
    kLiteral,   // `value`, or `real` if it is not 0 or the type is a float
    kOp,
  };
  Kind kind = Kind::kVar;
  Op op = Op::kNoop;           // kOp
  bool bool_operands = false;  // kOp: the operands (for where: the last two) are bools
  int64_t value = 0;
  double real = 0;
  bool is_real = false;  // kLiteral: `real` is the number
  std::vector<ExprTemplate> kids;
};

struct RootTemplate {
  ExprTemplate expr;
  // The types that variables and constants may have, as classes of the op table: "xibf"; 's' and
  // 'u' are the signed and the unsigned integers.
  std::string_view classes;
  // Conditions that should be 1 in most instances: comparisons of constants from a rule's guard.
  std::vector<ExprTemplate> wishes;
  bool bounded = false;  // the guard needs bounds of the variables
  ModuleFlags flags;     // the template is useful only with all of these
};

}  // namespace tg::testing

#endif  // TG_IR_TESTING_EXPR_TEMPLATE_H_
