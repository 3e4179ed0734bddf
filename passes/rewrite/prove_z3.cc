#include "passes/rewrite/prove_z3.h"

#include <z3++.h>

#include <sstream>

#include "passes/rewrite/prove.h"
#include "passes/rewrite/prove_eval.h"

namespace tg::prove {
namespace {

// The operations that are the same for integers and bit-vectors.
struct Z3Domain {
  using Value = z3::expr;
  using Bool = z3::expr;
  z3::context& ctx;

  Bool Eq(const Value& a, const Value& b) { return a == b; }
  Value Ite(const Bool& p, const Value& a, const Value& b) { return z3::ite(p, a, b); }
  Bool Not(const Bool& a) { return !a; }
  Bool Both(const Bool& a, const Bool& b) { return a && b; }
  Bool Either(const Bool& a, const Bool& b) { return a || b; }
  Bool Truth(bool a) { return ctx.bool_val(a); }
};

struct IntDomain : Z3Domain {
  Value Lit(int64_t v) { return ctx.int_val(v); }
  Value Add(const Value& a, const Value& b) { return a + b; }
  Value Sub(const Value& a, const Value& b) { return a - b; }
  Value Mul(const Value& a, const Value& b) { return a * b; }
  Bool Lt(const Value& a, const Value& b) { return a < b; }
  // Z3's div rounds down for a positive divisor, so a negative divisor negates both operands. For a
  // divisor that is a number, the case is decided here, which gives Z3 a simpler query.
  static bool IsNumber(const Value& b, int64_t* n) { return b.is_numeral_i64(*n); }
  Value FloorDiv(const Value& a, const Value& divisor) {
    const Value b = divisor.simplify();
    if (int64_t n; IsNumber(b, &n)) return n > 0 ? a / b : (-a) / ctx.int_val(-n);
    return z3::ite(b > 0, a / b, (-a) / (-b));
  }
  Value TruncDiv(const Value& a, const Value& divisor) {
    const Value b = divisor.simplify();
    if (int64_t n; IsNumber(b, &n)) {
      const Value m = ctx.int_val(n > 0 ? n : -n);
      const Value q = z3::ite(a >= 0, a / m, -((-a) / m));
      return n > 0 ? q : -q;
    }
    return z3::ite(a >= 0, z3::ite(b > 0, a / b, -(a / (-b))),
                   z3::ite(b > 0, -((-a) / b), (-a) / (-b)));
  }
  // No rule on indices uses these; they only have to compile.
  Value And(const Value& a, const Value&) { return a; }
  Value Or(const Value& a, const Value&) { return a; }
  Value Xor(const Value& a, const Value&) { return a; }
  Value Shl(const Value& a, const Value&) { return a; }
  Value Shr(const Value& a, const Value&) { return a; }
};

struct BitsDomain : Z3Domain {
  unsigned bits;
  bool is_signed;

  Value Lit(int64_t v) { return ctx.bv_val(v, bits); }
  Value Add(const Value& a, const Value& b) { return a + b; }
  Value Sub(const Value& a, const Value& b) { return a - b; }
  Value Mul(const Value& a, const Value& b) { return a * b; }
  Bool Lt(const Value& a, const Value& b) { return is_signed ? a < b : z3::ult(a, b); }
  Value TruncDiv(const Value& a, const Value& b) { return is_signed ? a / b : z3::udiv(a, b); }
  Value FloorDiv(const Value& a, const Value& b) {
    if (!is_signed) return z3::udiv(a, b);
    const Value q = a / b;
    const Bool rounded_up = (q * b != a) && ((a < 0) != (b < 0));
    return z3::ite(rounded_up, q - 1, q);
  }
  Value And(const Value& a, const Value& b) { return a & b; }
  Value Or(const Value& a, const Value& b) { return a | b; }
  Value Xor(const Value& a, const Value& b) { return a ^ b; }
  // SMT-LIB's shifts give 0, or copies of the sign bit, for amounts of `bits` and more, and
  // interpret a negative amount as a large unsigned one. So they agree with the IR's shifts.
  Value Shl(const Value& a, const Value& b) { return z3::shl(a, b); }
  Value Shr(const Value& a, const Value& b) { return is_signed ? z3::ashr(a, b) : z3::lshr(a, b); }
};

// Whether `guard` implies `same`. `simple`: use Z3's solver without preprocessing, which is faster
// for many small queries. `model` receives the counterexample.
Answer Decide(z3::context& ctx, const z3::expr& guard, const z3::expr& same, unsigned timeout_ms,
              bool simple, std::string* model) {
  z3::solver solver = simple ? z3::solver(ctx, z3::solver::simple()) : z3::solver(ctx);
  z3::params params(ctx);
  params.set("timeout", timeout_ms);
  solver.set(params);
  solver.add(guard);
  solver.add((!same).simplify());
  switch (solver.check()) {
    case z3::unsat:
      return Answer::kProven;
    case z3::sat: {
      std::ostringstream out;
      out << solver.get_model();
      *model = out.str();
      return Answer::kRefuted;
    }
    default:
      return Answer::kUndecided;
  }
}

template <typename D>
z3::expr Same(const rewrite::RuleInfo& rule, D& d, const Names<D>& names) {
  if (IsBool(rule.lhs, false, false)) {
    return EvalBool(rule.lhs, d, names, false) == EvalBool(rule.rhs, d, names, false);
  }
  return EvalValue(rule.lhs, d, names) == EvalValue(rule.rhs, d, names);
}

template <typename D, typename F>
Names<D> MakeNames(const rewrite::RuleInfo& rule, z3::context& ctx, F make) {
  const NameCounts counts = CountNames(rule);
  Names<D> names;
  for (size_t i = 0; i < counts.vars; ++i) {
    names.vars.push_back(make(std::string(1, "xyzw"[i]), true, i));
  }
  for (size_t i = 0; i < counts.constants; ++i) {
    names.constants.push_back(make("c" + std::to_string(i), false, i));
  }
  for (size_t i = 0; i < counts.gates; ++i) {
    names.gates.push_back(ctx.bool_const(std::string(1, "pqr"[i]).c_str()));
  }
  return names;
}

}  // namespace

Answer AskBits(const rewrite::RuleInfo& rule, rewrite::Domain domain, int bits, unsigned timeout_ms,
               std::string* model) {
  z3::context ctx;
  const bool is_signed = domain == rewrite::pattern::S;
  const auto n = static_cast<unsigned>(bits);
  BitsDomain d{{ctx}, n, is_signed};
  const auto names = MakeNames<BitsDomain>(rule, ctx, [&](const std::string& name, bool, size_t) {
    return ctx.bv_const(name.c_str(), n);
  });
  // Guards are evaluated without wrapping. Twice the width holds the product of two numbers, and
  // the additional bits hold a few sums.
  const unsigned wide = 2 * n + 4;
  BitsDomain integers{{ctx}, wide, true};
  const auto widen = [&](const z3::expr& e) {
    return is_signed ? z3::sext(e, wide - n) : z3::zext(e, wide - n);
  };
  Names<BitsDomain> wide_names;
  for (const auto& v : names.vars) wide_names.vars.push_back(widen(v));
  for (const auto& v : names.constants) wide_names.constants.push_back(widen(v));
  wide_names.gates = names.gates;
  const z3::expr one = ctx.bv_val(1, wide);
  const z3::expr top = z3::shl(one, ctx.bv_val(is_signed ? n - 1 : n, wide));
  const std::optional<std::pair<z3::expr, z3::expr>> range(
      std::in_place, is_signed ? -top : ctx.bv_val(0, wide), top - one);
  return Decide(ctx, EvalGuard(rule.guard, integers, wide_names, range), Same(rule, d, names),
                timeout_ms, false, model);
}

struct IntegerQuestions::Solver {
  z3::context ctx;
};

IntegerQuestions::IntegerQuestions(const rewrite::RuleInfo& rule, unsigned timeout_ms)
    : rule_(rule), timeout_ms_(timeout_ms), solver_(std::make_unique<Solver>()) {}
IntegerQuestions::~IntegerQuestions() = default;

Answer IntegerQuestions::Ask(const Fixed& fixed, std::string* model) {
  z3::context& ctx = solver_->ctx;
  IntDomain d{{ctx}};
  const auto names =
      MakeNames<IntDomain>(rule_, ctx, [&](const std::string& name, bool is_var, size_t i) {
        const auto& list = is_var ? fixed.vars : fixed.constants;
        if (i < list.size() && list[i]) return ctx.int_val(*list[i]);
        return ctx.int_const(name.c_str());
      });
  return Decide(ctx, EvalGuard(rule_.guard, d, names, {}), Same(rule_, d, names), timeout_ms_,
                !fixed.constants.empty(), model);
}

}  // namespace tg::prove
