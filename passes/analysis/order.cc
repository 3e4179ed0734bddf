#include "passes/analysis/order.h"

#include <algorithm>

#include "ir/attr.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {
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

}  // namespace

StructuralOrder::Key StructuralOrder::FromSources(const UOp* u) const {
  Key key;
  uint64_t h = Mix(static_cast<uint64_t>(u->op) + 0x2545f491, u->dtype.Hash());
  const OpInfo& info = GetOpInfo(u->op);
  ForEachField(info, u->words(), [&](const AttrField& field, auto words) {
    // A StringId depends on the Context; its text does not.
    const bool text = field.kind == FieldKind::kStr || field.kind == FieldKind::kSym;
    const bool texts = field.kind == FieldKind::kTargets;
    if (field.optional && info.inline_attr() && words[0] == 0) return;  // it is not there
    for (size_t i = 0; i < words.size(); ++i) {
      const bool is_id = text || (texts && i > 0);
      h = Mix(h, is_id ? HashText(ctx_.String(static_cast<StringId>(words[i])))
                       : static_cast<uint64_t>(words[i]));
    }
  });
  for (const UOp* s : u->srcs()) {
    const Key& source = keys_[s->id];
    h = Mix(h, source.hash);
    key.rank = std::max(key.rank, source.rank);
  }
  switch (u->op) {
    case Op::kVar:
      key.rank = kVarRank;
      break;
    case Op::kSpecial:
      key.rank = std::max(key.rank, kSpecialRank + u->word());
      break;
    case Op::kUnroll:
      key.rank = kUnrollRank + std::clamp<int64_t>(u->word(), 0, kRangeRank - kUnrollRank - 1);
      break;
    case Op::kRange:
      key.rank = std::max(key.rank, kRangeRank + u->word());
      break;
    case Op::kLoad:
    case Op::kBuffer:
    case Op::kDefineGlobal:
    case Op::kScratch:
      key.rank = std::max(key.rank, kMemoryRank);
      break;
    default:
      break;
  }
  key.hash = h ? h : 1;
  return key;
}

StructuralOrder::Key StructuralOrder::Compute(const UOp* root) {
  const auto done = [&](const UOp* u) { return u->id < keys_.size() && keys_[u->id].hash; };
  llvm::SmallVector<const UOp*, 32> stack = {root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    if (done(u)) {
      stack.pop_back();
      continue;
    }
    const size_t pending = stack.size();
    for (const UOp* s : u->srcs()) {
      if (!done(s)) stack.push_back(s);
    }
    if (stack.size() != pending) continue;
    if (u->id >= keys_.size()) keys_.resize(std::max<size_t>(u->id + 1 + keys_.size(), 64));
    keys_[u->id] = FromSources(u);
  }
  return keys_[root->id];
}

}  // namespace tg
