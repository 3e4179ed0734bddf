// The graph of dependences between the kernels.
#ifndef TG_PASSES_KERNELIZE_WAITS_H_
#define TG_PASSES_KERNELIZE_WAITS_H_

#include <cstddef>
#include <vector>

#include "ir/walk.h"
#include "passes/kernelize/kernel_body.h"

namespace tg::kernelize {

struct WriteAfterRead;

// A directed graph of dependences. Its vertices are the drafts, by position, followed by the nodes
// that only connect versions of buffers with the kernels that write them: `after`, and assigns of
// kernels that are in the graph already.
class Waits {
 public:
  // Each draft depends on the producers of its inputs, on the producer of the buffer version that
  // it writes to, on the nodes that its assign is ordered after, and on the counts that its
  // variables are. This graph has no self-edges.
  explicit Waits(const std::vector<KernelDraft>& drafts);
  // The same, plus the dependences of each writer on the readers of the contents that it
  // overwrites. Drafts of one kernel depend on what each of them does.
  Waits(const std::vector<KernelDraft>& drafts, const WriteAfterRead& order);

  // By vertex: the vertices that it waits for. Some are listed twice.
  const std::vector<std::vector<size_t>>& before() const { return before_; }
  // The vertex of a draft's node, or of a connecting node. `kNone`: no draft waits for it.
  static constexpr size_t kNone = SIZE_MAX;
  size_t VertexOf(const UOp* u) const { return number_.Get(u) - 1; }

  // For each draft, the number of kernels on the longest path to it. Drafts of one level do not
  // depend on each other. The graph must have no cycle.
  std::vector<size_t> Levels() const;

 private:
  size_t drafts_;
  std::vector<std::vector<size_t>> before_;
  NodeMap<size_t> number_;  // 1 + vertex
};

// The strongly connected components of a graph in topological order, dependences first (R. Tarjan,
// Depth-first search and linear graph algorithms, 1972). The vertices of each are in order.
std::vector<std::vector<size_t>> Components(const std::vector<std::vector<size_t>>& before);

}  // namespace tg::kernelize

#endif  // TG_PASSES_KERNELIZE_WAITS_H_
