// Weights of a GGUF file in a graph, decoded where they are used.
//
// Each field of a type's blocks becomes a param, whose elements are read from runs of bytes of the
// file. So the array of structures in the file becomes a structure of arrays in memory, in which
// loads are contiguous. The params are under `fuse`, so that decoded values are never stored from
// run to run.
#ifndef TG_FRONTEND_GGUF_WEIGHTS_H_
#define TG_FRONTEND_GGUF_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/common/graph_builder.h"
#include "frontend/gguf/gguf.h"
#include "ir/module.h"

namespace tg::gguf {

using frontend::GraphBuilder;
using frontend::Ints;
using frontend::Value;

// A tensor that a module has params for.
struct Weight {
  TensorType type = TensorType::kF32;
  Ints shape;
  std::vector<std::string> params;  // a field each, in the type's order
};

// Adds the params of a tensor to the module, in `file` as the module names it.
Weight DeclareWeight(Module& module, const Tensor& tensor, const std::string& file);

// The fields of a weight in a graph: [axes of the tensor but the last..., blocks, field...].
std::vector<Value> Fields(GraphBuilder& g, const Weight& weight);

// Elements that are decoded together as code * scale + offset. Their shape is [lead..., blocks,
// axes of the layout that are not split...]; scale and offset (null: 1 and 0) broadcast to the
// code.
struct WeightPart {
  Value code = nullptr, scale = nullptr, offset = nullptr;
};

// The layout of a block of a type: its elements have these extents, in row-major order. Some axes
// are split: each part holds the elements at one position of these axes, and parts are in row-major
// order of the positions.
struct BlockLayout {
  Ints extents;
  std::vector<bool> is_split;
};
const BlockLayout& LayoutOf(TensorType type);

// In f32, rounded as the reference implementation rounds. `fields` may have any leading axes.
std::vector<WeightPart> Decode(GraphBuilder& g, TensorType type, const std::vector<Value>& fields);

// All elements in f32: [lead..., columns].
Value DecodeWhole(GraphBuilder& g, TensorType type, const std::vector<Value>& fields);

// Multiplies x, [lead..., columns], by the transpose of weights, [lead or broadcast to it..., rows,
// columns], which are given as fields. The result is [lead..., rows], in f32. `by_parts`: the parts
// in which a block is decoded make separate products, as they do for a single row. Scales are
// multiplied once then, but it is no product of two matrices.
Value Linear(GraphBuilder& g, Value x, TensorType type, const std::vector<Value>& fields,
             bool by_parts = false);

// The same for weights [rows, columns] by products of halves, which are summed in f32. Each row of
// x is divided by its largest magnitude before it is rounded, so that no half overflows.
Value LinearInHalves(GraphBuilder& g, Value x, TensorType type, const std::vector<Value>& fields);

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_WEIGHTS_H_
