#include "ir/interpret/reduce_tuple.h"

#include <utility>
#include <vector>

#include "ir/interpret/deferred.h"
#include "ir/tuple.h"
#include "ir/walk.h"

namespace tg::interpret {
namespace {

// Row-major steps through an index of `extents`.
void Next(std::vector<int64_t>& at, const Extents& extents) {
  for (size_t i = extents.size(); i-- > 0;) {
    if (++at[i] < extents[i]) return;
    at[i] = 0;
  }
}

// The combining body applied to tensors of one shape.
absl::StatusOr<std::vector<Tensor>> Combine(const UOp* u, const std::vector<Tensor>& carried,
                                            const InterpretOptions& options) {
  NodeMap<Tensor> values;
  for (const UOp* v : CombiningOrder(u)) {
    if (v->op == Op::kCarried) {
      values[v] = carried[static_cast<size_t>(v->word(0))];
    } else if (v->op == Op::kConst) {
      values[v] = ScalarTensor(v->dtype.scalar(), v->word());
    } else {
      std::vector<Tensor> srcs;
      for (const UOp* s : v->srcs()) srcs.push_back(values.Get(s));
      absl::StatusOr<Tensor> t = Elementwise(v, srcs, options);
      if (!t.ok()) return t.status();
      absl::StatusOr<Tensor> held = Hold(*t);
      if (!held.ok()) return held.status();
      values[v] = *std::move(held);
    }
  }
  std::vector<Tensor> out;
  for (const UOp* v : CombinedTuple(u)) out.push_back(values.Get(v));
  return out;
}

// A tensor of this shape all of whose elements are `bits`.
Tensor Filled(Scalar scalar, const Extents& shape, int64_t bits) {
  return MakeTensor(scalar, shape,
                    std::vector<int64_t>(static_cast<size_t>(NumElements(shape)), bits));
}

}  // namespace

absl::StatusOr<Tensor> ReduceTuple(const UOp* u, std::span<const Tensor> values,
                                   const InterpretOptions& options) {
  const size_t n = TupleSize(u);
  std::vector<Tensor> held;
  for (const Tensor& t : values) {
    absl::StatusOr<Tensor> h = Hold(t);
    if (!h.ok()) return h.status();
    held.push_back(*std::move(h));
  }
  const Extents& from = held[0].shape;
  Extents to = from, terms;
  std::vector<int64_t> strides(from.size(), 1);
  for (size_t i = from.size(); i-- > 1;) strides[i - 1] = strides[i] * from[i];
  for (int64_t axis : u->list(1)) {
    const auto k = static_cast<size_t>(axis);
    if (axis < 0 || k >= from.size()) {
      return absl::InvalidArgumentError("there is no such axis");
    }
    terms.push_back(from[k]);
    to[k] = 1;
  }
  // The element of the values for each result, at the first term.
  const auto results = static_cast<size_t>(NumElements(to));
  std::vector<int64_t> first(results), at(to.size());
  for (int64_t& element : first) {
    for (size_t i = 0; i < at.size(); ++i) element += at[i] * strides[i];
    Next(at, to);
  }
  std::vector<Tensor> so_far;
  for (size_t i = 0; i < n; ++i) {
    const UOp* identity = TupleIdentities(u)[i];
    so_far.push_back(Filled(identity->dtype.scalar(), to, identity->word()));
  }
  std::vector<int64_t> term(terms.size());
  for (int64_t left = NumElements(terms); left > 0; --left) {
    Movement next = {to, first};
    for (size_t i = 0; i < term.size(); ++i) {
      const int64_t offset = term[i] * strides[static_cast<size_t>(u->list(1)[i])];
      for (int64_t& element : next.map) element += offset;
    }
    Next(term, terms);
    std::vector<Tensor> carried = so_far;
    for (const Tensor& t : held) carried.push_back(Gather(t, next));
    absl::StatusOr<std::vector<Tensor>> combined = Combine(u, carried, options);
    if (!combined.ok()) return combined.status();
    so_far = *std::move(combined);
    for (Tensor& t : so_far) {
      // A body that is a constant has one element.
      if (t.shape.empty() && !to.empty()) t = Filled(t.scalar, to, (*t.data)[0]);
    }
  }
  return so_far[static_cast<size_t>(u->word(0))];
}

}  // namespace tg::interpret
