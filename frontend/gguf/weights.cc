#include "frontend/gguf/weights.h"

#include <algorithm>
#include <optional>

#include "frontend/gguf/blocks.h"

namespace tg::gguf {
namespace {

constexpr int64_t kLast = -1;

// [lead..., columns] as [lead..., blocks, axes of the layout...].
Value SplitRow(GraphBuilder& g, Value x, const BlockLayout& layout) {
  if (!x || layout.extents.empty()) return x;
  Shape shape = g.ShapeOf(x);
  int64_t block = 1;
  for (const int64_t n : layout.extents) block *= n;
  shape.back() = g.FloorDivDim(shape.back(), block);
  shape.insert(shape.end(), layout.extents.begin(), layout.extents.end());
  return g.Reshape(x, shape);
}

// The elements of SplitRow's result at position `part` of the axes that are split.
Value SelectPart(GraphBuilder& g, Value x, const BlockLayout& layout, int64_t part) {
  const size_t rank = layout.extents.size();
  for (size_t i = rank; i-- > 0;) {
    if (!layout.is_split[i]) continue;
    const int64_t at = part % layout.extents[i];
    part /= layout.extents[i];
    // Axes behind i that are split have been removed.
    int64_t axis = kLast;
    for (size_t k = i + 1; k < rank; ++k) axis -= layout.is_split[k] ? 0 : 1;
    x = g.Squeeze(g.Slice(x, axis, at, at + 1), axis);
  }
  return x;
}

Value Multiply(GraphBuilder& g, Value x, Value factor) { return factor ? g.Mul(x, factor) : x; }

Value Affine(GraphBuilder& g, const WeightPart& part) {
  const Value scaled = Multiply(g, part.code, part.scale);
  return part.offset ? g.Add(scaled, part.offset) : scaled;
}

Value Accumulate(GraphBuilder& g, Value sum, Value x) { return sum ? g.Add(sum, x) : x; }

// The only operand in which values of one elementwise op differ; nullopt if there is no such one.
std::optional<size_t> OnlyDifference(std::span<const Value> values) {
  const Value first = values[0];
  const bool is_rebuilt = first->op == Op::kCast || first->op == Op::kNeg ||
                          (IsElementwise(first->op) && first->num_srcs == 2);
  std::optional<size_t> out;
  for (const Value v : values) {
    if (!is_rebuilt || v->op != first->op || v->dtype != first->dtype) return std::nullopt;
    for (size_t k = 0; k < first->num_srcs; ++k) {
      if (v->src(k) == first->src(k)) continue;
      if (out.value_or(k) != k || v->src(k)->dtype != first->src(k)->dtype) return std::nullopt;
      out = k;
    }
  }
  return out;
}

// The tensor whose slices along its axis number `axis`, counted from the end as in Select, are
// these values, without that axis; null if they are not all slices of one tensor in their order.
Value WholeOf(GraphBuilder& g, std::span<const Value> slices, int64_t axis) {
  const auto slice = [](Value v) {
    return v->op == Op::kReshape && v->src(0)->op == Op::kShrink ? v->src(0) : nullptr;
  };
  if (!slice(slices[0])) return nullptr;
  const Value whole = slice(slices[0])->src(0);
  axis += static_cast<int64_t>(g.Rank(whole));
  if (axis < 0) return nullptr;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (slices[i] != g.Squeeze(g.Slice(whole, axis, at, at + 1), axis)) return nullptr;
  }
  const bool is_all = g.Extent(whole, axis) == Dim(static_cast<int64_t>(slices.size()));
  return is_all ? whole : nullptr;
}

// Values along a new axis. Unlike a sum of padded values it keeps the sign of zeros. Of values that
// differ in one operand this is selected, so that an element is not computed as each of them.
Value Select(GraphBuilder& g, std::span<const Value> of, int64_t axis) {
  struct Above {
    Value op;
    size_t operand;
  };
  std::vector<Above> above;
  std::vector<Value> values(of.begin(), of.end());
  while (const std::optional<size_t> k = OnlyDifference(values)) {
    above.push_back({values[0], *k});
    for (Value& v : values) v = v->src(*k);
  }
  Shape places(static_cast<size_t>(-axis), Dim(1));
  places[0] = static_cast<int64_t>(values.size());
  const Value place = g.Reshape(g.Arange(Scalar::kI32, places[0]), places);
  const auto along = [&](Value x) { return x->op == Op::kConst ? x : g.Unsqueeze(x, axis); };
  const Value whole = WholeOf(g, values, axis);
  Value all = whole ? whole : along(values.back());
  for (size_t i = values.size() - 1; !whole && i-- > 0;) {
    if (values[i] == values.back()) continue;
    const Value here = g.Eq(place, g.ConstInt(Scalar::kI32, static_cast<int64_t>(i)));
    all = g.Where(here, along(values[i]), all);
  }
  while (!above.empty()) {
    const auto [op, k] = above.back();
    above.pop_back();
    if (op->op == Op::kCast) {
      all = g.Cast(all, op->dtype.scalar());
    } else if (op->op == Op::kNeg) {
      all = g.Neg(all);
    } else {
      const Value other = along(op->src(1 - k));
      all = k == 0 ? g.Binary(op->op, all, other) : g.Binary(op->op, other, all);
    }
  }
  return all;
}

// The products of one row of x, summed over parts. A scale that parts have in common is multiplied
// once. With an offset it is cheaper to decode each element: two multiply-adds.
Value GroupedProducts(GraphBuilder& g, const std::vector<WeightPart>& parts,
                      const std::vector<Value>& xs) {
  Value sum = nullptr;
  for (size_t i = 0; i < parts.size();) {
    const WeightPart& first = parts[i];
    if (first.offset) {
      sum = Accumulate(g, sum, g.Mul(Affine(g, first), xs[i++]));
      continue;
    }
    Value products = nullptr;
    for (; i < parts.size() && parts[i].scale == first.scale && !parts[i].offset; ++i) {
      products = Accumulate(g, products, g.Mul(parts[i].code, xs[i]));
    }
    sum = Accumulate(g, sum, Multiply(g, products, first.scale));
  }
  return sum;
}

// As DecodeWhole, with the axes of the blocks behind the rows.
Value DecodeBlocks(GraphBuilder& g, TensorType type, const std::vector<Value>& fields) {
  const BlockLayout& layout = LayoutOf(type);
  const std::vector<WeightPart> parts = Decode(g, type, fields);
  if (parts.empty() || !parts[0].code) return nullptr;
  const size_t rank = layout.extents.size();
  // Stacks codes, scales or offsets along the axes that are split, the first axis first.
  const auto stacked = [&](Value WeightPart::*member) {
    std::vector<Value> values;
    for (const WeightPart& part : parts) values.push_back(part.*member);
    for (size_t i = 0; i < rank && values[0]; ++i) {
      if (!layout.is_split[i]) continue;
      const auto n = static_cast<size_t>(layout.extents[i]);
      const size_t others = values.size() / n;
      // Axes behind i that are split are not there yet.
      const auto later = std::count(layout.is_split.begin() + static_cast<int64_t>(i) + 1,
                                    layout.is_split.end(), true);
      const int64_t axis = static_cast<int64_t>(i) - static_cast<int64_t>(rank) + later;
      std::vector<Value> next;
      for (size_t k = 0; k < others; ++k) {
        std::vector<Value> along;
        for (size_t j = 0; j < n; ++j) along.push_back(values[j * others + k]);
        next.push_back(Select(g, along, axis));
      }
      values = std::move(next);
    }
    return values[0];
  };
  return Affine(
      g, {stacked(&WeightPart::code), stacked(&WeightPart::scale), stacked(&WeightPart::offset)});
}

// Rows of weights whose blocks have the axes of the type's layout.
Value InRows(GraphBuilder& g, TensorType type, Value whole) {
  const size_t rank = LayoutOf(type).extents.size();
  if (!whole || rank == 0) return whole;
  const auto all = static_cast<int64_t>(g.Rank(whole));
  return g.Flatten(whole, all - static_cast<int64_t>(rank) - 1, all);
}

}  // namespace

Weight DeclareWeight(Module& module, const Tensor& tensor, const std::string& file) {
  Weight weight{tensor.type, tensor.shape, {}};
  const TensorTypeInfo& info = InfoOf(tensor.type);
  for (const BlockField& field : FormatOf(tensor.type).fields) {
    BufferDecl decl;
    decl.name = frontend::SymbolFrom(std::string(tensor.name) + (field.name.empty() ? "" : ".") +
                                     std::string(field.name));
    decl.dtype = field.type;
    decl.role = Role::kParam;
    for (const int64_t n : tensor.shape) decl.shape.push_back({.size = n});
    if (info.block_elements > 1) decl.shape.back().size /= info.block_elements;
    if (field.count > 1) decl.shape.push_back({.size = field.count});
    decl.file = file;
    decl.offset = tensor.offset + field.offset;
    const int64_t bytes = field.count * ByteSize(field.type);
    if (bytes != info.block_bytes) {
      decl.run_bytes = bytes;
      decl.stride_bytes = info.block_bytes;
    }
    weight.params.push_back(decl.name);
    module.buffers.push_back(std::move(decl));
  }
  return weight;
}

std::vector<Value> Fields(GraphBuilder& g, const Weight& weight) {
  std::vector<Value> fields;
  const std::vector<BlockField>& formats = FormatOf(weight.type).fields;
  for (size_t i = 0; i < formats.size(); ++i) {
    const Value param = g.ir().Buffer(weight.params[i], formats[i].type);
    fields.push_back(g.ir().Alu(Op::kFuse, {param}));
  }
  return fields;
}

Value DecodeWhole(GraphBuilder& g, TensorType type, const std::vector<Value>& fields) {
  return InRows(g, type, DecodeBlocks(g, type, fields));
}

Value Linear(GraphBuilder& g, Value x, TensorType type, const std::vector<Value>& fields,
             bool by_parts) {
  if (!x) return nullptr;
  const BlockLayout& layout = LayoutOf(type);
  const std::vector<WeightPart> parts = Decode(g, type, fields);
  // The rows of the weights are an axis in front of the blocks.
  const Value row = SplitRow(g, g.Unsqueeze(x, -2), layout);
  std::vector<Value> xs;
  for (size_t i = 0; i < parts.size(); ++i) {
    xs.push_back(SelectPart(g, row, layout, static_cast<int64_t>(i)));
  }
  Shape lead = g.ShapeOf(x);
  lead.pop_back();
  // Where there is one row of x, or each has other weights, decoding serves that row alone.
  const bool has_own_weights = !xs.empty() && g.Rank(parts[0].code) + lead.size() > g.Rank(xs[0]);
  Value products = nullptr;
  if (has_own_weights || by_parts || g.NumElements(lead) == Dim(1)) {
    products = GroupedProducts(g, parts, xs);
  } else if (const Value whole = DecodeBlocks(g, type, fields)) {
    // Decoding a weight once serves all rows of x. All elements of a block are factors of one
    // product, whatever parts they are decoded in: it is that of two matrices.
    products = g.Mul(whole, row);
  }
  if (!products) return nullptr;
  Ints summed;
  for (int64_t axis = static_cast<int64_t>(lead.size()) + 1;
       axis < static_cast<int64_t>(g.Rank(products)); ++axis) {
    summed.push_back(axis);
  }
  return g.Sum(products, summed);
}

Value LinearInHalves(GraphBuilder& g, Value x, TensorType type, const std::vector<Value>& fields) {
  const Value weight = DecodeBlocks(g, type, fields);
  if (!x || !weight) return nullptr;
  Shape shape = g.ShapeOf(x);
  const Value rows =
      g.Reshape(x, {g.NumElements(Shape(shape.begin(), shape.end() - 1)), shape.back()});
  const Value largest = g.Reduce(Op::kMax, g.Abs(rows), {kLast}, /*keep=*/true);
  const Value scale = g.Max(largest, g.Const(Scalar::kF32, 0x1p-100));
  // A factor is stored: it is made once, and matrix instructions read it as it is.
  const auto halves = [&](Value v) {
    return g.Cast(g.Stored(g.Cast(v, Scalar::kF16)), Scalar::kF32);
  };
  // Blocks of several scales have an axis for them. With their axes as those of the kernel, scales
  // are decoded once for all elements that they belong to.
  const bool has_scales = LayoutOf(type).extents.size() > 2;
  const Value left = halves(g.Div(rows, scale));
  const Value right =
      has_scales ? InRows(g, type, halves(weight)) : halves(InRows(g, type, weight));
  const Value sums = g.Sum(g.Mul(g.Unsqueeze(left, -2), g.Unsqueeze(right, 0)), {kLast});
  shape.back() = g.Extent(weight, 0);
  // The kernel of a product alone, with all rows of x along one axis, takes matrix instructions.
  return g.Reshape(g.Stored(g.Mul(sums, scale)), shape);
}

}  // namespace tg::gguf
