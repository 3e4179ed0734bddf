#include "ir/interpret/sample.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/sample_forms.h"
#include "ir/interpret/scalar.h"
#include "ir/walk.h"

namespace tg {
namespace {

// Elements of all nodes that are computed together: a limit on memory.
constexpr int64_t kMaxTogether = int64_t{1} << 25;
// The number that chunks are made for.
constexpr int64_t kTogether = int64_t{1} << 21;
constexpr int64_t kEnds = 8;  // elements at either end that are always chosen

absl::Status Bad(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

// A reduce with the elements of one result in a row.
struct ReduceForm {
  std::vector<int64_t> inner;  // distances of one result's terms from the first, ascending
  Extents strides, extents;    // of the source, and of the result
  int64_t FirstTerm(int64_t result) const {
    int64_t at = 0;
    for (size_t i = extents.size(); i-- > 0;) {
      at += result % extents[i] * strides[i];
      result /= extents[i];
    }
    return at;
  }
};

ReduceForm FormOf(const UOp* reduce, const Extents& from) {
  ReduceForm form;
  form.strides.resize(from.size());
  form.extents = from;
  int64_t stride = 1;
  for (size_t i = from.size(); i-- > 0;) {
    form.strides[i] = stride;
    stride *= from[i];
  }
  form.inner = {0};
  std::vector<int64_t> axes(reduce->list(1).begin(), reduce->list(1).end());
  std::sort(axes.begin(), axes.end());
  for (const int64_t axis : axes) {
    const auto a = static_cast<size_t>(axis);
    form.extents[a] = 1;
    std::vector<int64_t> next;
    for (const int64_t base : form.inner) {
      for (int64_t i = 0; i < from[a]; ++i) next.push_back(base + i * form.strides[a]);
    }
    form.inner = std::move(next);
  }
  return form;
}

class Sampler {
 public:
  // `forms` have been found.
  Sampler(const Kernel& kernel, std::span<const SampleArg> args, const KernelForms& forms,
          const InterpretOptions& options)
      : kernel_(kernel), args_(args), forms_(forms), options_(options) {}

  absl::StatusOr<std::vector<StoredSample>> Run(const SampleOptions& sample) {
    std::vector<StoredSample> out;
    for (const UOp* store : forms_.stores()) {
      auto made = RunStore(store, sample);
      if (!made.ok()) return made.status();
      out.push_back(*std::move(made));
    }
    return out;
  }

 private:
  const NodeForm& Src(const UOp* u, size_t i) const { return forms_.Of(u->src(i)); }

  // Positions in the slot of elements of a pointer.
  std::vector<int64_t> Offsets(const UOp* pointer, std::vector<int64_t> at);
  // Fills demand_ with the elements of each node on which elements `at` of `value` depend. Returns
  // their number, or nothing where they are more than fit into memory.
  std::optional<int64_t> Demand(const UOp* value, const std::vector<int64_t>& at);
  // Values of demand_.
  absl::Status Evaluate(const UOp* value);
  absl::StatusOr<Tensor> ValueOf(const UOp* u);
  absl::StatusOr<Tensor> Load(const UOp* u);
  // Elements `at` of a node whose values are there.
  Tensor Fetch(const UOp* u, std::span<const int64_t> at);
  const ReduceForm& Reduce(const UOp* u);
  absl::StatusOr<StoredSample> RunStore(const UOp* store, const SampleOptions& sample);

  const Kernel& kernel_;
  std::span<const SampleArg> args_;
  const KernelForms& forms_;
  const InterpretOptions& options_;
  NodeMap<std::shared_ptr<const ReduceForm>> reduces_;
  NodeMap<std::vector<int64_t>> demand_;
  NodeMap<Tensor> values_;
  Context rows_;  // reduces of rows
};

std::vector<int64_t> Sampler::Offsets(const UOp* pointer, std::vector<int64_t> at) {
  for (; pointer->op != Op::kDefineGlobal; pointer = pointer->src(0)) {
    if (pointer->op == Op::kNoop) continue;
    std::vector<int64_t> kept, places;
    // An element behind a pad is none.
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i] < 0) continue;
      kept.push_back(at[i]);
      places.push_back(static_cast<int64_t>(i));
    }
    std::vector<int64_t> mapped(kept.size());
    forms_.Of(pointer).map.At(kept, mapped.data());
    for (size_t i = 0; i < kept.size(); ++i) at[static_cast<size_t>(places[i])] = mapped[i];
  }
  return at;
}

const ReduceForm& Sampler::Reduce(const UOp* u) {
  auto& form = reduces_[u];
  if (!form) form = std::make_shared<const ReduceForm>(FormOf(u, Src(u, 0).shape));
  return *form;
}

std::optional<int64_t> Sampler::Demand(const UOp* value, const std::vector<int64_t>& at) {
  for (const UOp* u : forms_.order()) demand_[u].clear();
  demand_[value] = at;
  int64_t total = 0;
  for (size_t n = forms_.order().size(); n-- > 0;) {
    const UOp* u = forms_.order()[n];
    std::vector<int64_t>& wanted = demand_[u];
    if (wanted.empty()) continue;
    if (!std::is_sorted(wanted.begin(), wanted.end())) std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    total += static_cast<int64_t>(wanted.size());
    const auto ask = [&](const UOp* src, std::span<const int64_t> elements) {
      if (forms_.Of(src).known.ok()) return;
      std::vector<int64_t>& all = demand_[src];
      for (const int64_t e : elements) {
        if (e >= 0) all.push_back(e);
      }
    };
    if (IsMovement(u->op)) {
      std::vector<int64_t> from(wanted.size());
      forms_.Of(u).map.At(wanted, from.data());
      ask(u->src(0), from);
    } else if (IsElementwise(u->op)) {
      const int64_t zero[] = {0};
      for (const UOp* src : u->srcs()) {
        ask(src, forms_.Of(src).shape.empty() ? std::span<const int64_t>(zero) : wanted);
      }
    } else if (u->op == Op::kNoop) {
      ask(u->src(0), wanted);
    } else if (u->op == Op::kReduceAxis) {
      const double terms =
          static_cast<double>(NumElements(Src(u, 0).shape)) /
          static_cast<double>(std::max<int64_t>(NumElements(forms_.Of(u).shape), 1));
      if (terms * static_cast<double>(wanted.size()) > static_cast<double>(kMaxTogether)) {
        return std::nullopt;
      }
      const ReduceForm& form = Reduce(u);
      std::vector<int64_t> from;
      for (const int64_t result : wanted) {
        const int64_t first = form.FirstTerm(result);
        for (const int64_t i : form.inner) from.push_back(first + i);
      }
      total += static_cast<int64_t>(from.size());
      ask(u->src(0), from);
    }
    if (total > kMaxTogether) return std::nullopt;
  }
  return total;
}

Tensor Sampler::Fetch(const UOp* u, std::span<const int64_t> at) {
  const Tensor& from = forms_.Of(u).known.ok() ? forms_.Of(u).known : values_[u];
  const std::vector<int64_t>& held = demand_[u];
  if (std::equal(at.begin(), at.end(), held.begin(), held.end())) return from;
  Movement positions{{static_cast<int64_t>(at.size())}, std::vector<int64_t>(at.size())};
  for (size_t i = 0; i < at.size(); ++i) {
    positions.map[i] = at[i] < 0 ? -1
                       : forms_.Of(u).known.ok()
                           ? 0
                           : std::lower_bound(held.begin(), held.end(), at[i]) - held.begin();
  }
  Tensor t = Gather(from, positions);
  // No element of the source is wanted where all are padding.
  t.scalar = u->dtype.scalar();
  return t;
}

absl::StatusOr<Tensor> Sampler::Load(const UOp* u) {
  const std::vector<int64_t> at = Offsets(u->src(0), demand_[u]);
  const SampleArg& arg = args_[Src(u, 0).slot];
  const Scalar to = u->dtype.scalar();
  std::vector<int64_t> data(at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0) continue;
    data[i] =
        ConvertAccess(arg.scalar, to, LoadBits(arg.scalar, arg.bytes, static_cast<size_t>(at[i])));
  }
  const auto n = static_cast<int64_t>(data.size());
  return MakeTensor(to, {n}, std::move(data));
}

absl::StatusOr<Tensor> Sampler::ValueOf(const UOp* u) {
  const std::vector<int64_t>& wanted = demand_[u];
  const auto n = static_cast<int64_t>(wanted.size());
  if (IsMovement(u->op)) {
    std::vector<int64_t> from(wanted.size());
    forms_.Of(u).map.At(wanted, from.data());
    return Fetch(u->src(0), from);
  }
  if (IsElementwise(u->op)) {
    std::vector<Tensor> srcs;
    for (const UOp* src : u->srcs()) {
      const bool is_number = forms_.Of(src).shape.empty();
      srcs.push_back(is_number && forms_.Of(src).known.ok() ? forms_.Of(src).known
                     : is_number                            ? values_[src]
                                                            : Fetch(src, wanted));
      srcs.back().shape = is_number ? Extents() : Extents{n};
    }
    return Elementwise(u, srcs, options_);
  }
  switch (u->op) {
    case Op::kNoop:
      return Fetch(u->src(0), wanted);
    case Op::kIota:
      return MakeTensor(u->dtype.scalar(), {n}, wanted);
    case Op::kLoad:
      return Load(u);
    case Op::kReduceAxis: {
      const ReduceForm& form = Reduce(u);
      std::vector<int64_t> from;
      for (const int64_t result : wanted) {
        const int64_t first = form.FirstTerm(result);
        for (const int64_t i : form.inner) from.push_back(first + i);
      }
      Tensor terms = Fetch(u->src(0), from);
      terms.shape = {n, static_cast<int64_t>(form.inner.size())};
      const UOp* row =
          rows_.Make(Op::kReduceAxis, u->dtype, {rows_.Make(Op::kConst, u->dtype, {}, Attr{0})},
                     rows_.MakeAttr(Op::kReduceAxis, {u->word(0), 1, 1}));
      return ReduceAxis(row, terms, options_);
    }
    default:
      return Bad("has no elements");
  }
}

absl::Status Sampler::Evaluate(const UOp* value) {
  for (const UOp* u : forms_.order()) values_[u] = Tensor();
  for (const UOp* u : forms_.order()) {
    if (demand_[u].empty() || forms_.Of(u).known.ok()) continue;
    absl::StatusOr<Tensor> t = ValueOf(u);
    if (!t.ok()) {
      return absl::Status(t.status().code(), NodeLabel(kernel_.body, "kernel @" + kernel_.name, u) +
                                                 std::string(t.status().message()));
    }
    t->shape = {static_cast<int64_t>(demand_[u].size())};
    values_[u] = *std::move(t);
    if (u == value) break;
  }
  return absl::OkStatus();
}

// Elements of a store in the order in which they are computed until a limit is reached.
std::vector<int64_t> Choose(int64_t total, const SampleOptions& sample) {
  std::vector<int64_t> chosen;
  const int64_t ends = std::min(kEnds, (total + 1) / 2);
  for (int64_t i = 0; i < ends; ++i) {
    chosen.push_back(i);
    chosen.push_back(total - 1 - i);
  }
  if (total <= sample.max_elements) {
    std::vector<int64_t> rest;
    for (int64_t i = ends; i < total - ends; ++i) rest.push_back(i);
    for (size_t i = rest.size(); i > 1; --i) {
      std::swap(rest[i - 1], rest[Threefry2x32(i, sample.seed) % i]);
    }
    chosen.insert(chosen.end(), rest.begin(), rest.end());
  } else {
    for (int64_t i = 2 * ends; i < sample.max_elements; ++i) {
      const uint64_t draw = Threefry2x32(static_cast<uint64_t>(i), sample.seed);
      chosen.push_back(static_cast<int64_t>(draw % static_cast<uint64_t>(total)));
    }
  }
  return chosen;
}

absl::StatusOr<StoredSample> Sampler::RunStore(const UOp* store, const SampleOptions& sample) {
  const UOp *pointer = store->src(0), *value = store->src(1);
  const Scalar from = value->dtype.scalar(), to = args_[forms_.Of(pointer).slot].scalar;
  if (!CanConvertAccess(from, to)) return Bad("cannot store this type there");
  StoredSample out;
  out.slot = forms_.Of(pointer).slot;
  out.total = NumElements(forms_.Of(pointer).shape);
  const std::vector<int64_t> chosen = Choose(out.total, sample);
  const bool is_number = forms_.Of(value).shape.empty();

  struct Element {
    int64_t at = 0, bits = 0;
    double error = 0;
    bool operator<(const Element& other) const { return at < other.at; }
  };
  std::vector<Element> elements;
  int64_t evaluations = 0, chunk = 1;
  for (size_t next = 0; next < chosen.size() && evaluations < sample.max_evaluations;) {
    const size_t end = std::min(chosen.size(), next + static_cast<size_t>(chunk));
    std::vector<int64_t> at(chosen.begin() + static_cast<std::ptrdiff_t>(next),
                            chosen.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    const std::optional<int64_t> count = Demand(value, is_number ? std::vector<int64_t>{0} : at);
    if (!count && chunk == 1) {
      return absl::ResourceExhaustedError(absl::StrCat("kernel @", kernel_.name,
                                                       ": one element depends on more than ",
                                                       kMaxTogether, " values"));
    }
    if (!count) {
      chunk = std::max<int64_t>(1, chunk / 8);
      continue;
    }
    if (absl::Status s = Evaluate(value); !s.ok()) return s;
    const Tensor t =
        is_number ? Fetch(value, std::vector<int64_t>(at.size(), 0)) : Fetch(value, at);
    const std::vector<int64_t> offsets = Offsets(pointer, at);
    for (size_t i = 0; i < at.size(); ++i) {
      if (offsets[i] < 0) continue;
      const int64_t bits = (*t.data)[t.size() == 1 ? 0 : i];
      elements.push_back({offsets[i], ConvertAccess(from, to, bits), t.ErrorAt(i)});
    }
    evaluations += *count;
    next = end;
    const int64_t each = std::max<int64_t>(1, *count / static_cast<int64_t>(at.size()));
    const int64_t rest = std::max<int64_t>(0, sample.max_evaluations - evaluations);
    chunk = std::clamp<int64_t>(std::min({kTogether / each, rest / each, chunk * 8}), 1, kTogether);
  }
  std::sort(elements.begin(), elements.end());
  std::vector<int64_t> bits;
  auto error = std::make_shared<std::vector<double>>();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0 && elements[i].at == elements[i - 1].at) continue;
    out.elements.push_back(elements[i].at);
    bits.push_back(elements[i].bits);
    error->push_back(elements[i].error);
  }
  const auto n = static_cast<int64_t>(bits.size());
  out.values = MakeTensor(to, {n}, std::move(bits));
  if (options_.track_error) out.values.error = std::move(error);
  return out;
}

}  // namespace

absl::StatusOr<int64_t> CountEvaluations(const Kernel& kernel, std::span<const SampleArg> args,
                                         const VarValues& vars) {
  const InterpretOptions options;
  KernelForms forms(kernel, args, vars, options);
  if (absl::Status s = forms.Find(); !s.ok()) return s;
  return forms.Evaluations();
}

absl::StatusOr<std::vector<StoredSample>> SampleKernel(const Kernel& kernel,
                                                       std::span<const SampleArg> args,
                                                       const VarValues& vars,
                                                       const InterpretOptions& options,
                                                       const SampleOptions& sample) {
  KernelForms forms(kernel, args, vars, options);
  if (absl::Status s = forms.Find(); !s.ok()) return s;
  return Sampler(kernel, args, forms, options).Run(sample);
}

}  // namespace tg
