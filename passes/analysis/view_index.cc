#include "passes/analysis/view_index.h"

#include <utility>

#include "ir/shape.h"
#include "passes/analysis/indexing.h"

namespace tg::analysis {
namespace {

struct OneView {
  Shape shape, strides;
  Dim offset;
  std::vector<std::pair<Dim, Dim>> mask;  // empty: none
};

std::vector<OneView> Decode(const UOp* u) {
  const auto words = u->list();
  size_t next = NumOperands(u), at = 0;
  const auto take = [&] {
    const int64_t w = words[at++];
    return w == kSymbolic ? Dim(u->src(next++)) : Dim(w);
  };
  std::vector<OneView> views;
  while (at < words.size()) {
    OneView& v = views.emplace_back();
    const auto rank = static_cast<size_t>(words[at++]);
    for (size_t i = 0; i < rank; ++i) v.shape.push_back(take());
    for (size_t i = 0; i < rank; ++i) v.strides.push_back(take());
    v.offset = take();
    if (words[at++]) {
      for (size_t i = 0; i < rank; ++i) {
        const Dim begin = take();
        v.mask.emplace_back(begin, take());
      }
    }
  }
  return views;
}

}  // namespace

ViewIndex IndexThroughView(Builder& b, const UOp* u, const std::vector<const UOp*>& index) {
  const std::vector<OneView> views = Decode(u);
  const auto keep = [](const UOp* x) { return x; };
  std::vector<const UOp*> at = index;
  ViewIndex out;
  for (size_t n = views.size(); n-- > 0;) {
    const OneView& v = views[n];
    const UOp* flat = b.Index(v.offset);
    for (size_t i = 0; i < v.shape.size(); ++i) {
      if (!v.strides[i].Is(0)) flat = b.Add(flat, b.Mul(at[i], b.Index(v.strides[i])));
      if (v.mask.empty()) continue;
      const auto& [begin, end] = v.mask[i];
      if (!begin.Is(0)) out.valid = Both(b, out.valid, b.Not(b.Lt(at[i], b.Index(begin))));
      if (end != v.shape[i]) out.valid = Both(b, out.valid, b.Lt(at[i], b.Index(end)));
    }
    out.offset = flat;
    if (n > 0) at = Unflatten(b, views[n - 1].shape, flat, keep);
  }
  return out;
}

}  // namespace tg::analysis
