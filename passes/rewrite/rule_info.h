// RuleInfo: a type-erased description of a rule, for names, statistics and proofs.
#ifndef TG_PASSES_REWRITE_RULE_INFO_H_
#define TG_PASSES_REWRITE_RULE_INFO_H_

#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "passes/rewrite/pattern.h"
#include "passes/rewrite/rule_context.h"

namespace tg::rewrite {

struct PatternTree {
  enum class Kind : uint8_t {
    kVar,
    kGate,
    kConstant,
    kLiteral,
    kFloatLiteral,
    kAlu,
    kAndAlso,
    kOrElse,
    kNoWrap,
    kPowerOfTwo,
    kNotConstant,
    kFlag,
    kWide,
    kAlways
  };
  Kind kind = Kind::kAlways;
  pattern::Type type = pattern::Type::kDomain;     // of the value
  pattern::Type operand = pattern::Type::kDomain;  // of the operands of kAlu
  Op op = Op::kNoop;                               // kAlu
  int64_t value = 0;                               // the number of a name; a literal; a ModuleFlag
  double real = 0;                                 // kFloatLiteral
  std::vector<PatternTree> kids;

  std::string ToString() const;  // as it is written in the rule
};

struct RuleInfo {
  bool is_custom = false;
  PatternTree lhs, rhs, guard;  // of kind kAlways if the rule is a function
  Domain domain = 0;
  std::string name;  // the printed form, or the function's name
  std::string file;
  int line = 0;

  std::string Location() const;  // "add_mul_rules.h:12"
};

std::string DomainName(Domain d);  // "Z|W"

namespace pattern {

using Kind = PatternTree::Kind;

// One node of a pattern; a pattern is a list of them in prefix order.
struct Token {
  Kind kind = Kind::kAlways;
  Type type = Type::kDomain;
  Type operand = Type::kDomain;
  Op op = Op::kNoop;
  uint8_t kids = 0;
  int64_t value = 0;
  double real = 0;
};

struct TokenList {
  std::array<Token, 64> tokens{};
  size_t size = 0;
  constexpr Token& Add(Kind kind, Type type, int64_t value) {
    Token& t = tokens[size++];
    t.kind = kind;
    t.type = type;
    t.value = value;
    return t;
  }
};

constexpr void Flatten(const Var& v, TokenList& out) { out.Add(Kind::kVar, v.kType, v.i); }
constexpr void Flatten(const Gate& v, TokenList& out) { out.Add(Kind::kGate, v.kType, v.i); }
constexpr void Flatten(const Cst& v, TokenList& out) { out.Add(Kind::kConstant, v.kType, v.i); }
constexpr void Flatten(const Lit& v, TokenList& out) { out.Add(Kind::kLiteral, v.kType, v.v); }
constexpr void Flatten(const FloatLit& v, TokenList& out) {
  out.Add(Kind::kFloatLiteral, v.kType, 0).real = v.v;
}
constexpr void Flatten(const FlagNode& v, TokenList& out) {
  out.Add(Kind::kFlag, Type::kBool, static_cast<uint8_t>(v.flag));
}
constexpr void Flatten(const WideNode&, TokenList& out) { out.Add(Kind::kWide, Type::kBool, 0); }
constexpr void Flatten(const NotConstantNode& v, TokenList& out) {
  out.Add(Kind::kNotConstant, Type::kBool, 0).kids = 1;
  Flatten(v.a, out);
}
constexpr void Flatten(const Always&, TokenList& out) { out.Add(Kind::kAlways, Type::kBool, 0); }
template <typename T>
constexpr void Flatten(const T& v, TokenList& out) {
  if constexpr (requires { T::kOp; }) {
    Token& t = out.Add(Kind::kAlu, T::kType, 0);
    t.op = T::kOp;
    t.operand = T::kOperand;
    t.kids = 1 + requires { v.b; }
    +requires {
      v.p;
    };
    if constexpr (requires { v.p; }) Flatten(v.p, out);
    Flatten(v.a, out);
    if constexpr (requires { v.b; }) Flatten(v.b, out);
  } else if constexpr (requires { v.b; }) {
    constexpr bool kAnd = std::is_same_v<T, AndAlso<decltype(v.a), decltype(v.b)>>;
    out.Add(kAnd ? Kind::kAndAlso : Kind::kOrElse, Type::kBool, 0).kids = 2;
    Flatten(v.a, out);
    Flatten(v.b, out);
  } else {
    constexpr bool kPower = std::is_same_v<T, PowerOfTwoNode>;
    out.Add(kPower ? Kind::kPowerOfTwo : Kind::kNoWrap, Type::kBool, 0).kids = 1;
    Flatten(v.a, out);
  }
}

// A rule as a compile-time constant: left side, right side and guard, one after the other.
struct RuleData {
  std::span<const Token> tokens;  // empty: a function
  Domain domain;
  const char* name;  // the function's name
  const char* file;
  int line;
};

template <const auto& kRule>
struct RuleDataOf {
  using R = std::remove_cvref_t<decltype(kRule)>;
  static constexpr auto kList = [] {
    TokenList list;
    if constexpr (!R::kIsCustom) {
      Flatten(kRule.lhs, list);
      Flatten(kRule.rhs, list);
      Flatten(kRule.guard, list);
    }
    return list;
  }();
  static constexpr auto kTokens = [] {
    std::array<Token, kList.size> tokens{};
    for (size_t i = 0; i < kList.size; ++i) tokens[i] = kList.tokens[i];
    return tokens;
  }();
  static constexpr RuleData Get() {
    if constexpr (R::kIsCustom) {
      return {{}, 0, kRule.name, kRule.file, kRule.line};
    } else {
      return {kTokens, kRule.domain, "", kRule.file, kRule.line};
    }
  }
};

}  // namespace pattern

RuleInfo Describe(const pattern::RuleData& data);

}  // namespace tg::rewrite

#endif  // TG_PASSES_REWRITE_RULE_INFO_H_
