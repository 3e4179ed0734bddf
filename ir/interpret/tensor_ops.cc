#include "ir/interpret/tensor_ops.h"

#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "ir/check.h"
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

// The element of the result that each element of the source goes to.
std::vector<int64_t> ReduceTargets(const Extents& shape, std::span<const int64_t> axes,
                                   Extents* result) {
  *result = shape;
  for (int64_t axis : axes) (*result)[static_cast<size_t>(axis)] = 1;
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= (*result)[i];
  }
  for (int64_t axis : axes) strides[static_cast<size_t>(axis)] = 0;
  std::vector<int64_t> targets(static_cast<size_t>(NumElements(shape)));
  Extents at(shape.size());
  int64_t target = 0;
  for (int64_t& t : targets) {
    t = target;
    for (size_t i = shape.size(); i-- > 0;) {
      target += strides[i];
      if (++at[i] < shape[i]) break;
      target -= strides[i] * shape[i];
      at[i] = 0;
    }
  }
  return targets;
}

template <typename T>
std::vector<int64_t> AccumulateFloats(Op op, const Tensor& x, size_t n,
                                      const std::vector<int64_t>& targets) {
  std::vector<T> acc(n, op == Op::kMul ? T{1} : T{0});
  for (size_t i = 0; i < targets.size(); ++i) {
    const T v = static_cast<T>(DoubleFromBits(x.scalar, (*x.data)[i]));
    T& a = acc[static_cast<size_t>(targets[i])];
    a = op == Op::kMul ? a * v : a + v;
  }
  std::vector<int64_t> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = BitsFromDouble(x.scalar, static_cast<double>(acc[i]));
  return out;
}

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
  Extents shape;
  const std::vector<int64_t> targets = ReduceTargets(x.shape, axes, &shape);
  const auto n = static_cast<size_t>(NumElements(shape));
  std::vector<int64_t> out;
  if (IsFloat(x.scalar) && (op == Op::kAdd || op == Op::kMul)) {
    out = x.scalar == Scalar::kF64 ? AccumulateFloats<long double>(op, x, n, targets)
                                   : AccumulateFloats<double>(op, x, n, targets);
  } else {
    out.assign(n, ReduceIdentity(op, x.scalar));
    for (size_t i = 0; i < targets.size(); ++i) {
      int64_t& a = out[static_cast<size_t>(targets[i])];
      const int64_t pair[] = {a, (*x.data)[i]};
      const auto r = EvalAlu(op, x.scalar, pair);
      if (!r) return absl::OutOfRangeError("index overflow");
      a = *r;
    }
  }
  Tensor t = MakeTensor(x.scalar, std::move(shape), std::move(out));
  if (options.track_error) t.error = ReduceError(op, x, targets, t);
  return t;
}

std::vector<double> SumErrorBound(const Tensor& x, std::span<const int64_t> axes) {
  Extents shape;
  const std::vector<int64_t> targets = ReduceTargets(x.shape, axes, &shape);
  std::vector<double> sums(static_cast<size_t>(NumElements(shape)));
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
