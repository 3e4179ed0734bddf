#include "tools/fuzz/rule_templates.h"

#include <algorithm>

#include "base/check.h"

namespace tg::fuzz {
namespace {

using testing::ExprTemplate;

// Converts a pattern to a template of the same depth.
ExprTemplate Convert(const rewrite::PatternTree& tree) {
  ExprTemplate t;
  t.value = tree.value;
  switch (tree.kind) {
    case rewrite::PatternTree::Kind::kVar:
      t.kind = ExprTemplate::Kind::kVar;
      return t;
    case rewrite::PatternTree::Kind::kGate:
      t.kind = ExprTemplate::Kind::kGate;
      return t;
    case rewrite::PatternTree::Kind::kConstant:
      t.kind = ExprTemplate::Kind::kConstant;
      return t;
    case rewrite::PatternTree::Kind::kLiteral:
      t.kind = ExprTemplate::Kind::kLiteral;
      return t;
    case rewrite::PatternTree::Kind::kFloatLiteral:
      t.kind = ExprTemplate::Kind::kLiteral;
      t.real = tree.real;
      t.is_real = true;
      return t;
    case rewrite::PatternTree::Kind::kAlu:
      t.kind = ExprTemplate::Kind::kOp;
      t.op = tree.op;
      t.bool_operands = tree.operand == rewrite::pattern::Type::kBool;
      for (const rewrite::PatternTree& kid : tree.kids) t.kids.push_back(Convert(kid));
      return t;
    case rewrite::PatternTree::Kind::kOrElse:  // in guards
      t.kind = ExprTemplate::Kind::kOp;
      t.op = Op::kOr;
      for (const rewrite::PatternTree& kid : tree.kids) t.kids.push_back(Convert(kid));
      return t;
    default:
      TG_UNREACHABLE();
  }
}

bool Mentions(const rewrite::PatternTree& tree, rewrite::PatternTree::Kind kind) {
  return tree.kind == kind ||
         std::any_of(tree.kids.begin(), tree.kids.end(),
                     [&](const rewrite::PatternTree& k) { return Mentions(k, kind); });
}

// Adds a guard's conditions on constants, variables and flags.
void AddGuard(const rewrite::PatternTree& guard, testing::RootTemplate& out) {
  switch (guard.kind) {
    case rewrite::PatternTree::Kind::kAndAlso:
      for (const rewrite::PatternTree& kid : guard.kids) AddGuard(kid, out);
      return;
    case rewrite::PatternTree::Kind::kFlag:
      out.flags.Add(static_cast<ModuleFlag>(guard.value));
      return;
    case rewrite::PatternTree::Kind::kAlways:
    case rewrite::PatternTree::Kind::kWide:
    case rewrite::PatternTree::Kind::kPowerOfTwo:
    case rewrite::PatternTree::Kind::kNotConstant:
      return;
    case rewrite::PatternTree::Kind::kOrElse:
      // One of the flags suffices.
      if (Mentions(guard, rewrite::PatternTree::Kind::kFlag)) return AddGuard(guard.kids[0], out);
      [[fallthrough]];
    default:
      if (Mentions(guard, rewrite::PatternTree::Kind::kVar)) {
        out.bounded = true;
      } else if (guard.kind != rewrite::PatternTree::Kind::kNoWrap) {
        out.wishes.push_back(Convert(guard));
      }
  }
}

std::string_view Classes(rewrite::Domain d) {
  using namespace rewrite::pattern;  // NOLINT: the domains' letters
  static constexpr std::string_view kNames[] = {"",  "s",  "u",  "su",  "b",  "sb",  "ub",  "sub",
                                                "f", "sf", "uf", "suf", "bf", "sbf", "ubf", "subf"};
  static constexpr std::string_view kWithIndex[] = {"x",   "xs",   "xu",   "xsu",  "xb",  "xsb",
                                                    "xub", "xsub", "xf",   "xsf",  "xuf", "xsuf",
                                                    "xbf", "xsbf", "xubf", "xsubf"};
  const int i = (d & S ? 1 : 0) + (d & U ? 2 : 0) + (d & B ? 4 : 0) + (d & F ? 8 : 0);
  return d & Z ? kWithIndex[i] : kNames[i];
}

}  // namespace

std::vector<testing::RootTemplate> RuleTemplates(const rewrite::RuleSet& rules) {
  std::vector<testing::RootTemplate> out;
  for (uint32_t i = 0; i < rules.num_rules(); ++i) {
    const rewrite::RuleInfo info = rules.Describe(i);
    if (info.is_custom) continue;
    out.push_back({Convert(info.lhs), Classes(info.domain)});
    AddGuard(info.guard, out.back());
  }
  return out;
}

}  // namespace tg::fuzz
