// Which kernels of a graph wait for which others.
#ifndef TG_PASSES_KERNELIZE_WAITS_H_
#define TG_PASSES_KERNELIZE_WAITS_H_

#include <cstddef>
#include <vector>

#include "ir/walk.h"
#include "passes/kernelize/kernel_body.h"

namespace tg {

struct WriteAfterRead;

// A directed graph whose vertices are the drafts, by position, and behind them the nodes that only
// join versions of buffers to the kernels that make them: after, assigns of kernels that are in the
// graph already.
class Waits {
 public:
  // What each draft waits for by its sources: those that make what it reads, what it writes into,
  // and what an assign is ordered behind. No draft waits for itself so.
  explicit Waits(const std::vector<KernelDraft>& drafts);
  // The same, and a writer waits for those that read what it overwrites.
  Waits(const std::vector<KernelDraft>& drafts, const WriteAfterRead& order);

  // By vertex: the vertices that it waits for. Some are listed twice.
  const std::vector<std::vector<size_t>>& before() const { return before_; }
  // The vertex of a draft's node or of one that joins; `kNone`: no draft waits for it.
  static constexpr size_t kNone = SIZE_MAX;
  size_t VertexOf(const UOp* u) const { return number_.Get(u) - 1; }

  // By draft: the number of kernels on the longest way to it. None of two on the same level waits
  // for the other. The graph must have no cycle.
  std::vector<size_t> Levels() const;

 private:
  size_t drafts_;
  std::vector<std::vector<size_t>> before_;
  NodeMap<size_t> number_;  // 1 + vertex
};

// The strongly connected components of a graph, each behind those that it waits for (R. Tarjan,
// Depth-first search and linear graph algorithms, 1972), the vertices of each in order.
std::vector<std::vector<size_t>> Components(const std::vector<std::vector<size_t>>& before);

}  // namespace tg

#endif  // TG_PASSES_KERNELIZE_WAITS_H_
