#include "tools/fuzz/rule_templates.h"

#include <algorithm>

#include "ir/check.h"

namespace tg::fuzz {
namespace {

using testing::ExprTemplate;

// Converts a pattern to a template of the same depth.
ExprTemplate Convert(const PatternTree& tree) {
  ExprTemplate t;
  t.value = tree.value;
  switch (tree.kind) {
    case PatternTree::Kind::kVar:
      t.kind = ExprTemplate::Kind::kVar;
      return t;
    case PatternTree::Kind::kGate:
      t.kind = ExprTemplate::Kind::kGate;
      return t;
    case PatternTree::Kind::kConstant:
      t.kind = ExprTemplate::Kind::kConstant;
      return t;
    case PatternTree::Kind::kLiteral:
      t.kind = ExprTemplate::Kind::kLiteral;
      return t;
    case PatternTree::Kind::kFloatLiteral:
      t.kind = ExprTemplate::Kind::kLiteral;
      t.real = tree.real;
      t.is_real = true;
      return t;
    case PatternTree::Kind::kAlu:
      t.kind = ExprTemplate::Kind::kOp;
      t.op = tree.op;
      t.bool_operands = tree.operand == pattern::Type::kBool;
      for (const PatternTree& kid : tree.kids) t.kids.push_back(Convert(kid));
      return t;
    case PatternTree::Kind::kOrElse:  // in guards
      t.kind = ExprTemplate::Kind::kOp;
      t.op = Op::kOr;
      for (const PatternTree& kid : tree.kids) t.kids.push_back(Convert(kid));
      return t;
    default:
      TG_UNREACHABLE();
  }
}

bool Mentions(const PatternTree& tree, PatternTree::Kind kind) {
  return tree.kind == kind || std::any_of(tree.kids.begin(), tree.kids.end(),
                                          [&](const PatternTree& k) { return Mentions(k, kind); });
}

// Adds a guard's conditions on constants, variables and flags.
void AddGuard(const PatternTree& guard, testing::RootTemplate& out) {
  switch (guard.kind) {
    case PatternTree::Kind::kAndAlso:
      for (const PatternTree& kid : guard.kids) AddGuard(kid, out);
      return;
    case PatternTree::Kind::kFlag:
      out.flags.Add(static_cast<ModuleFlag>(guard.value));
      return;
    case PatternTree::Kind::kAlways:
    case PatternTree::Kind::kWide:
    case PatternTree::Kind::kPowerOfTwo:
    case PatternTree::Kind::kNotConstant:
      return;
    case PatternTree::Kind::kOrElse:
      // One of the flags suffices.
      if (Mentions(guard, PatternTree::Kind::kFlag)) return AddGuard(guard.kids[0], out);
      [[fallthrough]];
    default:
      if (Mentions(guard, PatternTree::Kind::kVar)) {
        out.bounded = true;
      } else if (guard.kind != PatternTree::Kind::kNoWrap) {
        out.wishes.push_back(Convert(guard));
      }
  }
}

std::string_view Classes(Domain d) {
  using namespace pattern;  // NOLINT: the domains' letters
  static constexpr std::string_view kNames[] = {"",  "s",  "u",  "su",  "b",  "sb",  "ub",  "sub",
                                                "f", "sf", "uf", "suf", "bf", "sbf", "ubf", "subf"};
  static constexpr std::string_view kWithIndex[] = {"x",   "xs",   "xu",   "xsu",  "xb",  "xsb",
                                                    "xub", "xsub", "xf",   "xsf",  "xuf", "xsuf",
                                                    "xbf", "xsbf", "xubf", "xsubf"};
  const int i = (d & S ? 1 : 0) + (d & U ? 2 : 0) + (d & B ? 4 : 0) + (d & F ? 8 : 0);
  return d & Z ? kWithIndex[i] : kNames[i];
}

}  // namespace

std::vector<testing::RootTemplate> RuleTemplates(const RuleSet& rules) {
  std::vector<testing::RootTemplate> out;
  for (uint32_t i = 0; i < rules.num_rules(); ++i) {
    const RuleInfo info = rules.Describe(i);
    if (info.is_custom) continue;
    out.push_back({Convert(info.lhs), Classes(info.domain)});
    AddGuard(info.guard, out.back());
  }
  return out;
}

}  // namespace tg::fuzz
