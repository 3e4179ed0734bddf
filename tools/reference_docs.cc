#include "tools/reference_docs.h"

#include <string_view>
#include <utility>

#include "frontend/tinygrad/types.h"
#include "ir/dtype.h"
#include "ir/module_flags.h"
#include "ir/op.h"
#include "ir/text/foreign_ops.h"
#include "ir/verify/verifier.h"

namespace tg::tools {
namespace {

constexpr std::string_view kGenerated =
    "<!-- Made by //tools:tg-docs from the tables in the code; //tools:reference_docs_test "
    "compares. "
    "-->\n";

// Escapes a cell of a table: '|' would end it, '<' may begin a tag.
std::string Cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

std::string Code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

// Splits names that are separated by blanks.
std::string Names(std::string_view names) {
  std::string out;
  while (!names.empty()) {
    const size_t end = names.find(' ');
    out += (out.empty() ? "" : ", ") + Code(names.substr(0, end));
    names = end == std::string_view::npos ? "" : names.substr(end + 1);
  }
  return out;
}

// Expands letters of a column to words: "ca" -> "commutative, associative".
std::string Words(std::string_view letters,
                  std::initializer_list<std::pair<char, std::string_view>> meaning) {
  std::string out;
  for (char letter : letters) {
    for (const auto& [c, word] : meaning) {
      if (c == letter) out += (out.empty() ? "" : ", ") + std::string(word);
    }
  }
  return out;
}

std::string StagesOf(const OpInfo& info) {
  std::string out;
  for (int i = 0; i < kNumStages; ++i) {
    const auto s = static_cast<Stage>(i);
    if (info.LegalIn(s)) out += (out.empty() ? "" : " ") + std::string(StageName(s));
  }
  return info.stages == "TKLXN" ? "all" : out;
}

}  // namespace

std::string OpsPage() {
  std::string out =
      "# Ops\n\n" + std::string(kGenerated) +
      "\nWhat the columns say is explained at the top of `ir/ops.def`, the format of the text in "
      "`docs/ir.md`.\n\n"
      "| op | group | operands | fields | type | classes | stages | weight | properties | meaning "
      "|\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (int i = 0; i < kNumOps; ++i) {
    const OpInfo& info = GetOpInfo(static_cast<Op>(i));
    const bool weighs = info.group == OpGroup::kArithmetic;
    out += "| " + Code(info.mnemonic) + " | " + std::string(GroupName(info.group)) + " | " +
           std::string(info.sources) + " | " + Code(info.attributes) + " | " +
           std::string(info.type_rule_text) + " | " +
           Words(info.classes, {{'b', "bool"}, {'i', "integer"}, {'x', "index"}, {'f', "float"}}) +
           " | " + StagesOf(info) + " | " + (weighs ? std::to_string(info.weight) : "") + " | " +
           Words(info.flags, {{'c', "commutative"},
                              {'a', "associative"},
                              {'z', "zero to zero"},
                              {'l', "varies"},
                              {'t', "effect"},
                              {'w', "writes"},
                              {'r', "reads"}}) +
           " | " + Cell(info.doc) + " |\n";
  }
  out +=
      "\n## What others call them\n\nA function of x, or of a, b and c, and how it is written:\n\n"
      "| function | with the ops above |\n| --- | --- |\n";
  for (const ForeignFunction& f : ForeignFunctions()) {
    out += "| " + Names(f.names) + " | " + Code(f.formula) + " |\n";
  }
  out += "\n| other ops | here |\n| --- | --- |\n";
  for (const ForeignOp& op : ForeignOps()) {
    out += "| " + Names(op.names) + " | " + Cell(op.ours) + " |\n";
  }
  out += "\n## Module flags\n\n| flag | meaning |\n| --- | --- |\n";
  for (const ModuleFlagInfo& f : kModuleFlags) {
    out += "| " + Code(f.text) + " | " + std::string(f.doc) + " |\n";
  }
  out +=
      "\n## Scalar types\n\n| type | bits in memory | class | tinygrad |\n| --- | --- | --- | --- "
      "|\n";
  constexpr std::string_view kClasses[] = {"no value",         "bool",  "signed integer",
                                           "unsigned integer", "float", "index"};
  for (int i = 0; i < kNumScalars; ++i) {
    const ScalarInfo& info = GetScalarInfo(static_cast<Scalar>(i));
    const bool index = info.cls == ScalarClass::kIndex;
    out += "| " + Code(info.text) + " | " +
           (index || info.bits == 0 ? "none" : std::to_string(info.bits)) + " | " +
           std::string(kClasses[static_cast<size_t>(info.cls)]) + " | ";
    std::string foreign;
    for (auto [scalar, names] : tinygrad::kTypeNames) {
      while (scalar == static_cast<Scalar>(i) && !names.empty()) {
        const size_t bar = names.find('|');
        foreign += (foreign.empty() ? "" : ", ") + Code(names.substr(0, bar));
        names.remove_prefix(bar == std::string_view::npos ? names.size() : bar + 1);
      }
    }
    out += foreign + " |\n";
  }
  return out;
}

std::string VerifierPage() {
  std::string out =
      "# What the verifier checks\n\n" + std::string(kGenerated) +
      "\nA message begins with its rule: `softmax.uop:9:8: error: [V203] add: sources have types "
      "f32 and i32`.\nPrograms that break each rule are in `ir/text/errors`.\n";
  constexpr std::string_view kParts[] = {"Structure",         "Types",   "Shapes",
                                         "Module and graphs", "Kernels", "Linear form"};
  int part = 0;
  for (const VerifierRule& rule : VerifierRules()) {
    if (rule.number / 100 != part) {
      part = rule.number / 100;
      out += "\n## " + std::string(kParts[part - 1]) +
             "\n\n| rule | name | what holds |\n| --- | --- | --- |\n";
    }
    out += "| V" + std::to_string(rule.number) + " | " + std::string(rule.name) + " | " +
           Cell(rule.what) + " |\n";
  }
  return out;
}

}  // namespace tg::tools
