// Spelling of ops: the table spelling.def, and the substitution of operands.
#ifndef TG_CODEGEN_OPENCL_SPELLING_H_
#define TG_CODEGEN_OPENCL_SPELLING_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "codegen/opencl/cat.h"
#include "ir/op.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg::opencl {

// C's precedences, from loosest to tightest.
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

// A placeholder in a row's text: text[begin, end).
struct Placeholder {
  static constexpr int8_t kType = -1, kOne = -2;
  uint8_t begin, end;
  int8_t operand;   // the operand's number, kType or kOne
  int8_t required;  // the precedence that the surrounding text requires
};

struct Spelling {
  Op op;
  std::string_view classes;
  std::string_view text;
  Precedence precedence;
  uint32_t flags;  // one bit per letter
  Placeholder placeholders[4];
  int num_placeholders;

  static constexpr uint32_t Bit(char letter) { return 1u << (letter - 'a'); }
  bool has(char flag) const { return flags & Bit(flag); }
  std::span<const Placeholder> used() const {
    return {placeholders, static_cast<size_t>(num_placeholders)};
  }
};

// Returns the row for `op` on operands of class `cls` (a letter of the table), or null.
const Spelling* FindSpelling(Op op, char cls);

// Returns whether some row's text contains this name of a function or type. Where a text has `$=`
// in a name, any suffix that does not end in an underscore counts as a type.
bool IsSpelled(std::string_view name);

// Appends `row.text` and calls append(i, p) for each placeholder. The callback appends operand i,
// parenthesized if it binds less tightly than p, or the text for kType or kOne.
void FillIn(Text& out, const Spelling& row, llvm::function_ref<void(int i, int precedence)> append);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_SPELLING_H_
