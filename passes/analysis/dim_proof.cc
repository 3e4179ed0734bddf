#include "passes/analysis/dim_proof.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"

namespace tg::analysis {
namespace {

constexpr size_t kMaxMonomials = 64;
constexpr size_t kMaxText = 4096;  // characters of an atom

using Monomial = std::vector<std::string>;  // sorted atoms; empty: the constant
// Coefficients by monomial, none of which is 0.
using Polynomial = std::map<Monomial, int64_t>;

// Adds scale * p to `sum`. False if a number overflows or the sum has too many monomials.
bool AddTo(Polynomial& sum, const Polynomial& p, int64_t scale) {
  for (const auto& [monomial, coefficient] : p) {
    int64_t term = 0;
    int64_t& to = sum[monomial];
    if (__builtin_mul_overflow(coefficient, scale, &term) ||
        __builtin_add_overflow(to, term, &to)) {
      return false;
    }
    if (to == 0) sum.erase(monomial);
  }
  return sum.size() <= kMaxMonomials;
}

std::string Text(const Polynomial& p) {
  std::string text;
  for (const auto& [monomial, coefficient] : p) {
    absl::StrAppend(&text, text.empty() ? "" : "+", coefficient);
    for (const std::string& atom : monomial) absl::StrAppend(&text, "*", atom);
  }
  return text.empty() ? "0" : text;
}

// Computes normal forms. Remembers the dividend and divisor of each quotient that is an atom.
class Normalizer {
 public:
  // The normal form; nullopt if a number overflows or the form is too large.
  std::optional<Polynomial> Of(const DimExpr& expr) {
    std::vector<Polynomial> stack;
    for (const DimTerm& t : expr.terms()) {
      std::optional<Polynomial> made;
      if (t.op == Op::kConst) {
        made = t.value ? Polynomial{{{}, t.value}} : Polynomial{};
      } else if (t.op == Op::kVar) {
        made = Polynomial{{{"@" + t.var}, 1}};
      } else {
        const Polynomial b = std::move(stack.back());
        stack.pop_back();
        made = Apply(t.op, stack.back(), b);
        stack.pop_back();
      }
      if (!made) return std::nullopt;
      stack.push_back(*std::move(made));
    }
    return std::move(stack.back());
  }

  // An upper bound of p, from the bounds of its variables. A quotient floor(a / c) is replaced by
  // the fraction a / c, or (a - (c - 1)) / c if its coefficient is negative, so that its terms may
  // cancel against others. nullopt if p has another atom that is not a variable, a variable that
  // may be negative, or a number that overflows.
  std::optional<int64_t> UpperBound(const Module& module, Polynomial p) {
    int64_t scale = 1;  // p is at least this multiple of the original p
    while (const auto atom = FindQuotient(p)) {
      const auto& [dividend, divisor] = quotients_.at(*atom);
      const int64_t coefficient = p[{*atom}];
      p.erase({*atom});
      Polynomial scaled;
      const int64_t below = coefficient < 0 ? divisor - 1 : 0;  // floor(x / d) >= (x - (d - 1)) / d
      if (!AddTo(scaled, p, divisor) || !AddTo(scaled, dividend, coefficient) ||
          !AddTo(scaled, {{{}, below}}, -coefficient) ||
          __builtin_mul_overflow(scale, divisor, &scale)) {
        return std::nullopt;
      }
      p = std::move(scaled);
    }
    int64_t sum = 0;
    for (const auto& [monomial, coefficient] : p) {
      int64_t bound = coefficient;
      for (const std::string& atom : monomial) {
        const VarDecl* var = module.FindVar(std::string_view(atom).substr(1));
        if (atom[0] != '@' || !var || var->min < 0) return std::nullopt;
        if (__builtin_mul_overflow(bound, coefficient > 0 ? var->max : var->min, &bound)) {
          return std::nullopt;
        }
      }
      if (__builtin_add_overflow(sum, bound, &sum)) return std::nullopt;
    }
    return FloorDiv(sum, scale);
  }

 private:
  std::optional<Polynomial> Apply(Op op, const Polynomial& a, const Polynomial& b) {
    Polynomial result;
    switch (op) {
      case Op::kAdd:
      case Op::kSub:
        result = a;
        if (!AddTo(result, b, op == Op::kAdd ? 1 : -1)) return std::nullopt;
        return result;
      case Op::kMul:
        for (const auto& [left, x] : a) {
          Polynomial row;
          for (const auto& [right, y] : b) {
            Monomial both = left;
            both.insert(both.end(), right.begin(), right.end());
            std::sort(both.begin(), both.end());
            row[std::move(both)] = y;
          }
          if (!AddTo(result, row, x)) return std::nullopt;
        }
        return result;
      case Op::kFloorDiv:
        if (b.size() == 1 && b.begin()->first.empty() && b.begin()->second > 0) {
          return Quotient(a, b.begin()->second);
        }
        [[fallthrough]];
      default:
        return Atom(absl::StrCat(std::string(Mnemonic(op)), "(", Text(a), ",", Text(b), ")"));
    }
  }

  // floor((d * q + r) / d) = q + floor(r / d).
  std::optional<Polynomial> Quotient(const Polynomial& a, int64_t d) {
    Polynomial whole, rest;
    for (const auto& [monomial, coefficient] : a) {
      // The constant is split so that its rest is in 0..d-1. Other terms are split off only as a
      // whole, if d divides the coefficient.
      const bool splits = monomial.empty() || coefficient % d == 0;
      const int64_t q = splits ? FloorDiv(coefficient, d) : 0;
      if (q) whole[monomial] = q;
      if (coefficient - q * d) rest[monomial] = coefficient - q * d;
    }
    if (rest.empty() || (rest.size() == 1 && rest.begin()->first.empty())) return whole;
    const std::string text = absl::StrCat("floordiv(", Text(rest), ",", d, ")");
    const std::optional<Polynomial> atom = Atom(text);
    if (!atom || !AddTo(whole, *atom, 1)) return std::nullopt;
    quotients_[text] = {std::move(rest), d};
    return whole;
  }

  static std::optional<Polynomial> Atom(std::string text) {
    if (text.size() > kMaxText) return std::nullopt;
    return Polynomial{{{std::move(text)}, 1}};
  }

  // A quotient that is a monomial of `p` by itself, if there is one.
  std::optional<std::string> FindQuotient(const Polynomial& p) const {
    for (const auto& [monomial, coefficient] : p) {
      if (monomial.size() == 1 && quotients_.count(monomial[0])) return monomial[0];
    }
    return std::nullopt;
  }

  std::map<std::string, std::pair<Polynomial, int64_t>> quotients_;  // dividend, divisor
};

}  // namespace

bool AreAlwaysEqual(const DimExpr& a, const DimExpr& b) {
  Normalizer forms;
  const std::optional<Polynomial> left = forms.Of(a), right = forms.Of(b);
  return left && right && *left == *right;
}

bool IsAlwaysAtMost(const Module& module, const DimExpr& a, const DimExpr& b) {
  Normalizer forms;
  std::optional<Polynomial> left = forms.Of(a);
  const std::optional<Polynomial> right = forms.Of(b);
  if (!left || !right || !AddTo(*left, *right, -1)) return false;
  const std::optional<int64_t> bound = forms.UpperBound(module, *std::move(left));
  return bound && *bound <= 0;
}

}  // namespace tg::analysis
