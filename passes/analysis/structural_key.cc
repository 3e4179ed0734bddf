#include "passes/analysis/structural_key.h"

#include "ir/attr.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {
namespace {

void AppendWord(std::string& key, uint64_t word) {
  key.append(reinterpret_cast<const char*>(&word), sizeof word);
}

}  // namespace

std::string StructuralKey(const Body& body) {
  std::string key;
  NodeMap<uint32_t> number;
  uint32_t next = 0;
  for (const UOp* u : body.Order()) {
    number[u] = next++;
    AppendWord(key, static_cast<uint64_t>(u->op));
    const DType t = u->dtype;
    AppendWord(key, static_cast<uint64_t>(t.scalar()) | static_cast<uint64_t>(t.kind()) << 8 |
                        static_cast<uint64_t>(t.space()) << 16 |
                        static_cast<uint64_t>(t.lanes()) << 24);
    AppendWord(key, static_cast<uint64_t>(t.is_image() ? t.height() << 32 | t.width() : t.size()));
    llvm::SmallVector<int64_t, 8> words(u->words().begin(), u->words().end());
    AppendWord(key, words.size());
    // Strings count by their text: ids depend on what else the context holds.
    std::string text;
    ForEachStringWord(GetOpInfo(u->op), words, [&](int64_t& w) {
      text += body.context->String(static_cast<StringId>(w));
      text += '\0';
      w = 0;
    });
    for (int64_t w : words) AppendWord(key, static_cast<uint64_t>(w));
    key += text;
    AppendWord(key, u->num_srcs);
    for (const UOp* s : u->srcs()) AppendWord(key, number[s]);
  }
  return key;
}

}  // namespace tg
