#include "passes/simplify/write_order.h"

#include <algorithm>

#include "llvm/ADT/SmallVector.h"

namespace tg::simplify {
namespace {

constexpr size_t kBatch = 64;

// For each node: the set of these assigns (at most 64) on which it depends, itself included; bit i
// is assign i.
NodeMap<uint64_t> Dependences(UOpSpan order, UOpSpan assigns) {
  NodeMap<uint64_t> out;
  for (size_t i = 0; i < assigns.size(); ++i) {
    if (assigns[i]) out[assigns[i]] |= uint64_t{1} << i;
  }
  for (const UOp* u : order) {
    uint64_t bits = out.Get(u);
    for (const UOp* s : u->srcs()) bits |= out.Get(s);
    if (bits != 0) out[u] = bits;
  }
  return out;
}

// The sink with additional sources without targets.
const UOp* WithRoots(Context& context, const UOp* sink, const std::vector<const UOp*>& added) {
  std::vector<const UOp*> srcs(sink->srcs().begin(), sink->srcs().end());
  srcs.insert(srcs.end(), added.begin(), added.end());
  const auto targets = sink->list();
  llvm::SmallVector<int64_t, 16> words{static_cast<int64_t>(targets.empty() ? 0 : srcs.size())};
  words.append(targets.begin(), targets.end());
  words.resize(1 + static_cast<size_t>(words[0]));
  return context.Make(Op::kSink, kVoid, srcs,
                      context.MakeAttr(Op::kSink, {words.data(), words.size()}));
}

}  // namespace

WriteOrder::WriteOrder(const Body& graph) : root_(graph.root) {
  order_ = graph.Order();
  for (const UOp* u : order_) {
    if (u->op == Op::kAssign) writes_.push_back({u, BufferOf(u)});
  }
  if (writes_.empty()) order_.clear();
}

WriteOrder::Edges WriteOrder::Missing(const Body& graph, const std::vector<const UOp*>& now) const {
  std::vector<const UOp*> all(now);
  all.push_back(graph.root);
  std::erase(all, nullptr);
  const std::vector<const UOp*> new_order = PostOrder(
      graph.context->Make(Op::kSink, kVoid, all, graph.context->MakeAttr(Op::kSink, {0})));
  std::vector<const UOp*> old;
  for (const Write& w : writes_) old.push_back(w.assign);
  Edges missing(writes_.size());
  for (size_t first = 0; first < old.size(); first += kBatch) {
    const size_t count = std::min(kBatch, old.size() - first);
    const NodeMap<uint64_t> before = Dependences(order_, UOpSpan(old).subspan(first, count));
    const NodeMap<uint64_t> after = Dependences(new_order, UOpSpan(now).subspan(first, count));
    for (size_t k = first; k < old.size(); ++k) {
      if (!now[k]) continue;
      uint64_t lost = before.Get(old[k]) & ~after.Get(now[k]);
      // If one lost write depends on another lost write, adding the later one is enough.
      for (size_t i = count; i-- > 0;) {
        const size_t w = first + i;
        if (!(lost >> i & 1) || !now[w] || writes_[w].buffer != writes_[k].buffer) continue;
        missing[k].push_back(w);
        lost &= ~before.Get(old[w]);
      }
    }
  }
  return missing;
}

void WriteOrder::Restore(Body& graph, llvm::function_ref<const UOp*(const UOp*)> final_of) const {
  if (writes_.empty() || graph.root == root_) return;
  Context& context = *graph.context;
  std::vector<const UOp*> now;
  NodeMap<size_t> number;  // by new assign: 1 + its position
  for (const Write& w : writes_) {
    const UOp* u = final_of(w.assign);
    now.push_back(u && u->op == Op::kAssign ? u : nullptr);
    if (now.back()) number[u] = now.size();
  }
  const Edges missing = Missing(graph, now);

  // Visits sources first, so that each write comes after the earlier writes that become its
  // sources.
  NodeMap<const UOp*> map;
  NodeSet reached;
  llvm::SmallVector<const UOp*, 8> srcs;
  const auto reach = [&](const UOp* root) {
    llvm::SmallVector<const UOp*, 32> stack{root};
    while (!stack.empty()) {
      const UOp* u = stack.pop_back_val();
      if (!reached.Insert(u)) continue;
      stack.append(u->srcs().begin(), u->srcs().end());
    }
  };
  const auto copy = [&](const UOp* root) {
    llvm::SmallVector<const UOp*, 32> stack{root};
    while (!stack.empty()) {
      const UOp* u = stack.back();
      const size_t size = stack.size();
      const auto need = [&](const UOp* s) {
        if (!map.Get(s)) stack.push_back(s);
      };
      if (map.Get(u)) {
        stack.pop_back();
        continue;
      }
      const size_t k = number.Get(u);
      for (const UOp* s : u->srcs()) need(s);
      for (size_t w : k ? missing[k - 1] : std::vector<size_t>()) need(now[w]);
      if (stack.size() != size) continue;
      stack.pop_back();
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      for (size_t w : k ? missing[k - 1] : std::vector<size_t>()) srcs.push_back(map.Get(now[w]));
      const UOp* to = context.Rebuild(u, context, {srcs.data(), srcs.size()});
      graph.CarryOver(u, to);
      map[u] = to;
    }
    return map.Get(root);
  };
  graph.root = copy(graph.root);
  reach(graph.root);
  std::vector<const UOp*> lost;
  for (size_t k = now.size(); k-- > 0;) {
    if (!now[k] || reached.Contains(copy(now[k]))) continue;
    lost.push_back(map.Get(now[k]));
    reach(lost.back());
  }
  if (!lost.empty()) graph.root = WithRoots(context, graph.root, lost);
}

}  // namespace tg::simplify
