#include "tools/fuzz/rule_templates.h"

#include "ir/check.h"

namespace tg::fuzz {
namespace {

using testing::ExprTemplate;

// As deep as a rule is written.
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
    default:
      TG_UNREACHABLE();  // of guards only
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
    if (!info.is_custom) out.push_back({Convert(info.lhs), Classes(info.domain)});
  }
  return out;
}

}  // namespace tg::fuzz
