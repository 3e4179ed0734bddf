// Merges neighbouring symbols of a word, the best pair first, until no pair can be merged.
// Byte-pair and SentencePiece vocabularies both work in this way. n symbols take O(n log n) steps.
#ifndef TG_FRONTEND_TOKENIZER_MERGE_SYMBOLS_H_
#define TG_FRONTEND_TOKENIZER_MERGE_SYMBOLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace tg::tokenizer {

// A list in a vector. A symbol that was joined to its left neighbour has size 0 and is in no list.
struct Symbol {
  size_t begin = 0;  // in the word
  size_t size = 0;
  int32_t id = -1;  // what the vocabulary calls it; -1: not in it
  int32_t previous = -1;
  int32_t next = -1;
};

// What two neighbours become.
template <class Rank>
struct Joined {
  Rank rank;  // the least is joined first; of equal ones the leftmost
  int32_t id;
};

// `join(left, right)` returns optional<Joined<Rank>>. On return, symbols[0] and its successors by
// `next` are the remaining symbols.
template <class Rank, class Join>
void MergeSymbols(std::vector<Symbol>& symbols, const Join& join) {
  struct Pair {
    Rank rank;
    int32_t left;
    int32_t right;
    int32_t id;
    size_t size;  // of both: another size means that one of them has changed since
    bool operator<(const Pair& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  std::vector<Pair> storage;
  storage.reserve(symbols.size());
  std::priority_queue<Pair> pairs(std::less<Pair>(), std::move(storage));
  const auto add = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const Symbol& a = symbols[left];
    const Symbol& b = symbols[right];
    if (const std::optional<Joined<Rank>> joined = join(a, b)) {
      pairs.push({joined->rank, left, right, joined->id, a.size + b.size});
    }
  };
  for (size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].previous = static_cast<int32_t>(i) - 1;
    symbols[i].next = i + 1 < symbols.size() ? static_cast<int32_t>(i) + 1 : -1;
    if (i > 0) add(static_cast<int32_t>(i) - 1, static_cast<int32_t>(i));
  }
  while (!pairs.empty()) {
    const Pair pair = pairs.top();
    pairs.pop();
    Symbol& left = symbols[pair.left];
    Symbol& right = symbols[pair.right];
    if (left.size == 0 || right.size == 0 || left.size + right.size != pair.size) continue;
    left.size += right.size;
    left.id = pair.id;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0) symbols[left.next].previous = pair.left;
    add(left.previous, pair.left);
    add(pair.left, left.next);
  }
}

}  // namespace tg::tokenizer

#endif  // TG_FRONTEND_TOKENIZER_MERGE_SYMBOLS_H_
