// Operators of ONNX that reduce or scan an axis of floats, against sums in long double: on rows
// with NaN, infinities, zeros of both signs, subnormal numbers, and numbers that are equal.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "gtest/gtest.h"
#include "ir/float_format.h"
#include "ir/value.h"
#include "tools/accuracy/operator_cases.h"
#include "tools/accuracy/test_evaluator.h"

namespace tg::accuracy {
namespace {

using Real = long double;
using Row = std::vector<Real>;

constexpr int64_t kColumns = 70;  // more than two blocks of a cumulative sum
constexpr Real kInf = std::numeric_limits<Real>::infinity();

// What a row gives: numbers, and how far a result may be from each, before it is rounded to the
// type, in units of the precision that tg computes in (that of f32 or f64).
struct Expected {
  Row values, tolerances;
  void Add(Real value, Real tolerance) {
    values.push_back(value);
    tolerances.push_back(tolerance);
  }
};

Real Sum(const Row& row, Real (*f)(Real)) {
  Real sum = 0;
  for (const Real v : row) sum += f(v);
  return sum;
}
Real Itself(Real v) { return v; }
Real Magnitude(Real v) { return std::fabs(v); }
Real Square(Real v) { return v * v; }
bool IsNan(Real v) { return std::isnan(v); }
Real Greatest(const Row& row) {
  Real most = -kInf;
  for (const Real v : row) most = IsNan(v) || IsNan(most) ? NAN : std::max(most, v);
  return most;
}
Row Negated(Row row) {
  for (Real& v : row) v = -v;
  return row;
}

// NaN is greater than any number.
bool Before(Real a, Real b, bool descending) {
  if (IsNan(a) || IsNan(b)) return descending ? IsNan(a) && !IsNan(b) : IsNan(b) && !IsNan(a);
  return descending ? b < a : a < b;
}
// The indices of a row's elements, sorted.
std::vector<size_t> Order(const Row& row, bool descending) {
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return Before(row[a], row[b], descending); });
  return order;
}
// numpy's: the first element that is greatest or NaN, or the last one.
Real IndexOfGreatest(const Row& row, bool last) {
  const Real most = Greatest(row);
  Real at = -1;
  for (size_t i = 0; i < row.size() && (last || at < 0); ++i) {
    if (IsNan(most) ? IsNan(row[i]) : row[i] == most) at = static_cast<Real>(i);
  }
  return at;
}

// log(sum(exp(row)))
Real LogSumExp(const Row& row) {
  Real most = Greatest(row), sum = 0;
  if (std::isinf(most)) most = 0;
  for (const Real v : row) sum += std::exp(v - most);
  return std::log(sum) + most;
}

struct Reducing {
  std::string name, op;
  std::vector<std::pair<std::string, int64_t>> attributes;
  Expected (*expected)(const Row& row);
  bool keeps_axis = false;
  int64_t constant = -1;  // of input 1: axes, an axis, or a count
  size_t outputs = 1, output = 0;
  bool positive = false;  // of rows whose sums have no sign that rounding decides
};

template <bool exclusive, bool reverse, bool multiplies>
Expected Cumulative(const Row& row) {
  Expected e;
  e.values.resize(row.size());
  e.tolerances.resize(row.size());
  Real sum = multiplies ? 1 : 0, scale = sum;
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t at = reverse ? row.size() - 1 - i : i;
    const auto step = [&] {
      sum = multiplies ? sum * row[at] : sum + row[at];
      scale = multiplies ? sum : scale + std::fabs(row[at]);
    };
    if (!exclusive) step();
    e.values[at] = sum;
    e.tolerances[at] = kColumns * std::fabs(scale);
    if (exclusive) step();
  }
  return e;
}

template <bool largest, int count, bool indices>
Expected TopK(const Row& row) {
  Expected e;
  const std::vector<size_t> order = Order(row, largest);
  for (size_t i = 0; i < count; ++i) {
    e.Add(indices ? static_cast<Real>(order[i]) : row[order[i]], 0);
  }
  return e;
}

template <bool least, bool last>
Expected ArgMost(const Row& row) {
  Expected e;
  e.Add(IndexOfGreatest(least ? Negated(row) : row, last), 0);
  return e;
}

Expected One(Real value, Real tolerance) { return {{value}, {tolerance}}; }

const Reducing kReducing[] = {
    {"ArgMax", "ArgMax", {}, ArgMost<false, false>},
    {"ArgMaxLast", "ArgMax", {{"select_last_index", 1}}, ArgMost<false, true>},
    {"ArgMin", "ArgMin", {}, ArgMost<true, false>},
    {"ArgMinLast", "ArgMin", {{"select_last_index", 1}}, ArgMost<true, true>},
    {"CumProd", "CumProd", {}, Cumulative<false, false, true>, true, 1},
    {"CumSum", "CumSum", {}, Cumulative<false, false, false>, true, 1},
    {"CumSumExclusive", "CumSum", {{"exclusive", 1}}, Cumulative<true, false, false>, true, 1},
    {"CumSumReverse", "CumSum", {{"reverse", 1}}, Cumulative<false, true, false>, true, 1},
    {"Hardmax",
     "Hardmax",
     {},
     [](const Row& row) {
       Expected e;
       const Real at = IndexOfGreatest(row, false);
       for (size_t i = 0; i < row.size(); ++i) e.Add(static_cast<Real>(i) == at ? 1 : 0, 0);
       return e;
     },
     true},
    {"LogSoftmax",
     "LogSoftmax",
     {},
     [](const Row& row) {
       Expected e;
       const Real most = Greatest(row), sum = LogSumExp(row);
       for (const Real v : row) {
         // inf - inf, where the maximum is infinite
         e.Add(std::isinf(most) ? (most > 0 && std::isfinite(v) ? -kInf : NAN) : v - sum,
               16 + 4 * std::fabs(v - sum));
       }
       if (std::isinf(most)) std::fill(e.values.begin(), e.values.end(), NAN);
       return e;
     },
     true},
    {"ReduceL1",
     "ReduceL1",
     {},
     [](const Row& row) { return One(Sum(row, Magnitude), kColumns * Sum(row, Magnitude)); },
     false,
     1},
    {"ReduceL2",
     "ReduceL2",
     {},
     [](const Row& row) {
       const Real norm = std::sqrt(Sum(row, Square));
       return One(norm, kColumns * norm);
     },
     false,
     1},
    {"ReduceLogSum",
     "ReduceLogSum",
     {},
     [](const Row& row) {
       const Real value = std::log(Sum(row, Itself));
       return One(value, kColumns + 4 * std::fabs(value));
     },
     false,
     1,
     1,
     0,
     true},
    {"ReduceLogSumExp",
     "ReduceLogSumExp",
     {},
     [](const Row& row) {
       const Real value = LogSumExp(row);
       return One(value, kColumns + 4 * std::fabs(value));
     },
     false,
     1},
    {"ReduceMax", "ReduceMax", {}, [](const Row& row) { return One(Greatest(row), 0); }, false, 1},
    {"ReduceMean",
     "ReduceMean",
     {},
     [](const Row& row) { return One(Sum(row, Itself) / kColumns, Sum(row, Magnitude)); },
     false,
     1},
    {"ReduceMin",
     "ReduceMin",
     {},
     [](const Row& row) { return One(-Greatest(Negated(row)), 0); },
     false,
     1},
    {"ReduceProd",
     "ReduceProd",
     {},
     [](const Row& row) {
       Real product = 1;
       for (const Real v : row) product *= v;
       return One(product, kColumns * std::fabs(product));
     },
     false,
     1},
    {"ReduceSum",
     "ReduceSum",
     {},
     [](const Row& row) { return One(Sum(row, Itself), kColumns * Sum(row, Magnitude)); },
     false,
     1},
    {"ReduceSumSquare",
     "ReduceSumSquare",
     {},
     [](const Row& row) { return One(Sum(row, Square), kColumns * Sum(row, Square)); },
     false,
     1},
    {"Softmax",
     "Softmax",
     {},
     [](const Row& row) {
       Expected e;
       const Real most = Greatest(row), sum = LogSumExp(row);
       for (const Real v : row) {
         const Real share = std::isinf(most) ? NAN : std::exp(v - sum);
         // The exponent is rounded in units of its size.
         e.Add(share, share == 0 ? 0 : share * (16 + 4 * std::fabs(v - most)));
       }
       return e;
     },
     true},
    {"TopKFew", "TopK", {}, TopK<true, 3, false>, true, 3, 2, 0},
    {"TopKFewIndices", "TopK", {}, TopK<true, 3, true>, true, 3, 2, 1},
    {"TopKLeast", "TopK", {{"largest", 0}}, TopK<false, 5, false>, true, 5, 2, 0},
    {"TopKLeastIndices", "TopK", {{"largest", 0}}, TopK<false, 5, true>, true, 5, 2, 1},
    {"TopKMany", "TopK", {}, TopK<true, 20, false>, true, 20, 2, 0},
    {"TopKManyIndices", "TopK", {}, TopK<true, 20, true>, true, 20, 2, 1},
    {"TopKAllLeast", "TopK", {{"largest", 0}}, TopK<false, 70, false>, true, 70, 2, 0},
    {"TopKAllLeastIndices", "TopK", {{"largest", 0}}, TopK<false, 70, true>, true, 70, 2, 1},
};

// Rows of random numbers; most hold special values too.
std::vector<Row> MakeRows(Scalar s, bool positive, bool multiplies) {
  const double nan = NAN, inf = HUGE_VAL, tiny = DoubleFromBits(s, 3);
  // Products of a part of the row, in another order, may overflow.
  const double greatest = multiplies ? 2 : DoubleFromBits(s, MaxValue(s) - 1);
  const std::vector<std::vector<double>> specials = {
      {},          {nan},      {nan, nan, nan}, {inf},           {-inf},
      {inf, -inf}, {nan, inf}, {nan, -inf},     {0.0},           {-0.0, 0.0},
      {greatest},  {tiny},     {-tiny, tiny},   {inf, inf, inf}, {-inf, -inf},
      {0.0, inf},  {0.0, nan}, {-greatest},     {inf, greatest}, {},
  };
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> number(positive ? 0.25 : -1.25, 1.25);
  std::vector<Row> rows;
  const auto rounded = [&](double v) { return Real{DoubleFromBits(s, BitsFromDouble(s, v))}; };
  for (const std::vector<double>& special : specials) {
    Row& row = rows.emplace_back();
    for (int64_t i = 0; i < kColumns; ++i) row.push_back(rounded(number(random)));
    for (const double v : special) row[random() % row.size()] = rounded(v);
  }
  // Equal elements, at both ends too; and rows of one value.
  Row& few = rows.emplace_back();
  for (int64_t i = 0; i < kColumns; ++i) few.push_back(static_cast<Real>(random() % 3) + 1);
  for (const double v : {0.0, -0.0, inf, -inf, nan, 1.0, tiny}) {
    rows.emplace_back(static_cast<size_t>(kColumns), rounded(v));
  }
  return rows;
}

class Reduces : public testing::TestWithParam<Reducing> {};

TEST_P(Reduces, AsDefined) {
  const Reducing& r = GetParam();
  for (const Scalar s : kTestedTypes) {
    const std::vector<Row> rows = MakeRows(s, r.positive, r.op.ends_with("Prod"));
    const auto count = static_cast<int64_t>(rows.size());
    OnnxNode node{"", r.op, r.attributes};
    node.inputs = {"x"};
    node.outputs = {"r"};
    if (r.outputs == 2) node.outputs = {"values", "indices"};
    if (r.op.starts_with("Arg") || r.op.ends_with("ax")) {
      if (!r.op.starts_with("Reduce")) node.attributes.emplace_back("axis", 1);
    }
    if (!r.keeps_axis) node.attributes.emplace_back("keepdims", 0);
    std::vector<Evaluator::NodeData> inputs{{{"x", s, {count, kColumns}}, {}}};
    for (const Row& row : rows) {
      for (const Real v : row) inputs[0].bits.push_back(BitsFromDouble(s, static_cast<double>(v)));
    }
    if (r.constant >= 0) {
      node.inputs.push_back("n");
      inputs.push_back({{"n", Scalar::kI64, {1}, {r.constant}}, {}});
    }
    // Floats of 16 bits are computed in f32.
    const bool is_f64 = s == Scalar::kF64;
    const Real epsilon = is_f64 ? 0x1p-52L : 0x1p-23L, least = is_f64 ? 0x1p-1022L : 0x1p-126L;
    const Real greatest =
        is_f64 ? Real{std::numeric_limits<double>::max()} : Real{std::numeric_limits<float>::max()};
    const FloatFormat format = FormatOf(s);
    for (const Implementation& by : kTestedImplementations) {
      const auto results = TestEvaluator().RunNode(node, inputs, by);
      ASSERT_TRUE(results.ok()) << results.status().message();
      const interpret::HostBuffer& y = (*results)[r.output];
      const bool is_index = y.dtype == DType(Scalar::kI64);
      size_t at = 0;
      for (size_t k = 0; k < rows.size(); ++k) {
        const Expected e = r.expected(rows[k]);
        for (size_t i = 0; i < e.values.size(); ++i, ++at) {
          ASSERT_LT(at, y.data.size());
          const double got = DoubleFromBits(y.dtype.scalar(), y.data[at]);
          Real want = e.values[i];
          // Squares overflow in the type that computes them.
          if (r.op == "ReduceL2" && Square(want) > greatest) want = kInf;
          const Real unit = std::ldexp(
              Real{1}, std::max<int>(want == 0 || !std::isfinite(want) ? format.min_exponent()
                                                                       : std::ilogb(want),
                                     format.min_exponent()) -
                           format.mantissa_bits);
          Real tolerance = e.tolerances[i] * epsilon + (e.tolerances[i] == 0 ? 0 : unit * 0.51L);
          // Numbers whose squares underflow.
          if (r.op == "ReduceL2") tolerance += std::sqrt(least * kColumns);
          if (!is_index && std::isfinite(want)) {
            const double as_type = DoubleFromBits(s, BitsFromDouble(s, static_cast<double>(want)));
            if (std::isinf(as_type)) want = as_type;
          }
          const bool same = IsNan(want)        ? std::isnan(got)
                            : std::isinf(want) ? got == static_cast<double>(want)
                                               : std::fabs(got - want) <= tolerance;
          EXPECT_TRUE(same) << GetScalarInfo(s).text << " by " << by.Name() << ": row " << k
                            << " element " << i << " is " << got << ", not "
                            << static_cast<double>(want) << " within "
                            << static_cast<double>(tolerance);
          if (!same) return;
        }
      }
      EXPECT_EQ(at, y.data.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Reduces, testing::ValuesIn(kReducing),
                         [](const auto& info) { return info.param.name; });

}  // namespace

std::set<std::string> ReducingOperators() {
  std::set<std::string> names;
  for (const Reducing& r : kReducing) names.insert(":" + r.op);
  return names;
}

}  // namespace tg::accuracy
