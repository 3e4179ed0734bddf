#include "passes/analysis/structural_key.h"

#include <span>

#include "ir/attr.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::analysis {
namespace {

// Appends the starts of a shrink or pad to `starts`, and replaces them in `words`, its attribute,
// by 0: the words then hold the extents of a shrink, or the total padding of a pad, by axis.
void TakeStarts(Op op, std::span<uint64_t> words, std::vector<int64_t>& starts) {
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    const auto first = static_cast<int64_t>(words[i]);
    starts.push_back(op == Op::kShrink ? first : -first);
    words[i + 1] = op == Op::kShrink ? words[i + 1] - words[i] : words[i + 1] + words[i];
    words[i] = 0;
  }
}

}  // namespace

std::string StructuralKey(const Body& body, UOpSpan order, std::vector<int64_t>* starts) {
  std::string key;
  NodeMap<uint32_t> number;
  uint32_t next = 0;
  llvm::SmallVector<uint64_t, 256> words;  // the end of the key, which is not appended to `key` yet
  const auto flush = [&] {
    key.append(reinterpret_cast<const char*>(words.data()), sizeof(uint64_t) * words.size());
    words.clear();
  };
  for (const UOp* u : order) {
    number[u] = next++;
    const DType t = u->dtype;
    words.push_back(static_cast<uint64_t>(u->op));
    words.push_back(static_cast<uint64_t>(t.scalar()) | static_cast<uint64_t>(t.kind()) << 8 |
                    static_cast<uint64_t>(t.space()) << 16 |
                    static_cast<uint64_t>(t.lanes()) << 24);
    words.push_back(static_cast<uint64_t>(t.is_image() ? t.height() << 32 | t.width() : t.size()));
    const std::span<const int64_t> own = u->words();
    words.push_back(own.size());
    words.append(own.begin(), own.end());
    if (starts && HasStarts(u)) TakeStarts(u->op, {words.end() - own.size(), own.size()}, *starts);
    // Strings are encoded by their text, since their ids depend on what else the context holds.
    if (HasStrings(u->op)) {
      std::string text;
      ForEachStringWord(GetOpInfo(u->op), std::span(words.end() - own.size(), own.size()),
                        [&](uint64_t& w) {
                          text += body.context->String(static_cast<StringId>(w));
                          text += '\0';
                          w = 0;
                        });
      flush();
      key += text;
    }
    words.push_back(u->num_srcs);
    for (const UOp* s : u->srcs()) words.push_back(number.Get(s));
  }
  flush();
  return key;
}

}  // namespace tg::analysis
