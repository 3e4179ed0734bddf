// GraphBuilder: numpy-like operations over the IR, for importers.
//
// The shape rule of each operation is defined only here. Operands broadcast by numpy's rule;
// extents may be symbolic. Elementwise operations require operands of one type (Promote converts
// them).
//
// Errors are sticky. An operation whose operands do not fit returns null and records the reason; an
// operation on a null operand returns null. Callers check ok() at places where a message can name
// the part of the model, so that the code in between reads like algebra.
#ifndef TG_FRONTEND_COMMON_GRAPH_BUILDER_H_
#define TG_FRONTEND_COMMON_GRAPH_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/common/known.h"
#include "ir/builder.h"
#include "ir/dim.h"
#include "ir/module.h"
#include "ir/shape.h"

namespace tg::frontend {

using Value = const UOp*;  // null: there was an error
using Ints = std::vector<int64_t>;

// How Pad fills.
enum class PadMode { kConstant, kReflect, kEdge, kWrap };

class GraphBuilder {
 public:
  // A tensor of more elements is an error.
  static constexpr int64_t kMaxElements = int64_t{1} << 48;

  // Adds nodes to `body` and constants to `module`; both outlive the builder.
  GraphBuilder(Module& module, Body& body);

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  void ClearError() { error_.clear(); }
  // Records the first error; returns null.
  Value Fail(std::string why);

  Module& module() { return module_; }
  Builder& ir() { return ir_; }
  // [] for null, the result of an error.
  const Shape& ShapeOf(Value x);
  size_t Rank(Value x) { return ShapeOf(x).size(); }
  // If x has no such axis: 1, and an error.
  Dim Extent(Value x, int64_t axis);
  // "f32[2, n]".
  std::string Describe(Value x);

  // ---- Leaves
  Value Const(Scalar type, double v) { return ir_.Const(type, v); }
  Value ConstInt(Scalar type, int64_t v) { return ir_.ConstInt(type, v); }
  // A scalar of x's type.
  Value Like(Value x, double v) { return x ? ir_.Const(x->dtype, v) : nullptr; }
  // Every element is this scalar.
  Value Full(const Shape& shape, Value scalar);
  // A constant with these elements (bits as in ir/value.h, row-major). If all elements are equal it
  // is an expanded scalar, otherwise a param whose values are in the module's text.
  Value Constant(Scalar type, const Ints& shape, Ints bits);
  // A buffer of the module that is declared like this, under a symbol made of `name`.
  Value Declare(std::string_view name, BufferDecl decl);
  // Names a value that has no name yet, for messages and the text.
  void SetName(Value x, std::string_view name);
  // Body::SetOrigin by the origin's text.
  void SetOrigin(uint32_t first, std::string_view origin);
  // Gives a copy of node `from` in another body its name and origin.
  void CopyNames(Value from, Body& body, const UOp* copy);
  Value Constant1D(Scalar type, const Ints& numbers);
  // 0, 1, ..., n-1 in this type, of shape [n].
  Value Arange(Scalar type, const Dim& n);
  // An extent as a scalar of this type, and several extents as a vector.
  Value DimValue(Scalar type, const Dim& d);
  Value DimVector(Scalar type, const Shape& dims);

  // ---- Elementwise
  Value Unary(Op op, Value x);
  Value Binary(Op op, Value a, Value b);
  Value Where(Value condition, Value a, Value b);
  Value Cast(Value x, Scalar type);
  Value Bitcast(Value x, Scalar type);
  // Converts both operands to a common type by numpy's promotion, except that an integer takes the
  // float type of the other operand, whatever its width.
  std::pair<Value, Value> Promote(Value a, Value b);

  Value Add(Value a, Value b) { return Binary(Op::kAdd, a, b); }
  Value Sub(Value a, Value b) { return Binary(Op::kSub, a, b); }
  Value Mul(Value a, Value b) { return Binary(Op::kMul, a, b); }
  Value Div(Value a, Value b);  // floats: quotient; integers: truncates
  Value Max(Value a, Value b) { return Binary(Op::kMax, a, b); }
  Value Min(Value a, Value b) { return Binary(Op::kMin, a, b); }
  Value And(Value a, Value b) { return Binary(Op::kAnd, a, b); }
  Value Or(Value a, Value b) { return Binary(Op::kOr, a, b); }
  Value Xor(Value a, Value b) { return Binary(Op::kXor, a, b); }
  Value Lt(Value a, Value b) { return Binary(Op::kCmpLt, a, b); }
  Value Gt(Value a, Value b) { return Binary(Op::kCmpLt, b, a); }
  Value Le(Value a, Value b);  // false on NaN
  Value Ge(Value a, Value b) { return Le(b, a); }
  Value Ne(Value a, Value b) { return Binary(Op::kCmpNe, a, b); }
  Value Eq(Value a, Value b) { return Not(Ne(a, b)); }
  Value Not(Value x);
  Value Neg(Value x) { return Unary(Op::kNeg, x); }
  Value Recip(Value x) { return Unary(Op::kRecip, x); }
  Value Sqrt(Value x) { return Unary(Op::kSqrt, x); }
  Value Trunc(Value x) { return Unary(Op::kTrunc, x); }

  // elementwise.cc, float_functions.cc. Functions of floats; those of f16 and bf16 compute in f32.
  Value Abs(Value x);
  Value CopySign(Value magnitude, Value sign);
  Value Sign(Value x);
  Value Floor(Value x);
  Value Ceil(Value x);
  Value Round(Value x);  // to even
  Value Exp(Value x);
  Value Log(Value x);
  Value Log1p(Value x);
  Value Expm1(Value x);
  Value Sin(Value x);
  Value Cos(Value x);
  Value Tan(Value x);
  Value Asin(Value x);
  Value Acos(Value x);
  Value Atan(Value x);
  Value Sinh(Value x);
  Value Cosh(Value x);
  Value Tanh(Value x);
  Value Asinh(Value x);
  Value Acosh(Value x);
  Value Atanh(Value x);
  Value Erf(Value x);
  Value Sigmoid(Value x);
  Value Softplus(Value x);
  Value Relu(Value x) { return Max(x, Like(x, 0)); }
  Value Gelu(Value x);      // by erf
  Value GeluTanh(Value x);  // by tanh
  Value Pow(Value a, Value b);
  // The exact remainder of floats, as C's fmod: of a's sign (remainder.cc).
  Value Fmod(Value a, Value b);
  Value IsNan(Value x) { return Ne(x, x); }
  Value IsInf(Value x, bool positive = true, bool negative = true);
  Value Clip(Value x, Value low, Value high);  // null bounds are none

  // x, stored in a buffer, so that its uses read it instead of recomputing it.
  // Its source, for derivatives a constant.
  Value Detach(Value x) { return x ? ir_.Alu(Op::kDetach, {x}) : nullptr; }
  Value Stored(Value x) { return x ? ir_.Alu(Op::kContiguous, {x}) : nullptr; }

  // ---- Movement. Negative axes count from the end.
  std::optional<int64_t> Axis(int64_t axis, size_t rank);  // outside of the rank: none and an error
  Value Reshape(Value x, const Shape& shape);
  // Broadcasts to this shape by numpy's rule: prepends axes and repeats axes of extent 1.
  Value BroadcastTo(Value x, const Shape& shape);
  // The common shape by numpy's rule.
  std::optional<Shape> BroadcastShapes(std::span<const Value> values);
  Value Permute(Value x, const Ints& order);
  Value SwapAxes(Value x, int64_t a, int64_t b);
  Value Unsqueeze(Value x, int64_t axis);
  Value Squeeze(Value x, int64_t axis);
  // Joins axes [first, last) into one.
  Value Flatten(Value x, int64_t first, int64_t last);
  Value Flip(Value x, const Ints& axes);
  // Elements start, start + step, ... before `stop` of an axis; 0 <= start, stop <= extent; step
  // >= 1.
  Value Slice(Value x, int64_t axis, const Dim& start, const Dim& stop, int64_t step = 1);
  // (before, after) of each axis; negative numbers crop.
  Value Pad(Value x, const std::vector<std::pair<Dim, Dim>>& widths, Value fill = nullptr,
            PadMode mode = PadMode::kConstant);
  Value Concat(std::span<const Value> values, int64_t axis);
  // Along a new axis.
  Value Stack(std::span<const Value> values, int64_t axis);
  Value Tile(Value x, const Ints& repeats);
  // Repeats each element of an axis `times` times in a row.
  Value RepeatInterleave(Value x, int64_t axis, int64_t times);

  // ---- Reductions (reduce.cc). Sums of f16 and bf16 are taken in f32.
  Value Reduce(Op op, Value x, const Ints& axes, bool keep = false);
  Value Sum(Value x, const Ints& axes, bool keep = false) {
    return Reduce(Op::kAdd, x, axes, keep);
  }
  Value Mean(Value x, const Ints& axes, bool keep = false);
  Value Softmax(Value x, int64_t axis);
  Value LogSoftmax(Value x, int64_t axis);
  Value LogSumExp(Value x, const Ints& axes, bool keep = false);
  // (x - mean) / sqrt(variance + epsilon) over the axes.
  Value Normalize(Value x, const Ints& axes, double epsilon);
  // The index of the first (or last) greatest element along an axis, in i64.
  Value ArgMax(Value x, int64_t axis, bool keep, bool last = false);
  // Element i: the elements up to i combined (exclusive: before i; reverse: from i on).
  Value Cumulative(Op op, Value x, int64_t axis, bool exclusive, bool reverse);
  Value CumulativeSum(Value x, int64_t axis, bool exclusive, bool reverse) {
    return Cumulative(Op::kAdd, x, axis, exclusive, reverse);
  }
  // The values sorted along an axis, or only the first `count` of them, and the index (i64) of each
  // before sorting. The sort is stable.
  std::pair<Value, Value> Sort(Value x, int64_t axis, bool descending,
                               std::optional<int64_t> count = std::nullopt);

  // ---- Contractions (contraction.cc). Products of f16 and bf16 are summed in f32.
  Value MatMul(Value a, Value b);
  Value Einsum(std::string_view equation, std::span<const Value> operands);

  // ---- Windows (window.cc). x: [batch, channels, spatial...].
  struct Window {
    Ints kernel, strides, dilations;
    Shape pads_begin, pads_end;
  };
  // The windows over the last axes, as [..., out..., kernel...]. Padding has the value `fill`.
  Value Windows(Value x, const Window& window, Value fill);
  // The transpose of Windows: adds the elements of [..., out..., kernel...] to their positions in
  // [..., extents...].
  Value FoldWindows(Value windows, const Window& window, const Shape& extents);
  // weight: [out channels, channels / groups, kernel...]; bias: [out channels] or null.
  Value Conv(Value x, Value weight, Value bias, const Window& window, int64_t groups);
  // weight: [channels, out channels / groups, kernel...].
  Value ConvTranspose(Value x, Value weight, Value bias, const Window& window,
                      const Ints& output_padding, int64_t groups);
  // `conv` * scale + shift, for a result of Conv or ConvTranspose, as a convolution whose weight is
  // scaled and whose bias is shifted; scale and shift have an element a filter. Null, and no error,
  // where that does not pay or changes more than rounding: if one of the factors depends on an
  // input, or the type is narrower than f32. `conv` is computed as well if anything else reads it.
  Value ScaleConv(Value conv, Value scale, Value shift);

  // ---- Elements by index (gather.cc). Indices are integers; negative ones count from the end.
  Value Gather(Value x, Value indices, int64_t axis);
  // out[i][j] = x[indices[i][j]][j] for axis 0; shapes as ONNX's GatherElements.
  Value GatherElements(Value x, Value indices, int64_t axis);
  Value GatherNd(Value x, Value indices, int64_t batch_dims);
  // x with the updates combined into the indexed elements by `reduce`. kNoop replaces elements, by
  // the last update that an element has.
  Value ScatterElements(Value x, Value indices, Value updates, int64_t axis, Op reduce);
  Value ScatterNd(Value x, Value indices, Value updates, Op reduce);
  Value OneHot(Value indices, const Dim& depth, int64_t axis, Value off, Value on);

  // ---- Elements known before a run (known.cc): the elements of a small tensor that follow from
  // constants and, for integers, from extents. None if they depend on an input, or if there are
  // more than a few thousand. With `with_inputs`, contents recorded by GiveInput count as known.
  // The graph then holds for this input only, so use it only if the graph cannot be built
  // otherwise.
  std::optional<std::vector<Dim>> KnownDims(Value x, bool with_inputs = false);
  std::optional<Ints> KnownInts(Value x, bool with_inputs = false);
  std::optional<std::vector<double>> KnownNumbers(Value x, bool with_inputs = false);
  // As bits.
  std::optional<Ints> KnownBits(Value x, bool with_inputs = false);
  // Records the contents that input `name` will have, as bits.
  void GiveInput(std::string_view name, Ints bits) { given_[std::string(name)] = std::move(bits); }

  // Records that a run is likely to have this size: the one of an input that is given.
  void GiveSize(std::string_view var, int64_t size) { given_sizes_[std::string(var)] = size; }
  // What a condition is that depends on one open dimension and nothing else: for the size that is
  // given, or else for the greatest one. From now on the variable has only the sizes around that
  // one for which the condition is the same. None for other conditions.
  std::optional<bool> DecideBySize(Value condition);

  // ---- Sizes that depend on data (measure.cc): variables that each run measures (ir/measure.h).
  // Up to this number of elements of a tensor are measured; a shape has no more extents.
  static constexpr int64_t kMostMeasured = 16;
  // The greatest value of the variable of this name.
  using Bound = std::function<int64_t(std::string_view name)>;
  // A variable from `least` to `most` that in each run has the value `count`, one integer. `name`
  // is its name, unless that is taken.
  Dim Measure(Value count, std::string_view name, int64_t least, int64_t most);
  // As KnownDims, but a few integers that depend on data are measured, each as the variable
  // `name`.i. Extents that are computed of one such integer are expressions of it.
  std::optional<std::vector<Dim>> MeasuredDims(Value x, std::string_view name, const Bound& most,
                                               bool with_inputs);
  // The places of the true elements of mask, bool[n], in order, as i64. Their number is measured.
  Value TruePlaces(Value mask, std::string_view name, const Bound& most);
  // What the graph must have among the sources of its sink, if it computes `roots`: the measures
  // that these depend on.
  std::vector<Value> MeasuresOf(std::span<const Value> roots);
  // The stored number that a measured variable is; null if the variable is not measured.
  const UOp* CountOf(std::string_view var) const;

  // Arithmetic on extents. If the result exceeds kMaxElements: 1, and an error.
  Dim AddDim(const Dim& a, const Dim& b);
  Dim SubDim(const Dim& a, const Dim& b);
  Dim MulDim(const Dim& a, const Dim& b);
  Dim FloorDivDim(const Dim& a, int64_t b);
  Dim NumElements(const Shape& shape);
  // The greatest value of an extent, where the bounds of the module's variables tell it.
  std::optional<int64_t> Greatest(const Dim& d);
  // The variables that the shape of x depends on, and the elements of x if it is small.
  std::set<std::string> VariablesOf(Value x);

 private:
  // Whether a tensor may have this shape: no constant extent is negative, and the product of the
  // constant extents is at most kMaxElements. Records an error if not.
  bool IsPossible(const Shape& shape);
  // Whether all constant bounds are within kMaxElements. Records an error if not.
  bool ArePossible(const std::vector<std::pair<Dim, Dim>>& bounds);
  // Returns the node, or null and an error if it has no possible shape.
  Value Checked(Value made);
  Value Expand(Value x, const Shape& shape);
  Value ShrinkTo(Value x, const std::vector<std::pair<Dim, Dim>>& bounds);
  Value PadZeros(Value x, const std::vector<std::pair<Dim, Dim>>& widths);
  const std::vector<KnownElement>* Known(Value x, bool with_inputs);
  // Measures what decides x, and returns it.
  std::vector<Value> MeasureSources(Value x, std::string_view name, const Bound& most,
                                    bool with_inputs);
  void MeasureElements(Value x, std::string_view name, const Bound& most);
  // A bound of all elements, where clipping tells it.
  int64_t LeastOf(Value x);
  // Converts floats narrower than f32 to f32.
  Value Widen(Value x);
  // Whether x is computed from constants and params alone, by few operations.
  bool IsFixed(Value x);
  Value PadByCopies(Value x, const std::vector<std::pair<Dim, Dim>>& pads, PadMode mode);

  // Up to this number of elements Sort() selects one after the other; for more it ranks all.
  static constexpr int64_t kFewSorted = 8;
  std::pair<Value, Value> SelectFirst(Value x, size_t axis, bool descending, int64_t count);

  struct Convolution {
    Value x, weight, bias;
    Window window;
    int64_t groups;
  };
  // A transposed convolution as one whose filters are those of all phases, and how the result is
  // made of them: for each spatial axis its stride, and the first element and the extent that are
  // kept.
  struct Phases {
    Value conv = nullptr;
    Ints strides, start;
    Shape extents;
    int64_t Count() const;
  };
  // The result of which `conv` has the phases.
  Value Interleave(Value conv, const Phases& phases);

  Module& module_;
  Body& body_;
  Builder ir_;
  ShapeMap shapes_;
  KnownValues::Given given_;
  std::map<std::string, int64_t, std::less<>> given_sizes_;
  KnownValues known_, known_with_inputs_;
  struct Measured {
    const UOp *var, *bind;
    std::string name;
  };
  std::vector<Measured> measures_;
  std::map<Value, Convolution> convolutions_;  // by result
  std::map<Value, Phases> phases_;             // by result
  std::string error_;
  std::set<std::string> symbols_;  // of the buffers declared here
  std::map<std::string, int64_t> next_suffix_;
};

// `name` with each character that a symbol of the text cannot contain replaced by an underscore.
std::string SymbolFrom(std::string_view name);

// "[2, n]".
std::string ShapeText(const Shape& shape);

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_GRAPH_BUILDER_H_
