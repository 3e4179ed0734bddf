// Elements by number.
#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

void Gather(NodeContext& c) {
  c.Return(c.g.Gather(c.In(0), c.In(1), c.Int("axis", 0)), 0, c.TypeOf(0));
}
void GatherElements(NodeContext& c) {
  c.Return(c.g.GatherElements(c.In(0), c.In(1), c.Int("axis", 0)), 0, c.TypeOf(0));
}
void GatherNd(NodeContext& c) {
  c.Return(c.g.GatherNd(c.In(0), c.In(1), c.Int("batch_dims", 0)), 0, c.TypeOf(0));
}

std::optional<Op> ReductionOf(NodeContext& c) {
  const std::string_view name = c.String("reduction", "none");
  if (name == "none") return Op::kNoop;
  if (name == "add") return Op::kAdd;
  if (name == "mul") return Op::kMul;
  if (name == "max") return Op::kMax;
  if (name == "min") return Op::kMin;
  c.Fail("the reduction '" + std::string(name) + "'");
  return std::nullopt;
}

void ScatterElements(NodeContext& c) {
  const auto op = ReductionOf(c);
  if (op) {
    c.Return(c.g.ScatterElements(c.In(0), c.In(1), c.In(2), c.Int("axis", 0), *op), 0, c.TypeOf(0));
  }
}
void ScatterNd(NodeContext& c) {
  const auto op = ReductionOf(c);
  if (op) c.Return(c.g.ScatterNd(c.In(0), c.In(1), c.In(2), *op), 0, c.TypeOf(0));
}

// A cache's rows [i, i + n) of batch b are replaced from index `write_indices[b]` on.
void TensorScatter(NodeContext& c) {
  const Value cache = c.In(0), update = c.In(1);
  if (!cache || !update) return;
  const auto axis = c.g.Axis(c.Int("axis", -2), c.g.Rank(cache));
  if (!axis) return;
  const Shape shape = c.g.ShapeOf(cache);
  const Dim n = c.g.Extent(update, *axis), m = c.g.Extent(cache, *axis);
  Shape along(shape.size(), Dim(1)), by(shape.size(), Dim(1));
  along[static_cast<size_t>(*axis)] = n;
  by[0] = shape[0];
  Value place = c.g.Reshape(c.g.Arange(Scalar::kI64, n), along);
  if (c.Has(2)) place = c.g.Add(place, c.g.Reshape(c.g.Cast(c.In(2), Scalar::kI64), by));
  if (c.String("mode", "linear") == "circular") {
    place = c.g.Binary(Op::kFloorMod, place, c.g.DimValue(Scalar::kI64, m));
  }
  c.Return(c.g.ScatterElements(cache, c.g.BroadcastTo(place, c.g.ShapeOf(update)), update, *axis,
                               Op::kNoop),
           0, c.TypeOf(0));
}

void OneHot(NodeContext& c) {
  const auto depth = c.KnownNumbers(1);
  if (!depth || depth->empty()) return;
  const Value values = c.In(2);
  const Value off = c.g.Gather(values, c.g.ConstInt(Scalar::kI64, 0), 0);
  const Value on = c.g.Gather(values, c.g.ConstInt(Scalar::kI64, 1), 0);
  c.Return(c.g.OneHot(c.In(0), Dim(static_cast<int64_t>((*depth)[0])), c.Int("axis", -1), off, on));
}

// Selects the slices of an axis where the condition holds.
void Compress(NodeContext& c) {
  Value x = c.In(0);
  const Value asked = c.In(1);
  if (!x || !asked) return;
  int64_t axis = c.Int("axis", 0);
  if (!c.Find("axis")) x = c.g.Flatten(x, 0, static_cast<int64_t>(c.g.Rank(x)));
  const auto condition = c.CountedBits(1);
  if (!condition) {
    const auto at = c.g.Axis(axis, c.g.Rank(x));
    if (at) c.Return(c.g.Gather(x, c.TruePlaces(asked, *at), *at), 0, c.TypeOf(0));
    return;
  }
  Ints selected;
  for (size_t i = 0; i < condition->size(); ++i) {
    if ((*condition)[i]) selected.push_back(static_cast<int64_t>(i));
  }
  c.Return(c.g.Gather(x, c.g.Constant1D(Scalar::kI64, selected), axis), 0, c.TypeOf(0));
}

constexpr Operator kGatherOperators[] = {
    {"", "Compress", 9, Compress},
    {"", "Gather", 1, Gather},
    {"", "GatherElements", 11, GatherElements},
    {"", "GatherND", 11, GatherNd},
    {"", "OneHot", 9, OneHot},
    {"", "Scatter", 9, ScatterElements},
    {"", "ScatterElements", 11, ScatterElements},
    {"", "ScatterND", 11, ScatterNd},
    {"", "TensorScatter", 24, TensorScatter},
};

}  // namespace

std::span<const Operator> GatherOperators() { return kGatherOperators; }

}  // namespace tg::onnx
