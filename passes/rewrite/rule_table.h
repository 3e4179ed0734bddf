// RuleTable: a list of rules, compiled to one function per op. The function tries the rules of its
// op in the order of the list, all inlined, so that a list costs one indirect call per node.
// RuleSet: several lists, tried in order.
//
//   inline constexpr auto kAddMul = rules(rule(...), ...);                  // add_mul_rules.h
//   const RuleList& AddMulRules() { return RuleTable<kAddMul>::kList; }     // add_mul_rules.cc
//   const RuleSet set({&AddMulRules(), &DivModRules()});                    // a user
#ifndef TG_PASSES_REWRITE_RULE_TABLE_H_
#define TG_PASSES_REWRITE_RULE_TABLE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "passes/rewrite/build.h"
#include "passes/rewrite/rule_info.h"

namespace tg::rewrite {

// Returns the result of the first rule of a list that applies to `u`, and sets *rule to the rule's
// number in the list; null if none applies.
using RuleListFn = const UOp* (*)(const UOp* u, RuleContext& rc, uint32_t* rule);

struct RuleList {
  std::array<RuleListFn, kNumOps> by_op;  // null: no rule for the op
  std::span<const pattern::RuleData> rules;
};

// The rules that an engine runs, numbered consecutively through all lists.
class RuleSet {
 public:
  explicit RuleSet(std::initializer_list<const RuleList*> lists);

  const UOp* Apply(const UOp* u, RuleContext& rc, uint32_t* rule) const {
    for (const Entry& e : by_op_[static_cast<size_t>(u->op)]) {
      if (const UOp* v = e.fn(u, rc, rule)) {
        *rule += e.first_rule;
        return v;
      }
    }
    return nullptr;
  }
  uint32_t num_rules() const { return static_cast<uint32_t>(rules_.size()); }
  RuleInfo Describe(uint32_t rule) const { return tg::rewrite::Describe(*rules_[rule]); }

 private:
  struct Entry {
    RuleListFn fn;
    uint32_t first_rule;
  };
  std::array<std::vector<Entry>, kNumOps> by_op_;
  std::vector<const pattern::RuleData*> rules_;
};

namespace pattern {

// The domain of the operands of `u`, whose op is `kOp` (of a `where`, of the values it selects).
template <Op kOp>
Domain OperandDomain(const UOp* u) {
  constexpr uint32_t kAt = kOp == Op::kWhere ? 1 : 0;
  return u->num_srcs > kAt ? DomainOf(u->src(kAt)->dtype) : Domain{0};
}

// False if the domain, the module's flags or the ops already exclude a rule, as for most attempts.
// Inlined into the function of the op, where the compiler merges the checks that rules share.
template <typename R>
[[gnu::always_inline]] inline bool MayApply(const R& rule, const UOp* u, Domain operands,
                                            const RuleContext& rc) {
  using L = std::remove_cvref_t<decltype(rule.lhs)>;
  if constexpr (L::kOperand == Type::kDomain) {
    if (!(rule.domain & operands)) return false;
  }
  return !NeverHolds(rule.guard, rc.flags) && OpsOf<L>::Match(u);
}

template <typename R>
const UOp* ApplyPattern(const R& rule, const UOp* u, RuleContext& rc) {
  using L = std::remove_cvref_t<decltype(rule.lhs)>;
  for (uint32_t choices = 0;;) {
    Env e;
    e.domain = rule.domain;
    e.choices = choices;
    if (Match<L::kType>(rule.lhs, u, e) && Holds(rule.guard, e, rc) == Tri::kTrue) {
      return Build<L::kType>(rule.rhs, rc, e, u->dtype.lanes());
    }
    int turn = e.depth;
    while (turn > 0 && (choices >> (turn - 1) & 1)) --turn;
    if (turn == 0) return nullptr;
    choices = (choices & ((1u << (turn - 1)) - 1)) | 1u << (turn - 1);
  }
}

template <typename R>
const UOp* ApplyRule(const R& rule, const UOp* u, RuleContext& rc) {
  if constexpr (R::kIsCustom) {
    return rule.fn(u, rc);
  } else {
    using L = std::remove_cvref_t<decltype(rule.lhs)>;
    if (!MayApply(rule, u, OperandDomain<L::kOp>(u), rc)) return nullptr;
    return ApplyPattern(rule, u, rc);
  }
}

}  // namespace pattern

template <const auto& kRules>
class RuleTable {
  static constexpr size_t kSize = std::remove_cvref_t<decltype(kRules)>::kSize;
  template <size_t kRule>
  using TypeOf = std::remove_cvref_t<decltype(pattern::RuleAt<kRule>(kRules))>;

  // By op: the rules that have it at their root, in their order.
  struct Roots {
    std::array<uint16_t, kNumOps> count{};
    std::array<std::array<uint16_t, kSize>, kNumOps> rules{};
  };
  static constexpr Roots kRoots = []<size_t... I>(std::index_sequence<I...>) {
    Roots roots;
    const auto add = [&](size_t rule, auto has_root) {
      for (size_t op = 0; op < kNumOps; ++op) {
        if (!has_root(static_cast<Op>(op))) continue;
        roots.rules[op][roots.count[op]++] = static_cast<uint16_t>(rule);
      }
    };
    (add(I, &TypeOf<I>::HasRoot), ...);
    return roots;
  }
  (std::make_index_sequence<kSize>());

  template <size_t kRule>
  [[gnu::always_inline]] static const UOp* Try(const UOp* u, [[maybe_unused]] Domain operands,
                                               RuleContext& rc, uint32_t* number) {
    constexpr const auto& rule = pattern::RuleAt<kRule>(kRules);
    const UOp* v = nullptr;
    if constexpr (TypeOf<kRule>::kIsCustom) {
      v = rule.fn(u, rc);
    } else {
      if (!pattern::MayApply(rule, u, operands, rc)) return nullptr;
      v = pattern::ApplyPattern(rule, u, rc);
    }
    if (v == u) return nullptr;
    if (v) *number = kRule;
    return v;
  }
  template <Op kOp>
  static const UOp* ForOp(const UOp* u, RuleContext& rc, uint32_t* number) {
    const UOp* v = nullptr;
    const Domain operands = pattern::OperandDomain<kOp>(u);
    [&]<size_t... I>(std::index_sequence<I...>) {
      (void)((v = Try<kRoots.rules[static_cast<size_t>(kOp)][I]>(u, operands, rc, number)) || ...);
    }
    (std::make_index_sequence<kRoots.count[static_cast<size_t>(kOp)]>());
    return v;
  }
  template <Op kOp>
  static constexpr RuleListFn FnFor() {
    if constexpr (kRoots.count[static_cast<size_t>(kOp)] == 0) {
      return nullptr;
    } else {
      return &ForOp<kOp>;
    }
  }
  static constexpr auto kFns = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<RuleListFn, kNumOps>{FnFor<static_cast<Op>(I)>()...};
  }
  (std::make_index_sequence<kNumOps>());

  template <size_t kRule>
  static constexpr auto kRuleAt = pattern::RuleAt<kRule>(kRules);
  static constexpr auto kData = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<pattern::RuleData, kSize>{pattern::RuleDataOf<kRuleAt<I>>::Get()...};
  }
  (std::make_index_sequence<kSize>());

 public:
  static constexpr RuleList kList = {kFns, kData};
};

}  // namespace tg::rewrite

#endif  // TG_PASSES_REWRITE_RULE_TABLE_H_
