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

// A set of nodes of one Context, by id. One byte per node: in a bit set, each insertion would wait
// for the store of a neighbouring one.
class NodeSet {
 public:
  // True if `u` was not in the set.
  bool Insert(const UOp* u) {
    if (u->id >= in_.size()) in_.resize(u->id + 1 + u->id / 2);
    return InsertReserved(u);
  }
  // Allocates rows for all ids up to that of `u`.
  void Reserve(const UOp* u) {
    if (in_.size() <= u->id) in_.resize(u->id + 1);
  }
  // Insert without a bounds check. `u` must be reserved.
  bool InsertReserved(const UOp* u) {
    uint8_t& in = in_[u->id];
    if (in) return false;
    in = 1;
    return true;
  }
  bool Contains(const UOp* u) const { return u->id < in_.size() && in_[u->id]; }

 private:
  std::vector<uint8_t> in_;
};

// A map from the nodes of one Context to T, by id. A node without an entry reads as T().
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

// The same for a large T that few nodes have. References remain valid.
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
  NodeMap<uint32_t> at_;  // 1 + the index in rows_
  std::deque<T> rows_;
};

// Appends to `out` the nodes that the roots reach and `seen` does not contain, sources before
// users: the post-order of a depth-first walk that visits sources from left to right. Bodies are
// printed in this order.
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
