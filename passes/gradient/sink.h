// The roots of a graph with the buffers that they are written to.
#ifndef TG_PASSES_GRADIENT_SINK_H_
#define TG_PASSES_GRADIENT_SINK_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"

namespace tg::gradient {

struct SinkRoot {
  const UOp* value = nullptr;
  std::string target;  // empty: none
};

// The roots of the body's sink, in order.
std::vector<SinkRoot> RootsOf(const Body& body);
// Replaces the body's sink.
void SetRoots(Body& body, const std::vector<SinkRoot>& roots);
// The graph with a root that is written to this buffer, and the root's value; null if there is
// none.
struct WrittenValue {
  Graph* graph = nullptr;
  const UOp* value = nullptr;
};
WrittenValue FindWritten(Module& module, std::string_view buffer);

// `base`, or the first of `base.1`, ... that the module does not declare.
std::string FreeSymbol(const Module& module, const std::string& base);

}  // namespace tg::gradient

#endif  // TG_PASSES_GRADIENT_SINK_H_
