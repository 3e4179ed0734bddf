// Spelling of ops: a language's table, and the substitution of operands.
#ifndef TG_CODEGEN_CLIKE_SPELLING_H_
#define TG_CODEGEN_CLIKE_SPELLING_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "codegen/clike/cat.h"
#include "ir/op.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tg::clike {

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

// A row of a language's table, which codegen/clike/operators.def explains.
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

namespace spelling_internal {

struct Operator {
  std::string_view text;
  int left, right;  // the minimum precedence of its operands
};
inline constexpr Operator kOperators[] = {
    {"?", kTernary + 1, kTernary},
    {":", kTernary, kTernary},
    {"||", kLogicalAnd + 1, kLogicalAnd + 1},
    {"&&", kLogicalAnd, kLogicalAnd + 1},
    {"|", kBitOr, kBitOr + 1},
    {"^", kBitXor, kBitXor + 1},
    {"&", kBitAnd, kBitAnd + 1},
    {"!=", kEqual, kEqual + 1},
    {"<", kCompare, kCompare + 1},
    {"<<", kMultiply, kMultiply},
    {">>", kMultiply, kMultiply},
    {"+", kAdditive, kAdditive + 1},
    {"-", kAdditive, kAdditive + 1},
    {"*", kMultiply, kMultiply + 1},
    {"/", kMultiply, kMultiply + 1},
    {"%", kMultiply, kMultiply + 1},
};

constexpr const Operator* FindOperator(std::string_view text) {
  const auto* it = std::find_if(std::begin(kOperators), std::end(kOperators),
                                [&](const Operator& o) { return o.text == text; });
  return it == std::end(kOperators) ? nullptr : it;
}

// Returns the precedence that the placeholder text[begin, end) requires, from the characters around
// it. Binary operators have blanks around them; unary operators touch their operand.
constexpr int Required(std::string_view text, size_t begin, size_t end) {
  int required = kTernary;
  if (begin > 0 && text[begin - 1] == '-') return kPostfix;  // avoids --x
  if (begin > 0 && (text[begin - 1] == ')' || text[begin - 1] == '~' || text[begin - 1] == '!'))
    return kUnary;
  if (begin > 1 && text[begin - 1] == ' ') {
    const size_t blank = text.rfind(' ', begin - 2);
    const size_t from = blank == std::string_view::npos ? 0 : blank + 1;
    if (const Operator* o = FindOperator(text.substr(from, begin - 1 - from))) {
      required = std::max(required, o->right);
    }
  }
  if (end + 1 < text.size() && text[end] == ' ') {
    const size_t to = std::min(text.find(' ', end + 1), text.size());
    if (const Operator* o = FindOperator(text.substr(end + 1, to - end - 1))) {
      required = std::max(required, o->left);
    }
  }
  return required;
}

}  // namespace spelling_internal

// Makes a row, and finds the placeholders of its text, in order.
constexpr Spelling MakeSpelling(Op op, std::string_view classes, std::string_view text,
                                Precedence precedence, std::string_view flags) {
  Spelling row{op, classes, text, precedence, 0, {}, 0};
  for (char c : flags) row.flags |= Spelling::Bit(c);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') continue;
    Placeholder& p = row.placeholders[row.num_placeholders++];
    p.begin = static_cast<uint8_t>(i);
    p.end = static_cast<uint8_t>(i + 2);
    if (text[i + 1] == '=') {
      p.operand = Placeholder::kType;
    } else if (text.substr(i, 4) == "$one") {
      p.operand = Placeholder::kOne;
      p.end = static_cast<uint8_t>(i + 4);
    } else {
      p.operand = static_cast<int8_t>(text[i + 1] - '0');
      p.required = static_cast<int8_t>(spelling_internal::Required(text, i, i + 2));
    }
  }
  return row;
}

// A language's rows, found by op and class.
class SpellingTable {
 public:
  constexpr explicit SpellingTable(std::span<const Spelling> rows) : rows_(rows) {
    for (size_t i = rows.size(); i-- > 0;) {
      for (char cls : rows[i].classes) {
        row_of_[static_cast<size_t>(rows[i].op)][static_cast<size_t>(cls - kFirstClass)] =
            static_cast<uint8_t>(i + 1);
      }
    }
  }

  // Returns the row for `op` on operands of class `cls` (a letter of the table), or null.
  const Spelling* Find(Op op, char cls) const {
    const uint8_t row = row_of_[static_cast<size_t>(op)][static_cast<size_t>(cls - kFirstClass)];
    return row == 0 ? nullptr : &rows_[row - 1];
  }
  // Returns whether some row's text contains this name of a function or type. Where a text has `$=`
  // in a name, any suffix that does not end in an underscore counts as a type.
  bool IsSpelled(std::string_view name) const;

 private:
  static constexpr char kFirstClass = 'A', kLastClass = 'z';
  std::span<const Spelling> rows_;  // fewer than 255
  // 1 + the first row of an op for a class; 0 if there is none.
  std::array<std::array<uint8_t, kLastClass - kFirstClass + 1>, kNumOps> row_of_{};
};

// Appends `row.text` and calls append(i, p) for each placeholder. The callback appends operand i,
// parenthesized if it binds less tightly than p, or the text for kType or kOne.
void FillIn(Text& out, const Spelling& row, llvm::function_ref<void(int i, int precedence)> append);

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_SPELLING_H_
