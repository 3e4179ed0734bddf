// Patterns: expressions over UOps as constexpr data, and rewrite rules over patterns.
//
//   rule(Z,     (x % c0) % c1,  x % c1,            c0 % c1 == 0)
//   rule(Z | W, x * c0 + x,     x * (c0 + 1))
//   rule(Z,     x / y,          0,                 x >= 0 && x < y)
//
// A rule is `rule(domains, left, right, guard)`: a node that matches `left` becomes `right` if
// `guard` is known to hold. The same data is used for matching (match.h), building the result
// (build.h), printing (rule_info.h) and proving (prove.h).
//
//   x y z w   any node of the rule's type; a name that occurs twice is one node
//   c0..c3    a constant of that type; on the right side, arithmetic on constants alone is folded
//             when the rule is applied
//   p q r     any bool
//   numbers   a constant with that value, of the type of the op's other operands
//
// The domain is the type of the rule's names: Z is `index`, where / and % are floor and nothing
// overflows; S and U are the signed and unsigned integers, which wrap (W: both); B bool; F floats.
// A rule does not apply if a constant of `index` on its right side does not fit in 64 bits, or if a
// float that it computes of two finite constants overflows or underflows.
//
// Guards are evaluated over the integers, without wrapping: a comparison holds if bounds prove it.
// NoWrap(e) holds if bounds prove that no intermediate value of `e` overflows its type. A flag
// (kNoNan, ...) holds if the module has it.
#ifndef TG_PASSES_REWRITE_PATTERN_H_
#define TG_PASSES_REWRITE_PATTERN_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ir/module_flags.h"
#include "ir/op.h"

namespace tg::rewrite {

// The set of types that a rule holds for.
using Domain = uint8_t;

namespace pattern {

inline constexpr Domain Z = 1, S = 2, U = 4, W = S | U, B = 8, F = 16;

// The type of a pattern's value: that of the rule's domain, bool, or (for a literal) whatever its
// context requires.
enum class Type : uint8_t { kDomain, kBool, kLiteral };

struct Node {};  // base of all patterns
template <typename T>
concept Pattern = std::derived_from<T, Node>;

struct Var : Node {
  static constexpr Type kType = Type::kDomain;
  uint8_t i;
  constexpr explicit Var(int n) : i(static_cast<uint8_t>(n)) {}
};
struct Gate : Node {
  static constexpr Type kType = Type::kBool;
  uint8_t i;
  constexpr explicit Gate(int n) : i(static_cast<uint8_t>(n)) {}
};
struct Cst : Node {
  static constexpr Type kType = Type::kDomain;
  uint8_t i;
  constexpr explicit Cst(int n) : i(static_cast<uint8_t>(n)) {}
};
struct Lit : Node {
  static constexpr Type kType = Type::kLiteral;
  int64_t v;
  constexpr explicit Lit(int64_t n) : v(n) {}
};
// A float literal that is not an integer, or is -0.0.
struct FloatLit : Node {
  static constexpr Type kType = Type::kLiteral;
  double v;
  constexpr explicit FloatLit(double n) : v(n) {}
};

constexpr bool IsCompare(Op op) { return op == Op::kCmpLt || op == Op::kCmpNe; }

// The common type of two operands: a literal takes the type of the other operand.
constexpr Type Join(Type a, Type b) { return a == Type::kLiteral ? b : a; }

// An op on patterns. kType: the type of its value; kOperand: the type of its operands (of the last
// two operands of a `where`).
template <Op kOp_, typename... A>
struct Alu;
template <Op kOp_, typename A>
struct Alu<kOp_, A> : Node {
  static constexpr Op kOp = kOp_;
  static constexpr Type kOperand = A::kType;
  static constexpr Type kType = kOperand;
  A a;
  constexpr explicit Alu(A x) : a(x) {}
};
template <Op kOp_, typename A, typename B_>
struct Alu<kOp_, A, B_> : Node {
  static constexpr Op kOp = kOp_;
  static constexpr Type kOperand = Join(A::kType, B_::kType);
  static constexpr Type kType = IsCompare(kOp) ? Type::kBool : kOperand;
  A a;
  B_ b;
  constexpr Alu(A x, B_ y) : a(x), b(y) {}
};
template <Op kOp_, typename P, typename A, typename B_>
struct Alu<kOp_, P, A, B_> : Node {
  static constexpr Op kOp = kOp_;
  static constexpr Type kOperand = Join(A::kType, B_::kType);
  static constexpr Type kType = kOperand;
  P p;
  A a;
  B_ b;
  constexpr Alu(P g, A x, B_ y) : p(g), a(x), b(y) {}
};

// For guards only.
template <typename A, typename B_>
struct AndAlso : Node {
  A a;
  B_ b;
  constexpr AndAlso(A x, B_ y) : a(x), b(y) {}
};
template <typename A, typename B_>
struct OrElse : Node {
  A a;
  B_ b;
  constexpr OrElse(A x, B_ y) : a(x), b(y) {}
};
template <typename A>
struct NoWrapNode : Node {
  A a;
  constexpr explicit NoWrapNode(A x) : a(x) {}
};
// Holds for a constant float that is a power of two and whose reciprocal is not subnormal, nor
// close to it. Not for minus one: 0 divided by it is -0, a product with 0 may be 0 (zero-mul).
struct PowerOfTwoNode : Node {
  Cst a;
  constexpr explicit PowerOfTwoNode(Cst c) : a(c) {}
};
// Holds for any node except a constant.
struct NotConstantNode : Node {
  Var a;
  constexpr explicit NotConstantNode(Var v) : a(v) {}
};
struct FlagNode : Node {
  ModuleFlag flag;  // an inexact transformation that the module must allow
  constexpr explicit FlagNode(ModuleFlag f) : flag(f) {}
};
// Holds if the type has at least 32 bits. The accuracy required of its functions then allows for
// more than one rounding.
struct WideNode : Node {};
struct Always : Node {};

// ---- Writing patterns ---------------------------------------------------------------------------
template <std::integral T>
constexpr Lit Lift(T v) {
  return Lit(static_cast<int64_t>(v));
}
constexpr FloatLit Lift(double v) { return FloatLit(v); }
template <Pattern T>
constexpr T Lift(T t) {
  return t;
}
template <typename A, typename B_>
concept Either = Pattern<A> || Pattern<B_>;

template <Op kOp, typename... A>
constexpr auto Make(A... a) {
  return Alu<kOp, decltype(Lift(a))...>(Lift(a)...);
}

#define TG_BINARY(name, op)          \
  template <typename A, typename B_> \
  requires Either<A, B_>             \
  constexpr auto name(A a, B_ b) { return Make<op>(a, b); }
TG_BINARY(operator+, Op::kAdd)
TG_BINARY(operator-, Op::kSub)
TG_BINARY(operator*, Op::kMul)
TG_BINARY(operator/, Op::kFloorDiv)
TG_BINARY(operator%, Op::kFloorMod)
TG_BINARY(operator<, Op::kCmpLt)
TG_BINARY(operator!=, Op::kCmpNe)
TG_BINARY(operator&, Op::kAnd)
TG_BINARY(operator|, Op::kOr)
TG_BINARY(operator^, Op::kXor)
TG_BINARY(operator<<, Op::kShl)
TG_BINARY(operator>>, Op::kShr)
TG_BINARY(CDiv, Op::kCDiv)
TG_BINARY(CMod, Op::kCMod)
TG_BINARY(FDiv, Op::kDiv)
TG_BINARY(Max, Op::kMax)
TG_BINARY(Min, Op::kMin)
TG_BINARY(Pow, Op::kPow)
#undef TG_BINARY

#define TG_UNARY(name, op)   \
  template <Pattern A>       \
  constexpr auto name(A a) { \
    return Make<op>(a);      \
  }
TG_UNARY(operator-, Op::kNeg)
TG_UNARY(Recip, Op::kRecip)
TG_UNARY(Sqrt, Op::kSqrt)
TG_UNARY(Exp2, Op::kExp2)
TG_UNARY(Log2, Op::kLog2)
#undef TG_UNARY

template <typename P, typename A, typename B_>
constexpr auto Where(P p, A a, B_ b) {
  return Make<Op::kWhere>(p, a, b);
}
template <typename A, typename B_, typename C>
constexpr auto MulAdd(A a, B_ b, C c) {
  return Make<Op::kMulAcc>(a, b, c);
}

// Ops that the IR does not have, in the forms that ir/builder.h gives them: `!p` and `~p` are
// p != true, `a >= b` is !(a < b), and `a == b` is !(a != b).
template <Pattern A>
constexpr auto operator!(A a) {
  return a != Lit(1);
}
template <Pattern A>
constexpr auto operator~(A a) {
  return a != Lit(1);
}
template <typename A, typename B_>
requires Either<A, B_>
constexpr auto operator>(A a, B_ b) { return Lift(b) < Lift(a); }
template <typename A, typename B_>
requires Either<A, B_>
constexpr auto operator>=(A a, B_ b) { return !(Lift(a) < Lift(b)); }
template <typename A, typename B_>
requires Either<A, B_>
constexpr auto operator<=(A a, B_ b) { return !(Lift(b) < Lift(a)); }
template <typename A, typename B_>
requires Either<A, B_>
constexpr auto operator==(A a, B_ b) { return !(Lift(a) != Lift(b)); }

template <Pattern A, Pattern B_>
constexpr auto operator&&(A a, B_ b) {
  return AndAlso<A, B_>(a, b);
}
template <Pattern A, Pattern B_>
constexpr auto operator||(A a, B_ b) {
  return OrElse<A, B_>(a, b);
}
template <Pattern A>
constexpr auto NoWrap(A a) {
  return NoWrapNode<A>(a);
}
constexpr auto PowerOfTwo(Cst c) { return PowerOfTwoNode(c); }
constexpr auto NotConstant(Var v) { return NotConstantNode(v); }
// lo <= a && a < hi.
template <Pattern A, typename L, typename H>
constexpr auto Within(A a, L lo, H hi) {
  return a >= lo && a < hi;
}

inline constexpr Var x{0}, y{1}, z{2}, w{3};
inline constexpr Cst c0{0}, c1{1}, c2{2}, c3{3};
inline constexpr Gate p{0}, q{1}, r{2};
inline constexpr FlagNode kNoNan{ModuleFlag::kNoNan}, kZeroMul{ModuleFlag::kZeroMul},
    kInfRatio{ModuleFlag::kInfRatio}, kFastMath{ModuleFlag::kFastMath};

inline constexpr WideNode kWide{};

// ---- Rules --------------------------------------------------------------------------------------
template <typename L, typename R, typename G>
struct Rule {
  static constexpr bool kIsCustom = false;
  static constexpr bool HasRoot(Op op) { return op == L::kOp; }
  L lhs;
  R rhs;
  G guard;
  Domain domain;
  const char* file;
  int line;
};

template <Pattern L, typename R, typename G = Always>
consteval auto rule(Domain domain, L lhs, R rhs, G guard = {}, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  return Rule<L, decltype(Lift(rhs)), G>{lhs, Lift(rhs), guard, domain, file, line};
}

// A list of rules. Not a std::tuple, whose constructors and get() take a compiler as long as all
// else that is made of a list.
template <size_t kNumber, typename R>
struct Numbered {
  R rule;
};
template <typename Numbers, typename... R>
struct Rules;
template <size_t... I, typename... R>
struct Rules<std::index_sequence<I...>, R...> : Numbered<I, R>... {
  static constexpr size_t kSize = sizeof...(R);
};
template <size_t kNumber, typename R>
constexpr const R& RuleAt(const Numbered<kNumber, R>& numbered) {
  return numbered.rule;
}

template <typename... R>
consteval auto rules(R... r) {
  return Rules<std::index_sequence_for<R...>, R...>{{r}...};
}

}  // namespace pattern
}  // namespace tg::rewrite

#endif  // TG_PASSES_REWRITE_PATTERN_H_
