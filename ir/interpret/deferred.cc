#include "ir/interpret/deferred.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace tg::interpret {
namespace {

// The elements with these numbers, where -1 means a 0 that a pad adds. Recurses at most
// kMaxDeferredOps deep.
absl::StatusOr<Tensor> ElementsAt(const Tensor& t, std::vector<int64_t> at) {
  const auto n = static_cast<int64_t>(at.size());
  if (t.data) return Gather(t, Movement{{n}, std::move(at)});
  const Deferred& d = *t.deferred;
  // What a pad adds is in no source: it is computed as element 0, and replaced.
  std::vector<size_t> added;
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] >= 0) continue;
    added.push_back(i);
    at[i] = 0;
  }
  absl::StatusOr<Tensor> out;
  if (IsMovement(d.node->op)) {
    std::vector<int64_t> from(at.size());
    d.map.At(at, from.data());
    out = ElementsAt(d.srcs[0], std::move(from));
    if (!out.ok()) return out;
  } else {
    std::vector<Tensor> srcs;
    for (const Tensor& s : d.srcs) {
      if (s.shape.empty()) {
        srcs.push_back(s);
        continue;
      }
      absl::StatusOr<Tensor> part = ElementsAt(s, at);
      if (!part.ok()) return part;
      if (part->defined && d.options.check_undefined) {
        return absl::FailedPreconditionError("reads an element that was never given a value");
      }
      srcs.push_back(*std::move(part));
    }
    out = Elementwise(d.node, srcs, d.options);
    if (!out.ok()) {
      return absl::Status(out.status().code(), absl::StrCat(std::string(Mnemonic(d.node->op)), ": ",
                                                            out.status().message()));
    }
  }
  if (added.empty()) return out;
  std::vector<int64_t> map(at.size());
  std::iota(map.begin(), map.end(), 0);
  for (size_t i : added) map[i] = -1;
  return Gather(*out, Movement{{n}, std::move(map)});
}

}  // namespace

int64_t PieceElements(const InterpretOptions& options) {
  constexpr int64_t kMaxHeldNodes = int64_t{1} << 16;
  return std::clamp<int64_t>(options.max_held, 1, kMaxHeldNodes);
}

bool IsLarge(const Extents& shape, const InterpretOptions& options) {
  // One element always is held.
  return NumElements(shape) > std::max<int64_t>(options.max_held, 1);
}

absl::StatusOr<Tensor> Defer(const UOp* u, std::vector<Tensor> srcs, const Extents& shape,
                             IndexMap map, const InterpretOptions& options) {
  auto d = std::make_shared<Deferred>();
  d->node = u;
  for (const Tensor& s : srcs) d->num_ops += s.deferred ? s.deferred->num_ops : 0;
  Tensor t;
  t.scalar = IsMovement(u->op) ? srcs[0].scalar : u->dtype.scalar();
  t.shape = shape;
  d->srcs = std::move(srcs);
  d->map = std::move(map);
  d->options = options;
  d->options.max_held = PieceElements(options);
  t.deferred = d;
  if (d->num_ops > kMaxDeferredOps || !IsLarge(shape, options)) return Hold(t);
  return t;
}

absl::StatusOr<Tensor> Piece(const Tensor& t, int64_t first, int64_t n) {
  std::vector<int64_t> at(static_cast<size_t>(n));
  std::iota(at.begin(), at.end(), first);
  return ElementsAt(t, std::move(at));
}

absl::StatusOr<Tensor> Hold(const Tensor& t) {
  if (t.data) return t;
  const int64_t n = NumElements(t.shape);
  auto data = std::make_shared<std::vector<int64_t>>();
  data->reserve(static_cast<size_t>(n));
  std::shared_ptr<std::vector<uint8_t>> defined;
  std::shared_ptr<std::vector<double>> error;
  const int64_t most = PieceElements(t.deferred->options);
  for (int64_t first = 0; first < n; first += most) {
    const int64_t size = std::min(most, n - first);
    const absl::StatusOr<Tensor> piece = Piece(t, first, size);
    if (!piece.ok()) return piece.status();
    data->insert(data->end(), piece->data->begin(), piece->data->end());
    if (piece->defined) {
      if (!defined) defined = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(n), 1);
      std::copy(piece->defined->begin(), piece->defined->end(), defined->begin() + first);
    }
    if (piece->error) {
      if (!error) error = std::make_shared<std::vector<double>>(static_cast<size_t>(n));
      for (int64_t i = 0; i < size; ++i) {
        (*error)[static_cast<size_t>(first + i)] = piece->ErrorAt(static_cast<size_t>(i));
      }
    }
  }
  Tensor held;
  held.scalar = t.scalar;
  held.shape = t.shape;
  held.data = std::move(data);
  held.defined = std::move(defined);
  held.error = std::move(error);
  return held;
}

}  // namespace tg::interpret
