// The shape of every node of a tensor graph or of a kernel before `lower`.
#ifndef TG_IR_SHAPE_H_
#define TG_IR_SHAPE_H_

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/dim.h"
#include "ir/module.h"
#include "ir/uop.h"
#include "ir/walk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace tg {

// The attribute of a movement op, with symbolic entries resolved. Axes are counted from the left.
Shape DimsOf(const UOp* u);                              // reshape, expand
std::vector<std::pair<Dim, Dim>> PairsOf(const UOp* u);  // pad: (before, after); shrink: [a, b)
// The number of sources that are operands. The other sources are symbolic entries of the attribute.
size_t NumOperands(const UOp* u);

// Dims arithmetic; symbolic results are UOps of `ctx` with type index.
Dim AddDims(Context& ctx, const Dim& a, const Dim& b);
Dim SubDims(Context& ctx, const Dim& a, const Dim& b);
Dim MulDims(Context& ctx, const Dim& a, const Dim& b);
// A Dim as a node of type index.
const UOp* DimNode(Context& ctx, const Dim& d);

// Shapes of a body's nodes, computed on demand and kept. Symbolic extents become nodes of the
// body's context. A node without a shape (void, or of a later stage) has shape [].
class ShapeMap {
 public:
  // `module` declares the buffers; it and the context outlive the map.
  ShapeMap(const Module& module, Context& ctx) : module_(module), ctx_(ctx) {}

  // The shape of a node that the verifier accepts. The reference is valid as long as the map.
  const Shape& Of(const UOp* u);

  // Computes the shape of a node whose sources' shapes are known. Returns false and sets *error if
  // the node has none. For callers that visit unverified nodes, sources first.
  bool Try(const UOp* u, std::string* error);

  // The shape of `u`, computed from its sources' shapes (`Of`). If `u` has none, returns nullopt
  // and sets *error to the reason.
  std::optional<Shape> Infer(const UOp* u, std::string* error);

 private:
  const BufferDecl* FindDecl(std::string_view name);
  // Infer, for the ops of one group.
  std::optional<Shape> OfLeaf(const UOp* u, std::string* error);
  std::optional<Shape> OfTensorOp(const UOp* u, std::string* error);

  const Module& module_;
  Context& ctx_;
  // Position by name of the first num_indexed_ buffers. A module may have thousands.
  llvm::StringMap<size_t> decls_;
  size_t num_indexed_ = 0;
  // Stores the shape that Infer computes, or shares that of a source.
  const Shape* Keep(const UOp* u, std::string* error);

  NodeMap<const Shape*> shapes_;
  std::deque<Shape> owned_;
  // Shapes of reshapes and expands without symbolic extents, by their interned attribute.
  llvm::DenseMap<uint64_t, const Shape*> named_;
};

}  // namespace tg

#endif  // TG_IR_SHAPE_H_
