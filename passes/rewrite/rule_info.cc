#include "passes/rewrite/rule_info.h"

#include "absl/strings/str_cat.h"

namespace tg::rewrite {
namespace {

struct Spelling {
  const char* text;  // of an infix operator, or a function's name
  int precedence;    // 0: a function
};

Spelling SpellingOf(Op op) {
  switch (op) {
    case Op::kMul:
      return {"*", 10};
    case Op::kFloorDiv:
      return {"/", 10};
    case Op::kFloorMod:
      return {"%", 10};
    case Op::kAdd:
      return {"+", 9};
    case Op::kSub:
      return {"-", 9};
    case Op::kShl:
      return {"<<", 8};
    case Op::kShr:
      return {">>", 8};
    case Op::kCmpLt:
      return {"<", 7};
    case Op::kCmpNe:
      return {"!=", 6};
    case Op::kAnd:
      return {"&", 5};
    case Op::kXor:
      return {"^", 4};
    case Op::kOr:
      return {"|", 3};
    default:
      return {GetOpInfo(op).mnemonic.data(), 0};
  }
}

// The text of `t`, in parentheses if its precedence is lower than `outer`, that of the enclosing
// expression.
std::string Print(const PatternTree& t, int outer) {
  using Kind = PatternTree::Kind;
  const auto infix = [&](const char* text, int precedence) {
    std::string s = absl::StrCat(Print(t.kids[0], precedence), " ", text, " ",
                                 Print(t.kids[1], precedence + 1));
    return precedence < outer ? absl::StrCat("(", s, ")") : s;
  };
  switch (t.kind) {
    case Kind::kVar:
      return std::string(1, "xyzw"[t.value]);
    case Kind::kGate:
      return std::string(1, "pqr"[t.value]);
    case Kind::kConstant:
      return absl::StrCat("c", t.value);
    case Kind::kLiteral:
      return absl::StrCat(t.value);
    case Kind::kFloatLiteral:
      return t.real == 0 ? "-0.0" : absl::StrCat(t.real);
    case Kind::kFlag:
      return std::string(kModuleFlags[static_cast<size_t>(t.value)].text);
    case Kind::kWide:
      return "kWide";
    case Kind::kAlways:
      return "true";
    case Kind::kAndAlso:
      return infix("&&", 2);
    case Kind::kOrElse:
      return infix("||", 1);
    case Kind::kNoWrap:
      return absl::StrCat("NoWrap(", Print(t.kids[0], 0), ")");
    case Kind::kPowerOfTwo:
      return absl::StrCat("PowerOfTwo(", Print(t.kids[0], 0), ")");
    case Kind::kNotConstant:
      return absl::StrCat("NotConstant(", Print(t.kids[0], 0), ")");
    case Kind::kAlu:
      break;
  }
  if (t.op == Op::kNeg) return absl::StrCat("-", Print(t.kids[0], 11));
  if (t.op == Op::kCmpNe && t.operand == pattern::Type::kBool && t.kids[1].kind == Kind::kLiteral &&
      t.kids[1].value == 1) {
    const PatternTree& of = t.kids[0];
    if (of.kind == Kind::kAlu && of.op == Op::kCmpLt) {
      const std::string s = absl::StrCat(Print(of.kids[0], 7), " >= ", Print(of.kids[1], 8));
      return outer > 7 ? absl::StrCat("(", s, ")") : s;
    }
    if (of.kind == Kind::kAlu && of.op == Op::kCmpNe && of.operand == pattern::Type::kDomain) {
      const std::string s = absl::StrCat(Print(of.kids[0], 6), " == ", Print(of.kids[1], 7));
      return outer > 6 ? absl::StrCat("(", s, ")") : s;
    }
    return absl::StrCat("!", Print(of, 11));
  }
  const Spelling spelling = SpellingOf(t.op);
  if (spelling.precedence > 0) return infix(spelling.text, spelling.precedence);
  std::string s = absl::StrCat(spelling.text, "(");
  for (size_t i = 0; i < t.kids.size(); ++i) {
    absl::StrAppend(&s, i ? ", " : "", Print(t.kids[i], 0));
  }
  return absl::StrCat(s, ")");
}

// The tree whose prefix order starts at tokens[at]; advances `at` past it. Recursion is as deep as
// the rule's text.
PatternTree Read(std::span<const pattern::Token> tokens, size_t& at) {
  const pattern::Token& token = tokens[at++];
  PatternTree t;
  t.kind = token.kind;
  t.type = token.type;
  t.operand = token.operand;
  t.op = token.op;
  t.value = token.value;
  t.real = token.real;
  for (int i = 0; i < token.kids; ++i) t.kids.push_back(Read(tokens, at));
  return t;
}

}  // namespace

std::string PatternTree::ToString() const { return Print(*this, 0); }

std::string RuleInfo::Location() const {
  const size_t slash = file.rfind('/');
  return absl::StrCat(slash == std::string::npos ? file : file.substr(slash + 1), ":", line);
}

std::string DomainName(Domain d) {
  std::string s;
  const auto add = [&](const char* name) { absl::StrAppend(&s, s.empty() ? "" : "|", name); };
  if (d & pattern::Z) add("Z");
  if ((d & pattern::W) == pattern::W) {
    add("W");
  } else if (d & pattern::W) {
    add(d & pattern::S ? "S" : "U");
  }
  if (d & pattern::B) add("B");
  if (d & pattern::F) add("F");
  return s;
}

RuleInfo Describe(const pattern::RuleData& data) {
  RuleInfo info;
  info.file = data.file;
  info.line = data.line;
  info.domain = data.domain;
  info.is_custom = data.tokens.empty();
  if (info.is_custom) {
    info.name = data.name;
    return info;
  }
  size_t at = 0;
  info.lhs = Read(data.tokens, at);
  info.rhs = Read(data.tokens, at);
  info.guard = Read(data.tokens, at);
  info.name = absl::StrCat(info.lhs.ToString(), " -> ", info.rhs.ToString());
  if (info.guard.kind != PatternTree::Kind::kAlways) {
    absl::StrAppend(&info.name, " if ", info.guard.ToString());
  }
  return info;
}

}  // namespace tg::rewrite
