#include "passes/analysis/order.h"

#include <algorithm>

#include "ir/attr.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::analysis {
namespace {

uint64_t Mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9fb21c651e98df25ull;
  return h ^ (h >> 32);
}

uint64_t HashText(std::string_view s) {
  uint64_t h = s.size();
  for (char c : s) h = Mix(h, static_cast<unsigned char>(c));
  return h;
}

// Computes the entries of `root` and of all nodes below it, sources first, by from_sources(u),
// which is never 0, and returns the root's. An entry of 0 is not computed yet.
template <typename T, typename F>
T Fill(NodeMap<T>& table, const UOp* root, F&& from_sources) {
  llvm::SmallVector<const UOp*, 32> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    const size_t pending = stack.size();
    for (const UOp* s : u->srcs()) {
      if (table.Get(s) == 0) stack.push_back(s);
    }
    if (stack.size() != pending) continue;
    stack.pop_back();
    if (table.Get(u) == 0) table[u] = from_sources(u);
  }
  return table.Get(root);
}

}  // namespace

uint64_t StructuralOrder::HashFromSources(const UOp* u) const {
  uint64_t h = Mix(static_cast<uint64_t>(u->op) + 0x2545f491, u->dtype.Hash());
  const OpInfo& info = GetOpInfo(u->op);
  ForEachField(info, u->words(), [&](const AttrField& field, auto words) {
    // A StringId depends on the Context; its text does not.
    const bool text = field.kind == FieldKind::kStr || field.kind == FieldKind::kSym;
    const bool texts = field.kind == FieldKind::kTargets;
    if (field.optional && info.inline_attr() && words[0] == 0) return;  // the field is absent
    for (size_t i = 0; i < words.size(); ++i) {
      const bool is_id = text || (texts && i > 0);
      h = Mix(h, is_id ? HashText(ctx_.String(static_cast<StringId>(words[i])))
                       : static_cast<uint64_t>(words[i]));
    }
  });
  for (const UOp* s : u->srcs()) h = Mix(h, hashes_.Get(s));
  return h ? h : 1;
}

int64_t StructuralOrder::RankFromSources(const UOp* u) const {
  int64_t rank = 0;
  for (const UOp* s : u->srcs()) rank = std::max(rank, ranks_.Get(s) - 1);
  switch (u->op) {
    case Op::kVar:
      return kVarRank;
    case Op::kSpecial:
      return std::max(rank, kSpecialRank + u->word());
    case Op::kUnroll:
      return kUnrollRank + std::clamp<int64_t>(u->word(), 0, kRangeRank - kUnrollRank - 1);
    case Op::kRange:
      return std::max(rank, kRangeRank + u->word());
    case Op::kLoad:
    case Op::kBuffer:
    case Op::kDefineGlobal:
    case Op::kScratch:
      return std::max(rank, kMemoryRank);
    default:
      return rank;
  }
}

int64_t StructuralOrder::ComputeRank(const UOp* root) {
  return Fill(ranks_, root, [&](const UOp* u) { return 1 + RankFromSources(u); });
}

uint64_t StructuralOrder::ComputeHash(const UOp* root) {
  return Fill(hashes_, root, [&](const UOp* u) { return HashFromSources(u); });
}

}  // namespace tg::analysis
