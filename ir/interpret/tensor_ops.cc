#include "ir/interpret/tensor_ops.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
#include "ir/interpret/deferred.h"
#include "ir/interpret/error_bound.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"

namespace tg {

std::string ShapeText(const Extents& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

absl::StatusOr<Tensor> IotaTensor(Scalar s, int64_t n) {
  if (absl::Status status = CheckExtents({n}); !status.ok()) return status;
  std::vector<int64_t> data(static_cast<size_t>(n));
  std::iota(data.begin(), data.end(), 0);
  return MakeTensor(s, {n}, std::move(data));
}

Tensor MakeTensor(Scalar s, Extents shape, std::vector<int64_t> data) {
  Tensor t;
  t.scalar = s;
  t.shape = std::move(shape);
  t.data = std::make_shared<const std::vector<int64_t>>(std::move(data));
  return t;
}

Tensor Gather(const Tensor& from, const Movement& m) {
  std::vector<int64_t> data(m.map.size());
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = m.map[i] < 0 ? 0 : (*from.data)[static_cast<size_t>(m.map[i])];
  }
  Tensor t = MakeTensor(from.scalar, m.shape, std::move(data));
  if (from.defined) {
    auto defined = std::make_shared<std::vector<uint8_t>>(m.map.size());
    bool all = true;
    for (size_t i = 0; i < m.map.size(); ++i) {
      (*defined)[i] = m.map[i] < 0 || (*from.defined)[static_cast<size_t>(m.map[i])];
      all &= (*defined)[i] != 0;
    }
    if (!all) t.defined = std::move(defined);
  }
  if (from.error) {
    auto error = std::make_shared<std::vector<double>>(m.map.size());
    for (size_t i = 0; i < m.map.size(); ++i) {
      (*error)[i] = m.map[i] < 0 ? 0 : from.ErrorAt(static_cast<size_t>(m.map[i]));
    }
    t.error = std::move(error);
  }
  return t;
}

absl::StatusOr<Tensor> Gather(const UOp* u, const Tensor& from, IndexMap map,
                              const InterpretOptions& options) {
  if (absl::Status status = CheckExtents(map.shape); !status.ok()) return status;
  if (map.is_identity) {
    Tensor t = from;
    // A deferred value is evaluated by the coordinates of its shape, so that its shape cannot be
    // replaced.
    if (!t.deferred) {
      t.shape = map.shape;
      return t;
    }
  }
  if (from.deferred || IsLarge(map.shape, options)) {
    const Extents shape = map.shape;
    return Defer(u, {from}, shape, std::move(map), options);
  }
  return Gather(from, MovementOf(map));
}

absl::StatusOr<Tensor> Elementwise(const UOp* u, std::span<const Tensor> srcs,
                                   const InterpretOptions& options) {
  const Extents* shape = &srcs[0].shape;
  for (const Tensor& t : srcs) {
    if (t.shape.empty()) continue;
    if (!shape->empty() && *shape != t.shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          "sources have different shapes ", ShapeText(*shape), " and ", ShapeText(t.shape)));
    }
    shape = &t.shape;
  }
  const bool is_deferred =
      std::any_of(srcs.begin(), srcs.end(), [](const Tensor& t) { return t.deferred != nullptr; });
  if (is_deferred || IsLarge(*shape, options)) {
    return Defer(u, {srcs.begin(), srcs.end()}, *shape, {}, options);
  }
  const auto n = static_cast<size_t>(NumElements(*shape));
  std::vector<int64_t> broadcast[3];
  const int64_t* in[3] = {};
  for (size_t k = 0; k < srcs.size(); ++k) {
    in[k] = srcs[k].data->data();
    if (srcs[k].size() != n) {
      broadcast[k].assign(n, (*srcs[k].data)[0]);
      in[k] = broadcast[k].data();
    }
  }
  std::vector<int64_t> out(n);
  if (u->op == Op::kCast) {
    CastLanes(srcs[0].scalar, u->dtype.scalar(), n, in[0], out.data());
  } else if (u->op == Op::kBitcast) {
    for (size_t i = 0; i < n; ++i) {
      out[i] = BitcastBits(srcs[0].scalar, u->dtype.scalar(), in[0][i]);
    }
  } else {
    const Scalar s = srcs[u->op == Op::kWhere ? 1 : 0].scalar;
    const size_t done = EvalAluLanes(u->op, s, n, in[0], in[1], in[2], out.data(), options.mulacc);
    if (done != n) {
      return absl::OutOfRangeError(absl::StrCat("index overflow at element ", done));
    }
  }
  Tensor t = MakeTensor(u->dtype.scalar(), *shape, std::move(out));
  if (options.track_error) t.error = ElementwiseError(u, srcs, t, options);
  return t;
}

namespace {

// The element of the result that each element of the source goes to, from the first on.
class ReduceTargets {
 public:
  ReduceTargets(const Extents& shape, std::span<const int64_t> axes)
      : shape_(shape), result_(shape), strides_(shape.size()), at_(shape.size()) {
    for (int64_t axis : axes) result_[static_cast<size_t>(axis)] = 1;
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= result_[i];
    }
    for (int64_t axis : axes) strides_[static_cast<size_t>(axis)] = 0;
  }

  const Extents& result() const { return result_; }

  void Next(std::span<int64_t> targets) {
    for (int64_t& t : targets) {
      t = target_;
      for (size_t i = shape_.size(); i-- > 0;) {
        target_ += strides_[i];
        if (++at_[i] < shape_[i]) break;
        target_ -= strides_[i] * shape_[i];
        at_[i] = 0;
      }
    }
  }

 private:
  const Extents shape_;
  Extents result_, strides_, at_;
  int64_t target_ = 0;
};

// The results of a reduce while its elements come in.
class Accumulators {
 public:
  Accumulators(Op op, Scalar s, size_t n) : op_(op), scalar_(s) {
    const bool floats = IsFloat(s) && (op == Op::kAdd || op == Op::kMul);
    if (floats && s == Scalar::kF64) {
      wide_.assign(n, op == Op::kMul ? 1 : 0);
    } else if (floats) {
      double_.assign(n, op == Op::kMul ? 1 : 0);
    } else {
      bits_.assign(n, ReduceIdentity(op, s));
    }
  }

  // False where an index overflows.
  bool Add(std::span<const int64_t> values, std::span<const int64_t> targets) {
    if (!wide_.empty()) return AddFloats(wide_, values, targets);
    if (!double_.empty()) return AddFloats(double_, values, targets);
    for (size_t i = 0; i < targets.size(); ++i) {
      int64_t& a = bits_[static_cast<size_t>(targets[i])];
      const int64_t pair[] = {a, values[i]};
      const auto r = EvalAlu(op_, scalar_, pair);
      if (!r) return false;
      a = *r;
    }
    return true;
  }

  std::vector<int64_t> Take() {
    for (long double v : wide_) bits_.push_back(BitsFromDouble(scalar_, static_cast<double>(v)));
    for (double v : double_) bits_.push_back(BitsFromDouble(scalar_, v));
    return std::move(bits_);
  }

 private:
  template <typename T>
  bool AddFloats(std::vector<T>& acc, std::span<const int64_t> values,
                 std::span<const int64_t> targets) {
    for (size_t i = 0; i < targets.size(); ++i) {
      const T v = static_cast<T>(DoubleFromBits(scalar_, values[i]));
      T& a = acc[static_cast<size_t>(targets[i])];
      a = op_ == Op::kMul ? a * v : a + v;
    }
    return true;
  }

  const Op op_;
  const Scalar scalar_;
  std::vector<long double> wide_;
  std::vector<double> double_;
  std::vector<int64_t> bits_;
};

}  // namespace

absl::StatusOr<Tensor> ReduceAxis(const UOp* u, const Tensor& x, const InterpretOptions& options) {
  const Op op = static_cast<Op>(u->word(0));
  const auto axes = u->list(1);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(x.shape.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is not an axis of ", ShapeText(x.shape)));
    }
  }
  ReduceTargets targets(x.shape, axes);
  const auto n = static_cast<size_t>(NumElements(targets.result()));
  Accumulators sums(op, x.scalar, n);
  ReduceErrors errors(op, x.scalar, options.track_error ? n : 0);
  std::vector<int64_t> target;
  const int64_t size = NumElements(x.shape);
  const int64_t most = PieceElements(options);
  for (int64_t first = 0; first < size; first += most) {
    const int64_t count = std::min(most, size - first);
    Tensor piece;
    std::span<const int64_t> values;
    if (x.data) {
      values = std::span(*x.data).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    } else {
      absl::StatusOr<Tensor> made = Piece(x, first, count);
      if (!made.ok()) return made;
      piece = *std::move(made);
      if (piece.defined && options.check_undefined) {
        return absl::FailedPreconditionError("reads an element that was never given a value");
      }
      values = *piece.data;
    }
    target.resize(static_cast<size_t>(count));
    targets.Next(target);
    if (!sums.Add(values, target)) return absl::OutOfRangeError("index overflow");
    if (options.track_error) {
      errors.Add(values, target, x.data ? x : piece, x.data ? static_cast<size_t>(first) : 0);
    }
  }
  Tensor t = MakeTensor(x.scalar, targets.result(), sums.Take());
  if (options.track_error) t.error = errors.Take(static_cast<double>(size), t, options.flags);
  return t;
}

std::vector<double> SumErrorBound(const Tensor& x, std::span<const int64_t> axes) {
  ReduceTargets next(x.shape, axes);
  std::vector<int64_t> targets(x.size());
  next.Next(targets);
  std::vector<double> sums(static_cast<size_t>(NumElements(next.result())));
  for (size_t i = 0; i < targets.size(); ++i) {
    sums[static_cast<size_t>(targets[i])] += std::fabs(DoubleFromBits(x.scalar, (*x.data)[i]));
  }
  const double terms =
      sums.empty() ? 0 : static_cast<double>(targets.size()) / static_cast<double>(sums.size());
  for (double& s : sums) s *= terms * UnitRoundoff(x.scalar);
  return sums;
}

double UnitRoundoff(Scalar s) {
  switch (s) {
    case Scalar::kFp8E4M3:
      return 0x1p-4;
    case Scalar::kFp8E5M2:
      return 0x1p-3;
    case Scalar::kBF16:
      return 0x1p-8;
    case Scalar::kF16:
      return 0x1p-11;
    case Scalar::kF32:
      return 0x1p-24;
    case Scalar::kF64:
      return 0x1p-53;
    default:
      return 0;
  }
}

}  // namespace tg
