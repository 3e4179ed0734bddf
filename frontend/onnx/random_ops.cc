// Random numbers: a function of a seed and of the element's number, the same in each run.
#include <cmath>
#include <numbers>
#include <string>

#include "base/hash.h"
#include "frontend/onnx/casts.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

// The key of a node's numbers: its seed, else its name, so that nodes without seeds differ.
uint64_t KeyOf(const NodeContext& c) {
  if (const Attribute* seed = c.Find("seed")) {
    // Dropout has an int, the others a float.
    if (seed->type == AttributeType::kInt) return static_cast<uint64_t>(seed->i);
    return static_cast<uint64_t>(BitsFromDouble(Scalar::kF64, c.Float("seed", 0)));
  }
  return Fnv64(c.node.outputs[0], Fnv64(c.node.name));
}

// 64 random bits an element. `draws`, u64[], counts earlier draws, if it is given.
Value RandomBits(NodeContext& c, const Shape& shape, uint64_t number, Value draws = nullptr) {
  Value counter = c.g.Arange(Scalar::kU64, c.g.NumElements(shape));
  if (draws) {
    const Value shifted = c.g.Binary(Op::kShl, draws, c.g.ConstInt(Scalar::kU64, 32));
    counter = c.g.Add(counter, shifted);
  }
  const Value key = c.g.ConstInt(Scalar::kU64, static_cast<int64_t>(number));
  return c.g.Reshape(c.g.Binary(Op::kThreefry, counter, key), shape);
}

// The upper or lower word of these bits as a number of [0, 1), in f32.
Value Fraction(GraphBuilder& g, Value bits, bool upper) {
  const auto word = [&](int64_t v) { return g.ConstInt(Scalar::kU64, v); };
  // As many digits as f32 has.
  const Value digits =
      g.And(g.Binary(Op::kShr, bits, word(upper ? 40 : 8)), word((int64_t{1} << 24) - 1));
  const Value number = g.Cast(digits, Scalar::kF32);
  return g.Mul(number, g.Like(number, std::ldexp(1.0, -24)));
}

Value Uniform(NodeContext& c, const Shape& shape) {
  return Fraction(c.g, RandomBits(c, shape, KeyOf(c)), true);
}

// By Box and Muller.
Value Normal(NodeContext& c, const Shape& shape) {
  const Value bits = RandomBits(c, shape, KeyOf(c));
  // (0, 1], whose logarithm is finite.
  const Value u = Fraction(c.g, bits, true), v = Fraction(c.g, bits, false);
  const Value above = c.g.Sub(c.g.Like(u, 1), u);
  const Value radius = c.g.Sqrt(c.g.Mul(c.g.Log(above), c.g.Like(u, -2)));
  return c.g.Mul(radius, c.g.Cos(c.g.Mul(v, c.g.Like(v, 2 * std::numbers::pi))));
}

// The shape that attribute `shape` tells, or that of the input.
std::optional<Shape> ShapeAsked(NodeContext& c) {
  if (c.node.op.ends_with("Like")) {
    const Value x = c.In(0);
    return x ? std::optional(c.g.ShapeOf(x)) : std::nullopt;
  }
  const auto shape = c.List("shape");
  if (!shape) {
    c.Fail("there is no shape");
    return std::nullopt;
  }
  return Shape(shape->begin(), shape->end());
}
// The type that attribute `dtype` tells, or else that of the input, if it is a float.
ElementType TypeAsked(NodeContext& c) {
  const auto told = static_cast<ElementType>(c.Int("dtype", 0));
  if (told != ElementType::kUndefined) return told;
  const auto scalar = ScalarFor(c.TypeOf(0));
  return scalar && IsFloat(*scalar) ? c.TypeOf(0) : ElementType::kFloat;
}
void ReturnAs(NodeContext& c, Value v, ElementType type) {
  c.Return(CastTo(c.g, v, ElementType::kFloat, type, false), 0, type);
}

void RandomUniform(NodeContext& c) {
  const auto shape = ShapeAsked(c);
  if (!shape) return;
  const double low = c.Float("low", 0), high = c.Float("high", 1);
  const Value u = Uniform(c, *shape);
  ReturnAs(c, c.g.Add(c.g.Mul(u, c.g.Like(u, high - low)), c.g.Like(u, low)), TypeAsked(c));
}
void RandomNormal(NodeContext& c) {
  const auto shape = ShapeAsked(c);
  if (!shape) return;
  const Value z = Normal(c, *shape);
  const double mean = c.Float("mean", 0), scale = c.Float("scale", 1);
  ReturnAs(c, c.g.Add(c.g.Mul(z, c.g.Like(z, scale)), c.g.Like(z, mean)), TypeAsked(c));
}

void Bernoulli(NodeContext& c) {
  const Value p = c.In(0);
  if (!p) return;
  const Value one = c.g.Lt(Uniform(c, c.g.ShapeOf(p)), c.g.Cast(p, Scalar::kF32));
  const auto told = static_cast<ElementType>(c.Int("dtype", 0));
  const ElementType type = told == ElementType::kUndefined ? c.TypeOf(0) : told;
  c.Return(CastTo(c.g, one, ElementType::kBool, type, false), 0, type);
}

// Draws classes, given the logarithms of their probabilities: [batch, classes] to [batch, samples].
void Multinomial(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0);
  if (!x || g.Rank(x) != 2) {
    c.Fail("an input that is no matrix");
    return;
  }
  const auto type =
      static_cast<ElementType>(c.Int("dtype", static_cast<int64_t>(ElementType::kInt32)));
  const auto scalar = ScalarFor(type);
  if (!scalar || !IsInt(*scalar)) {
    c.Fail("classes of type " + std::string(TypeName(type)));
    return;
  }
  const Value p = g.Softmax(g.Cast(x, Scalar::kF32), 1);
  const Value below = g.CumulativeSum(p, 1, /*exclusive=*/false, /*reverse=*/false);
  const Value u = Uniform(c, {g.Extent(x, 0), Dim(c.Int("sample_size", 1))});
  // The number of the drawn class is the number of classes whose cumulative probability is at most
  // u. It is limited to the last class, whose cumulative probability may be below 1 because of
  // rounding.
  const Value before = g.Le(g.Unsqueeze(below, 1), g.Unsqueeze(u, 2));
  const Value count = g.Sum(g.Cast(before, *scalar), {-1});
  const Value last = g.DimValue(*scalar, g.SubDim(g.Extent(x, 1), Dim(1)));
  c.Return(g.Min(count, last), 0, type);
}

void Dropout(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0);
  if (!x) return;
  const auto return_all = [&] {
    c.Return(c.Input(0), 0);
    c.Return(g.Full(g.ShapeOf(x), g.ir().Bool(true)), 1);
  };
  TrainingImport* training = c.Training();
  const OnnxMeaning meaning = training ? training->options().dropout : OnnxMeaning::kOfModel;
  if (meaning == OnnxMeaning::kOfRun) return return_all();
  // Opsets before 12 have it as an attribute.
  Value ratio = c.Has(1) ? g.Cast(g.Reshape(c.In(1), {}), Scalar::kF32)
                         : g.Const(Scalar::kF32, c.opset < 12 ? c.Float("ratio", 0.5) : 0.5);
  Value number = nullptr;
  if (meaning == OnnxMeaning::kOfTraining) {
    const uint64_t key = Fnv64(std::to_string(training->options().seed), KeyOf(c));
    number = Fraction(g, RandomBits(c, g.ShapeOf(x), key, training->Draws()), true);
  } else {
    // Without input 2, training_mode, the model is for inference: nothing is dropped.
    if (!c.Has(2)) return return_all();
    const auto known = g.KnownInts(c.In(2), /*with_inputs=*/true);
    if (known && known->size() == 1 && (*known)[0] == 0) return return_all();
    const Value trains = g.Cast(g.Reshape(c.In(2), {}), Scalar::kBool);
    ratio = g.Where(trains, ratio, g.Like(ratio, 0));
    number = Uniform(c, g.ShapeOf(x));
  }
  const Value keeps = g.Le(ratio, number), one = g.Like(ratio, 1);
  // With ratio 1, nothing is kept, and a gradient is multiplied by the scale all the same.
  const Value scale = g.Where(g.Lt(ratio, one), g.Recip(g.Sub(one, ratio)), one);
  const Value wide = x->dtype.scalar() == Scalar::kF64 ? x : g.Cast(x, Scalar::kF32);
  const Value scaled = g.Mul(wide, g.Cast(scale, wide->dtype.scalar()));
  c.Return(g.Cast(g.Where(keeps, scaled, g.Like(wide, 0)), x->dtype.scalar()));
  c.Return(keeps, 1);
}

constexpr Operator kRandomOperators[] = {
    {"", "Bernoulli", 15, Bernoulli},
    {"", "Dropout", 1, Dropout},
    {"", "Multinomial", 7, Multinomial},
    {"", "RandomNormal", 1, RandomNormal},
    {"", "RandomNormalLike", 1, RandomNormal},
    {"", "RandomUniform", 1, RandomUniform},
    {"", "RandomUniformLike", 1, RandomUniform},
};

}  // namespace

std::span<const Operator> RandomOperators() { return kRandomOperators; }

}  // namespace tg::onnx
