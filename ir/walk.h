// Visiting a graph. Nothing here recurses: a chain of a million nodes is ordinary.
#ifndef TG_IR_WALK_H_
#define TG_IR_WALK_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/uop.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {

// A set of nodes of one Context, by id.
class NodeSet {
 public:
  // True if `u` was not in the set.
  bool Insert(const UOp* u) {
    const size_t word = u->id >> 6;
    if (word >= bits_.size()) bits_.resize(word + 1 + word / 2);
    const uint64_t bit = 1ull << (u->id & 63);
    if (bits_[word] & bit) return false;
    bits_[word] |= bit;
    return true;
  }
  // Makes room for the nodes up to `u`.
  void Reserve(const UOp* u) {
    if (const size_t words = (u->id >> 6) + 1; bits_.size() < words) bits_.resize(words);
  }
  // Insert where there is room.
  bool InsertReserved(const UOp* u) {
    uint64_t& word = bits_[u->id >> 6];
    const uint64_t bit = 1ull << (u->id & 63);
    if (word & bit) return false;
    word |= bit;
    return true;
  }
  bool Contains(const UOp* u) const {
    const size_t word = u->id >> 6;
    return word < bits_.size() && (bits_[word] >> (u->id & 63) & 1);
  }

 private:
  std::vector<uint64_t> bits_;
};

// A map from the nodes of one Context to T, by id. T() means "absent" to whoever reads.
template <typename T>
class NodeMap {
 public:
  T& operator[](const UOp* u) {
    if (u->id >= rows_.size()) rows_.resize(std::max<size_t>(u->id + 1 + rows_.size(), 64));
    return rows_[u->id];
  }
  const T& Get(const UOp* u) const {
    static const T kAbsent{};
    return u->id < rows_.size() ? rows_[u->id] : kAbsent;
  }
  void Reserve(size_t n) {
    if (rows_.size() < n) rows_.resize(n);
  }

 private:
  std::vector<T> rows_;
};

// The same where T is large and few nodes have one. References stay good.
template <typename T>
class SparseNodeMap {
 public:
  T& operator[](const UOp* u) {
    uint32_t& at = at_[u];
    if (at == 0) {
      rows_.emplace_back();
      at = static_cast<uint32_t>(rows_.size());
    }
    return rows_[at - 1];
  }
  const T& Get(const UOp* u) const {
    static const T kAbsent{};
    const uint32_t at = at_.Get(u);
    return at == 0 ? kAbsent : rows_[at - 1];
  }

 private:
  NodeMap<uint32_t> at_;  // 1 + the place in rows_
  std::deque<T> rows_;
};

// Appends to `out` what the roots reach and `seen` does not hold, sources before users: the
// post-order of a depth-first walk that takes sources from the left. This is the order in which
// bodies print.
inline void AppendPostOrder(UOpSpan roots, NodeSet& seen, std::vector<const UOp*>& out) {
  llvm::SmallVector<std::pair<const UOp*, uint32_t>, 64> stack;
  for (const UOp* root : roots) {
    if (out.capacity() == 0) out.reserve(root->id + 1);  // it reaches no more
    seen.Reserve(root);                                  // ids of sources are smaller
    if (!seen.InsertReserved(root)) continue;
    const UOp* u = root;
    uint32_t next = 0;
    while (true) {
      if (next < u->num_srcs) {
        const UOp* s = u->src(next++);
        if (!seen.InsertReserved(s)) continue;
        if (s->num_srcs == 0) {
          out.push_back(s);
          continue;
        }
        stack.emplace_back(u, next);
        u = s;
        next = 0;
        continue;
      }
      out.push_back(u);
      if (stack.empty()) break;
      std::tie(u, next) = stack.pop_back_val();
    }
  }
}

inline std::vector<const UOp*> PostOrder(const UOp* root) {
  NodeSet seen;
  std::vector<const UOp*> out;
  AppendPostOrder(UOpSpan(&root, 1), seen, out);
  return out;
}

}  // namespace tg

#endif  // TG_IR_WALK_H_
