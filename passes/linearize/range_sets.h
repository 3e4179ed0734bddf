// RangeSets: interned sets of ranges, each identified by a number, so that the sets of all nodes of
// a kernel cost a word each.
#ifndef TG_PASSES_LINEARIZE_RANGE_SETS_H_
#define TG_PASSES_LINEARIZE_RANGE_SETS_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"

namespace tg::linearize {

// Ranges are numbered from 0, and so are sets; set 0 is empty. A kernel has few distinct sets, so
// most unions are answered from the cache.
class RangeSets {
 public:
  RangeSets() { Intern({}); }
  const std::vector<int>& operator[](int set) const { return sets_[set]; }
  size_t size() const { return sets_.size(); }

  int Union(int a, int b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    return UnionOfTwo(std::min(a, b), std::max(a, b));
  }
  bool Holds(int set, int range) const {
    return std::binary_search(sets_[set].begin(), sets_[set].end(), range);
  }
  int With(int set, int range) {
    const auto at = static_cast<size_t>(range);
    if (at >= alone_.size()) alone_.resize(at + 1, -1);
    if (alone_[at] < 0) alone_[at] = Intern({range});
    return Union(set, alone_[at]);
  }
  int Without(int set, const std::vector<int>& gone) {
    std::vector<int> rest;
    for (int r : sets_[set]) {
      if (std::find(gone.begin(), gone.end(), r) == gone.end()) rest.push_back(r);
    }
    return Intern(std::move(rest));
  }

 private:
  int UnionOfTwo(int a, int b) {
    const auto [it, fresh] = unions_.try_emplace({a, b}, 0);
    if (!fresh) return it->second;
    std::vector<int> all;
    std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                   std::back_inserter(all));
    return it->second = Intern(std::move(all));
  }
  int Intern(std::vector<int> set) {
    const auto [it, fresh] = ids_.try_emplace(set, static_cast<int>(sets_.size()));
    if (fresh) sets_.push_back(std::move(set));
    return it->second;
  }
  std::vector<std::vector<int>> sets_;
  std::vector<int> alone_;  // by range: its singleton set; -1: not created yet
  std::map<std::vector<int>, int> ids_;
  llvm::DenseMap<std::pair<int, int>, int> unions_;  // key: the lower number, the higher number
};

}  // namespace tg::linearize

#endif  // TG_PASSES_LINEARIZE_RANGE_SETS_H_
