#include "tools/fuzz/coverage.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir/walk.h"
#include "passes/simplify/simplify.h"

namespace tg::fuzz {
namespace {

std::string ScalarText(Scalar s) { return std::string(GetScalarInfo(s).text); }

// Hits by rule that no Coverage object has counted yet.
std::vector<uint64_t> rule_hits;

// The scalar types that an elementwise op accepts according to the op table.
std::vector<Scalar> ScalarsFor(Op op) {
  std::vector<Scalar> out;
  for (int i = 1; i < kNumScalars; ++i) {
    const auto s = static_cast<Scalar>(i);
    const char cls = s == Scalar::kBool ? 'b' : s == Scalar::kIndex ? 'x' : IsInt(s) ? 'i' : 'f';
    if (op == Op::kDot4 && s != Scalar::kI32) continue;
    if (op == Op::kThreefry ? s == Scalar::kU64 : GetOpInfo(op).AllowsClass(cls)) out.push_back(s);
  }
  return out;
}

// Ops whose types are counted: computed values, by the type of the last operand.
bool IsCounted(Op op) { return IsElementwise(op) && !GetOpInfo(op).classes.empty(); }

// Whether the node is neither a leaf nor the root.
bool IsWork(const UOp* u) { return !u->srcs().empty() && u->op != Op::kSink; }

constexpr Op kMovements[] = {Op::kReshape, Op::kExpand, Op::kPermute, Op::kFlip,
                             Op::kPad,     Op::kShrink, Op::kView,    Op::kBroadcast};

std::string Key(Op op, Scalar s) {
  return absl::StrCat("op ", std::string(Mnemonic(op)), " ", ScalarText(s));
}
std::string PairKey(Op below, Op above) {
  return absl::StrCat("pair ", std::string(Mnemonic(below)), " ", std::string(Mnemonic(above)));
}

std::string RuleKey(uint32_t rule) {
  const rewrite::RuleInfo info = simplify::SimplifyRules().Describe(rule);
  return absl::StrCat("rule ", info.Location(), " ", info.name);
}

}  // namespace

void Coverage::AddGraph(const Module& module) {
  const std::vector<const UOp*> order = PostOrder(module.graphs[0]->body.root);
  sizes_.push_back(static_cast<uint32_t>(std::count_if(order.begin(), order.end(), IsWork)));
  for (const UOp* u : order) {
    const Scalar s = u->srcs().empty() ? u->dtype.scalar() : u->srcs().back()->dtype.scalar();
    if (IsCounted(u->op)) {
      Count(Key(u->op, s));
    } else if (u->op == Op::kCast || u->op == Op::kBitcast) {
      Count(absl::StrCat(std::string(Mnemonic(u->op)), " ", ScalarText(s), " ",
                         ScalarText(u->dtype.scalar())));
    } else if (u->op == Op::kReduceAxis) {
      Count(absl::StrCat("reduce ", std::string(Mnemonic(static_cast<Op>(u->word()))), " ",
                         ScalarText(s)));
    } else if (IsMovement(u->op)) {
      if (IsMovement(u->src(0)->op)) Count(PairKey(u->src(0)->op, u->op));
    } else {
      Count(absl::StrCat("other ", std::string(Mnemonic(u->op))));
    }
  }
}

void Coverage::AddKernels(const Module& module) {
  for (const auto& k : module.kernels) {
    Count("kernels");
    for (const Directive& directive : k->directives) Count("directive " + directive.name);
  }
}

void Coverage::AddExpected(const interpret::HostBuffers& results) {
  for (const auto& [name, b] : results) {
    for (size_t i = 0; i < b.data.size(); ++i) {
      const double error = b.error.empty() ? 0 : b.error[i];
      Count(error == 0          ? "compared exactly"
            : std::isinf(error) ? "compared not at all"
                                : "compared within a bound");
    }
  }
}

void Coverage::WatchRules() {
  rule_hits.assign(simplify::SimplifyRules().num_rules(), 0);
  rewrite::SetHitSink([](const rewrite::RuleSet& rules, const std::vector<uint64_t>& hits) {
    // The algebra's rules are a prefix of the simplification rules.
    if (&rules != &simplify::SimplifyRules() && &rules != &simplify::AlgebraRules()) return;
    for (size_t i = 0; i < hits.size(); ++i) rule_hits[i] += hits[i];
  });
}

void Coverage::AddRuleHits() {
  for (uint32_t i = 0; i < rule_hits.size(); ++i) {
    if (rule_hits[i]) counts_[RuleKey(i)] += std::exchange(rule_hits[i], 0);
  }
}

std::vector<std::string> Coverage::Missing() const {
  std::vector<std::string> missing;
  const auto want = [&](const std::string& key) {
    if (!counts_.count(key)) missing.push_back(key);
  };
  for (int i = 0; i < kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    if (!IsCounted(op)) continue;
    for (Scalar s : ScalarsFor(op)) want(Key(op, s));
  }
  for (uint32_t i = 0; i < simplify::SimplifyRules().num_rules(); ++i) want(RuleKey(i));
  return missing;
}

std::string Coverage::Table() const {
  const auto count = [&](const std::string& key) -> uint64_t {
    const auto it = counts_.find(key);
    return it == counts_.end() ? 0 : it->second;
  };
  std::string out;
  std::vector<uint32_t> sizes = sizes_;
  std::sort(sizes.begin(), sizes.end());
  if (!sizes.empty()) {
    absl::StrAppend(&out, "graphs: ", sizes.size(), "; ops without leaves: median ",
                    sizes[sizes.size() / 2], ", least ", sizes.front(), ", most ", sizes.back(),
                    "\n");
  }
  absl::StrAppend(&out, "\nelementwise ops by type (-: the op does not take it)\n",
                  absl::StrFormat("%-12s", ""));
  for (int i = 1; i < kNumScalars; ++i) {
    absl::StrAppendFormat(&out, "%8s", ScalarText(static_cast<Scalar>(i)));
  }
  out += "\n";
  for (int i = 0; i < kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    if (!IsCounted(op)) continue;
    absl::StrAppendFormat(&out, "%-12s", std::string(Mnemonic(op)));
    const std::vector<Scalar> takes = ScalarsFor(op);
    for (int k = 1; k < kNumScalars; ++k) {
      const auto s = static_cast<Scalar>(k);
      const bool has = std::find(takes.begin(), takes.end(), s) != takes.end();
      absl::StrAppendFormat(&out, "%8s", has ? std::to_string(count(Key(op, s))) : "-");
    }
    out += "\n";
  }
  for (const char* conversion : {"cast", "bitcast"}) {
    absl::StrAppend(&out, "\n", conversion, ", from (row) to (column)\n",
                    absl::StrFormat("%-12s", ""));
    for (int i = 1; i < kNumScalars; ++i) {
      absl::StrAppendFormat(&out, "%8s", ScalarText(static_cast<Scalar>(i)));
    }
    for (int i = 1; i < kNumScalars; ++i) {
      const std::string from = ScalarText(static_cast<Scalar>(i));
      absl::StrAppendFormat(&out, "\n%-12s", from);
      for (int k = 1; k < kNumScalars; ++k) {
        absl::StrAppendFormat(
            &out, "%8d",
            count(absl::StrCat(conversion, " ", from, " ", ScalarText(static_cast<Scalar>(k)))));
      }
    }
    out += "\n";
  }
  absl::StrAppend(&out, "\nmovement op (column) directly above another (row)\n",
                  absl::StrFormat("%-12s", ""));
  for (Op above : kMovements) absl::StrAppendFormat(&out, "%8s", std::string(Mnemonic(above)));
  for (Op below : kMovements) {
    absl::StrAppendFormat(&out, "\n%-12s", std::string(Mnemonic(below)));
    for (Op above : kMovements) absl::StrAppendFormat(&out, "%8d", count(PairKey(below, above)));
  }
  out += "\n\nrules of simplify by hits\n";
  for (uint32_t i = 0; i < simplify::SimplifyRules().num_rules(); ++i) {
    const std::string key = RuleKey(i);
    absl::StrAppendFormat(&out, "%10d  %s\n", count(key), key.substr(5));
  }
  absl::StrAppend(&out, "\neverything else\n");
  for (const auto& [key, n] : counts_) {
    const std::string first = key.substr(0, key.find(' '));
    if (first == "op" || first == "cast" || first == "bitcast" || first == "pair" ||
        first == "rule") {
      continue;
    }
    absl::StrAppendFormat(&out, "%10d  %s\n", n, key);
  }
  size_t pairs = 0, rules = simplify::SimplifyRules().num_rules();
  for (int i = 0; i < kNumOps; ++i) {
    if (IsCounted(static_cast<Op>(i))) pairs += ScalarsFor(static_cast<Op>(i)).size();
  }
  const std::vector<std::string> missing = Missing();
  const size_t missing_rules = static_cast<size_t>(std::count_if(
      missing.begin(), missing.end(), [](const std::string& m) { return m[0] == 'r'; }));
  absl::StrAppend(&out, "\nreached: ", pairs - (missing.size() - missing_rules), " of ", pairs,
                  " pairs of elementwise op and type, ", rules - missing_rules, " of ", rules,
                  " rules\n");
  for (const std::string& m : missing) absl::StrAppend(&out, "never: ", m, "\n");
  return out;
}

std::string Coverage::Save() const {
  std::string out;
  for (uint32_t n : sizes_) absl::StrAppend(&out, "size\t", n, "\n");
  for (const auto& [key, n] : counts_) absl::StrAppend(&out, key, "\t", n, "\n");
  return out;
}

void Coverage::Load(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    const uint64_t n = std::strtoull(line.c_str() + tab + 1, nullptr, 10);
    if (line.compare(0, tab, "size") == 0) {
      sizes_.push_back(static_cast<uint32_t>(n));
    } else {
      counts_[line.substr(0, tab)] += n;
    }
  }
}

}  // namespace tg::fuzz
