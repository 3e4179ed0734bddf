// Preprocessing and linear models of classical machine learning.
#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/classes.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/operators.h"
#include "ir/value.h"

namespace tg::onnx {
namespace {

Value Vector(GraphBuilder& g, Scalar type, std::span<const float> numbers) {
  Ints bits;
  for (const float v : numbers) bits.push_back(BitsFromDouble(type, v));
  return g.Constant(type, {static_cast<int64_t>(numbers.size())}, std::move(bits));
}

// An operator of numbers whose result is float.
Value Floats(NodeContext& c, size_t i) { return c.g.Cast(c.In(i), Scalar::kF32); }

void ArrayFeatureExtractor(NodeContext& c) {
  const Value x = c.In(0), indices = c.In(1);
  if (!x || !indices) return;
  const Value flat = c.g.Reshape(indices, {c.g.NumElements(c.g.ShapeOf(indices))});
  const Value y = c.g.Gather(x, flat, -1);
  // A vector counts as a matrix of one row.
  c.Return(c.g.Rank(x) == 1 ? c.g.Unsqueeze(y, 0) : y);
}

void Binarizer(NodeContext& c) {
  const Value x = c.In(0);
  const Value above = c.g.Gt(x, c.g.Like(x, c.Float("threshold", 0)));
  if (above) c.Return(c.g.Cast(above, x->dtype.scalar()));
}

void Scaler(NodeContext& c) {
  const Value x = Floats(c, 0);
  const auto offset = c.Floats("offset"), scale = c.Floats("scale");
  Value y = x;
  if (offset) y = c.g.Sub(y, Vector(c.g, Scalar::kF32, *offset));
  if (scale) y = c.g.Mul(y, Vector(c.g, Scalar::kF32, *scale));
  c.Return(y);
}

void Normalizer(NodeContext& c) {
  const Value x = Floats(c, 0);
  const std::string_view norm = c.String("norm", "MAX");
  Value length = nullptr;
  if (norm == "MAX") {
    length = c.g.Reduce(Op::kMax, x, {-1}, true);
  } else if (norm == "L1") {
    length = c.g.Sum(c.g.Abs(x), {-1}, true);
  } else if (norm == "L2") {
    length = c.g.Sqrt(c.g.Sum(c.g.Mul(x, x), {-1}, true));
  } else {
    c.Fail("the norm '" + std::string(norm) + "'");
    return;
  }
  const Value divisor = c.g.Where(c.g.Eq(length, c.g.Like(x, 0)), c.g.Like(x, 1), length);
  c.Return(c.g.Div(x, divisor));
}

void Imputer(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  Value with = nullptr, replaced = nullptr;
  if (x->dtype.is_float()) {
    if (const auto values = c.Floats("imputed_value_floats")) {
      with = Vector(c.g, x->dtype.scalar(), *values);
    }
    replaced = c.g.Like(x, c.Float("replaced_value_float", 0));
  } else {
    if (const auto values = c.List("imputed_value_int64s")) {
      with = c.g.Constant1D(x->dtype.scalar(), *values);
    }
    replaced = c.g.ConstInt(x->dtype.scalar(), c.Int("replaced_value_int64", 0));
  }
  if (!with) {
    c.Fail("there are no values to put in");
    return;
  }
  // The value to replace may be NaN, which does not compare equal to itself.
  const Value both_nan = c.g.And(c.g.IsNan(x), c.g.IsNan(replaced));
  c.Return(c.g.Where(c.g.Or(c.g.Eq(x, replaced), both_nan), with, x));
}

// The products of the rows of x with each row of the attribute coefficients, plus intercepts.
Value LinearScores(NodeContext& c, Value x, int64_t rows) {
  const auto coefficients = c.Floats("coefficients"), intercepts = c.Floats("intercepts");
  if (!x || !c.g.ok()) return nullptr;
  const auto n = static_cast<int64_t>(coefficients ? coefficients->size() : 0);
  if (rows < 1 || n == 0 || n % rows != 0) {
    return c.Fail(absl::StrCat(n, " coefficients for ", rows, " results"));
  }
  const Value weight =
      c.g.Reshape(Vector(c.g, Scalar::kF32, *coefficients), {Dim(rows), Dim(n / rows)});
  const Value y = c.g.MatMul(x, c.g.SwapAxes(weight, 0, 1));
  return intercepts && !intercepts->empty() ? c.g.Add(y, Vector(c.g, Scalar::kF32, *intercepts))
                                            : y;
}

void LinearRegressor(NodeContext& c) {
  const Value y = LinearScores(c, Floats(c, 0), c.Int("targets", 1));
  c.Return(TransformScores(c, y, c.String("post_transform", "NONE")));
}

void LinearClassifier(NodeContext& c) {
  const Value x = Floats(c, 0);
  const auto coefficients = c.Floats("coefficients");
  if (!x || !coefficients) {
    if (c.g.ok()) c.Fail("there are no coefficients");
    return;
  }
  const Dim features = c.g.Rank(x) == 2 ? c.g.Extent(x, 1) : Dim(0);
  if (features.is_symbolic() || features.Is(0)) {
    c.Fail("an input that is no matrix of a known number of columns, " + c.g.Describe(x));
    return;
  }
  const auto n = static_cast<int64_t>(coefficients->size());
  const Value scores = LinearScores(c, x, n % features.value() ? 0 : n / features.value());
  ReturnClasses(c, scores, c.List("classlabels_ints").value_or(Ints()), {0, true});
}

void FeatureVectorizer(NodeContext& c) {
  std::vector<Value> parts;
  for (size_t i = 0; i < c.num_inputs(); ++i) {
    const Value x = Floats(c, i);
    parts.push_back(x && c.g.Rank(x) == 1 ? c.g.Unsqueeze(x, 0) : x);
  }
  c.Return(c.g.Concat(parts, 1));
}

// The numbers in attribute `<what>_int64s`, `<what>_floats` or `<what>_tensor`, as a vector. Null
// if there is none of them.
Value Listed(NodeContext& c, const std::string& what) {
  if (const auto ints = c.List(what + "_int64s")) return c.g.Constant1D(Scalar::kI64, *ints);
  if (const auto floats = c.Floats(what + "_floats")) return Vector(c.g, Scalar::kF32, *floats);
  const Attribute* a = c.Find(what + "_tensor", AttributeType::kTensor);
  return a && a->tensor ? c.Import(*a->tensor).value : nullptr;
}

// The value in the place of each element's key.
void LabelEncoder(NodeContext& c) {
  GraphBuilder& g = c.g;
  const Value x = c.In(0), keys = Listed(c, "keys"), values = Listed(c, "values");
  if (!x || !g.ok()) return;
  if (!keys || !values || g.ShapeOf(keys) != g.ShapeOf(values) || keys->dtype != x->dtype) {
    c.Fail("keys of the input's type and as many values, all of them numbers, are needed");
    return;
  }
  Value otherwise = Listed(c, "default");
  if (otherwise) {
    otherwise = g.Reshape(otherwise, {});
  } else {
    otherwise = values->dtype.is_float()
                    ? g.Like(values, c.Float("default_float", -0.0f))
                    : g.Like(values, static_cast<double>(c.Int("default_int64", -1)));
  }
  const Value each = g.Unsqueeze(x, -1);
  // NaN is a key too.
  const Value match = g.Or(g.Eq(each, keys), g.And(g.IsNan(each), g.IsNan(keys)));
  // If a key is listed twice, its first value counts.
  const Value before = g.CumulativeSum(g.Cast(match, Scalar::kI32), -1, /*exclusive=*/true, false);
  const Value first = g.And(match, g.Eq(before, g.Like(before, 0)));
  const Value found = g.Sum(g.Where(first, values, g.Like(values, 0)), {-1});
  c.Return(g.Where(g.Reduce(Op::kOr, match, {-1}), found, otherwise));
}

// One where the element is the category, for each category.
void OneHotEncoder(NodeContext& c) {
  const Value x = c.In(0);
  const auto categories = c.List("cats_int64s");
  if (!x || !categories) {
    c.Fail("categories that are no integers");
    return;
  }
  const Value each = c.g.Unsqueeze(c.g.Cast(x, Scalar::kI64), -1);
  c.Return(c.g.Cast(c.g.Eq(each, c.g.Constant1D(Scalar::kI64, *categories)), Scalar::kF32));
}

// The n-grams of one length n: their items, n each, and where their counts go.
struct Grams {
  std::vector<Ints> items;
  Ints outputs;
};

// Counts each of the n-grams in the rows of x, [rows, length], with `distance` between neighbouring
// items: [rows, 1, n-grams]. Null if the rows are too short.
Value CountGrams(GraphBuilder& g, Value x, const Grams& grams, int64_t n, int64_t distance) {
  const int64_t starts = g.Extent(x, 1).value() - (n - 1) * distance;
  if (starts <= 0) return nullptr;
  Value found = nullptr;
  for (int64_t k = 0; k < n; ++k) {
    Ints column;
    for (const Ints& gram : grams.items) column.push_back(gram[static_cast<size_t>(k)]);
    const Value part = g.Slice(x, 1, k * distance, k * distance + starts);
    const Value same = g.Eq(g.Unsqueeze(part, 2), g.Constant1D(Scalar::kI64, column));
    found = found ? g.And(found, same) : same;
  }
  return g.Sum(g.Cast(found, Scalar::kF32), {1}, /*keep=*/true);
}

void TfIdfVectorizer(NodeContext& c) {
  GraphBuilder& g = c.g;
  Value x = c.In(0);
  const auto pool = c.List("pool_int64s"), starts = c.List("ngram_counts");
  const auto outputs = c.List("ngram_indexes");
  const std::string_view mode = c.String("mode", "");
  if (!x || !pool || !starts || !outputs || outputs->empty()) {
    c.Fail("n-grams that are no integers");
    return;
  }
  if (g.Rank(x) > 2 || g.Rank(x) < 1 ||
      g.Extent(x, -1 + static_cast<int64_t>(g.Rank(x))).is_symbolic()) {
    c.Fail("rows " + g.Describe(x));
    return;
  }
  const bool is_vector = g.Rank(x) == 1;
  x = g.Cast(is_vector ? g.Unsqueeze(x, 0) : x, Scalar::kI64);
  const int64_t least = c.Int("min_gram_length", 1), most = c.Int("max_gram_length", 1);
  const int64_t skips = c.Int("max_skip_count", 0);
  const auto [first, last] = std::minmax_element(outputs->begin(), outputs->end());
  if (skips > kMaxUnrolledIterations || most > kMaxUnrolledIterations || *first < 0 ||
      *last >= kMaxTableElements) {
    c.Fail("skips, lengths of n-grams or ngram_indexes beyond their limits");
    return;
  }
  const int64_t size = *last + 1;
  const Value zeros = g.Full({g.Extent(x, 0), Dim(size)}, g.Const(Scalar::kF32, 0));
  Value counts = zeros;
  size_t gram = 0;  // its number among all n-grams
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto n = static_cast<int64_t>(i) + 1;
    const int64_t begin = (*starts)[i];
    const int64_t end =
        i + 1 < starts->size() ? (*starts)[i + 1] : static_cast<int64_t>(pool->size());
    if (begin < 0 || begin > end || end > static_cast<int64_t>(pool->size()) || (end - begin) % n) {
      c.Fail(absl::StrCat("ngram_counts that do not divide the pool of ", pool->size()));
      return;
    }
    // One that is listed twice counts for its last output.
    std::map<Ints, int64_t> by_items;
    for (int64_t at = begin; at < end; at += n, ++gram) {
      if (gram >= outputs->size() || (*outputs)[gram] < 0) {
        c.Fail("ngram_indexes of another number of n-grams");
        return;
      }
      by_items[Ints(pool->begin() + at, pool->begin() + at + n)] = (*outputs)[gram];
    }
    if (n < least || n > most || by_items.empty()) continue;
    Grams grams;
    for (const auto& [items, output] : by_items) {
      grams.items.push_back(items);
      grams.outputs.push_back(output);
    }
    const Value places = g.Eq(g.Unsqueeze(g.Arange(Scalar::kI64, Dim(size)), 1),
                              g.Constant1D(Scalar::kI64, grams.outputs));
    // Single items have no neighbours, so they count once.
    for (int64_t distance = 1; distance <= (n == 1 ? 1 : skips + 1); ++distance) {
      const Value found = CountGrams(g, x, grams, n, distance);
      if (!found) continue;
      counts = g.Add(counts, g.Sum(g.Where(places, found, g.Like(found, 0)), {2}));
    }
  }
  if (mode == "IDF") {
    counts = g.Cast(g.Gt(counts, g.Like(counts, 0)), Scalar::kF32);
  }
  const auto weights = c.Floats("weights");
  if (mode != "TF" && weights && !weights->empty()) {
    if (static_cast<int64_t>(weights->size()) != size) {
      c.Fail(absl::StrCat(weights->size(), " weights for ", size, " outputs"));
      return;
    }
    counts = g.Mul(counts, Vector(g, Scalar::kF32, *weights));
  }
  c.Return(is_vector ? g.Squeeze(counts, 0) : counts);
}

constexpr Operator kMachineLearningOperators[] = {
    {"", "TfIdfVectorizer", 9, TfIdfVectorizer},
    {"ai.onnx.ml", "ArrayFeatureExtractor", 1, ArrayFeatureExtractor},
    {"ai.onnx.ml", "Binarizer", 1, Binarizer},
    {"ai.onnx.ml", "FeatureVectorizer", 1, FeatureVectorizer},
    {"ai.onnx.ml", "Imputer", 1, Imputer},
    {"ai.onnx.ml", "LabelEncoder", 2, LabelEncoder},
    {"ai.onnx.ml", "LinearClassifier", 1, LinearClassifier},
    {"ai.onnx.ml", "LinearRegressor", 1, LinearRegressor},
    {"ai.onnx.ml", "Normalizer", 1, Normalizer},
    {"ai.onnx.ml", "OneHotEncoder", 1, OneHotEncoder},
    {"ai.onnx.ml", "Scaler", 1, Scaler},
};

}  // namespace

std::span<const Operator> MachineLearningOperators() { return kMachineLearningOperators; }

}  // namespace tg::onnx
