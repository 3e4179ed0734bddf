#include "codegen/opencl/spelling.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tg::opencl {
namespace {

struct Operator {
  std::string_view text;
  int left, right;  // the minimum precedence of its operands
};
constexpr Operator kOperators[] = {
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

// Finds the placeholders of a row's text, in order.
constexpr Spelling Make(Op op, std::string_view classes, std::string_view text,
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
      p.required = static_cast<int8_t>(Required(text, i, i + 2));
    }
  }
  return row;
}

constexpr Spelling kSpellings[] = {
#define TG_CL(op, classes, text, precedence, flags) Make(Op::op, classes, text, precedence, flags),
#include "codegen/opencl/spelling.def"
#undef TG_CL
};

// 1 + the first row of an op for a class; 0 if there is none.
constexpr char kFirstClass = 'A', kLastClass = 'z';
constexpr auto kRowOf = [] {
  std::array<std::array<uint8_t, kLastClass - kFirstClass + 1>, kNumOps> rows{};
  static_assert(std::size(kSpellings) < 255);
  for (size_t i = std::size(kSpellings); i-- > 0;) {
    for (char cls : kSpellings[i].classes) {
      rows[static_cast<size_t>(kSpellings[i].op)][static_cast<size_t>(cls - kFirstClass)] =
          static_cast<uint8_t>(i + 1);
    }
  }
  return rows;
}();

}  // namespace

const Spelling* FindSpelling(Op op, char cls) {
  const uint8_t row = kRowOf[static_cast<size_t>(op)][static_cast<size_t>(cls - kFirstClass)];
  return row == 0 ? nullptr : &kSpellings[row - 1];
}

bool IsSpelled(std::string_view name) {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (const Spelling& row : kSpellings) {
    const std::string_view text = row.text;
    for (size_t i = 0; i < text.size(); ++i) {
      if (!in_name(text[i])) continue;
      const size_t begin = i;
      while (i < text.size() && in_name(text[i])) ++i;
      const std::string_view word = text.substr(begin, i - begin);
      if (begin > 0 && text[begin - 1] == '$') continue;
      // A type's name replaces `$=`, and it does not end in an underscore.
      const bool typed = text.substr(i, 2) == "$=";
      if (typed ? name.starts_with(word) && name.size() > word.size() && !name.ends_with("_")
                : name == word) {
        return true;
      }
    }
  }
  return false;
}

void FillIn(Text& out, const Spelling& row,
            llvm::function_ref<void(int i, int precedence)> append) {
  size_t at = 0;
  for (const Placeholder& p : row.used()) {
    out.Add(row.text.substr(at, p.begin - at));
    append(p.operand, p.required);
    at = p.end;
  }
  out.Add(row.text.substr(at));
}

}  // namespace tg::opencl
