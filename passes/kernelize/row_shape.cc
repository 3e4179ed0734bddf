#include "passes/kernelize/row_shape.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/analysis/loop_sets.h"

namespace tg {
namespace {

// An expression that has more than this many nodes before any reduce is left as it is.
constexpr size_t kMostNodes = 4096;

// The axis of size `n` cut at strides `cuts`; whole where they do not divide each other.
void AppendParts(int64_t n, std::vector<int64_t>& cuts, Shape& out) {
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::erase_if(cuts, [&](int64_t c) { return c == 1 || c == n; });
  cuts.insert(cuts.begin(), 1);
  cuts.push_back(n);
  for (size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] % cuts[i - 1] != 0) return out.push_back(n);
  }
  for (size_t i = cuts.size() - 1; i > 0; --i) out.push_back(cuts[i] / cuts[i - 1]);
}

}  // namespace

Shape RowShape(const UOp* value, ShapeMap& shapes, llvm::function_ref<bool(const UOp*)> is_leaf) {
  const Shape& whole = shapes.Of(value);
  using Places = std::vector<AxisLoops>;
  std::vector<std::vector<int64_t>> cuts(whole.size());
  std::unordered_map<const UOp*, std::vector<Places>> seen;
  std::vector<std::pair<const UOp*, Places>> work;
  const auto push = [&](const UOp* u, Places at) {
    std::vector<Places>& known = seen[u];
    if (std::find(known.begin(), known.end(), at) != known.end()) return;
    known.push_back(at);
    work.emplace_back(u, std::move(at));
  };
  Places start;
  for (size_t k = 0; k < whole.size(); ++k) {
    start.push_back(whole[k].Is(1) ? AxisLoops{} : CountedBy(k, whole[k]));
  }
  push(value, std::move(start));
  for (size_t visited = 0; !work.empty(); ++visited) {
    if (visited == kMostNodes) return whole;
    const auto [u, at] = std::move(work.back());
    work.pop_back();
    if (u != value && is_leaf(u)) continue;
    if (u->op == Op::kReduceAxis) {
      for (const AxisLoops& axis : at) {
        for (const LoopDigit& d : axis.digits) {
          if (whole[d.loop].is_symbolic() || !axis.exact) continue;
          cuts[d.loop].push_back(d.stride);
          cuts[d.loop].push_back(d.stride * d.size);
        }
      }
    } else if (IsMovement(u->op)) {
      push(u->src(0), LoopsThrough(u, shapes.Of(u->src(0)), shapes.Of(u), at));
    } else if (IsElementwise(u->op)) {
      for (const UOp* s : u->srcs()) push(s, shapes.Of(s).empty() ? Places{} : at);
    }
  }
  Shape out;
  for (size_t k = 0; k < whole.size(); ++k) {
    if (cuts[k].empty() || whole[k].is_symbolic())
      out.push_back(whole[k]);
    else
      AppendParts(whole[k].value(), cuts[k], out);
  }
  return out;
}

}  // namespace tg
