#include "passes/kernelize/uses.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "passes/analysis/kernel_axes.h"

namespace tg::kernelize {
namespace {
// Values of Key::op that are not ops. Roots of kernels and reduces are identified by node, not by
// attributes.
constexpr uint32_t kRootKey = 1u << 16, kReduceKey = kRootKey + 1, kStagedKey = kRootKey + 2,
                   kOneTermKey = kRootKey + 3;
}  // namespace

namespace {
void Encode(const Shape& shape, llvm::SmallVectorImpl<int64_t>& out) {
  for (const Dim& d : shape) {
    out.push_back(d.is_symbolic() ? kSymbolic : d.value());
    if (d.is_symbolic()) out.push_back(d.symbol()->id);
  }
}
}  // namespace

int64_t UseTable::Find(const Key& key, uint64_t* hash) const {
  uint64_t h = (uint64_t{key.parent} << 32 | key.op) * 0x9e3779b97f4a7c15ull ^ key.bits;
  for (int64_t d : key.detail) {
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull + static_cast<uint64_t>(d);
  }
  *hash = (h ^ (h >> 32)) >> 2;  // DenseMap keeps the greatest numbers for itself
  const auto first = ids_.find(*hash);
  if (first == ids_.end()) return -1;
  UseId id = first->second;
  do {
    const Row& row = rows_[id];
    if (row.parent == key.parent && row.op == key.op && row.bits == key.bits &&
        row.detail_size == key.detail.size() &&
        std::equal(key.detail.begin(), key.detail.end(), details_.data() + row.detail)) {
      return id;
    }
    id = row.next;
  } while (id != 0);
  return -1;
}

UseId UseTable::Add(uint64_t hash, const Key& key, const UOp* kernel, uint32_t loops_of,
                    const Shape* outside, const UOp* cut, std::vector<analysis::AxisLoops> loops) {
  const auto id = static_cast<UseId>(rows_.size());
  Row& row = rows_.emplace_back();
  row.kernel = kernel;
  row.loops_of = loops_of;
  row.outside = outside;
  row.cut = cut;
  row.varies = analysis::UnionOf(loops);
  row.around = key.op == kRootKey ? 0 : rows_[key.parent].around;
  row.loops = std::move(loops);
  row.parent = key.parent;
  row.op = key.op;
  row.bits = key.bits;
  row.detail = details_.size();
  row.detail_size = key.detail.size();
  details_.insert(details_.end(), key.detail.begin(), key.detail.end());
  const auto [first, added] = ids_.try_emplace(hash, id);
  if (!added) {
    // No row can link to row 0, since a link of 0 means the end of the chain.
    row.next = rows_[first->second].next;
    rows_[first->second].next = id;
  }
  return id;
}

UseTable::UseTable(const Module& module, const Context& ctx, ShapeMap& shapes)
    : module_(module), ctx_(ctx), shapes_(shapes) {
  // Most nodes are used in one way.
  rows_.reserve(ctx.num_nodes());
  ids_.reserve(ctx.num_nodes());
  steps_.reserve(ctx.num_nodes());
}

UseId UseTable::Root(const UOp* root) {
  return latest_.Get(root) ? roots_.Get(root) : Root(root, {});
}

UseId UseTable::Root(const UOp* root, const Shape& rows) {
  Key key{0, kRootKey, root->id, {}};
  Encode(rows, key.detail);
  uint64_t hash;
  if (const int64_t found = Find(key, &hash); found >= 0) {
    const auto use = static_cast<UseId>(found);
    latest_[root] = rows_[use].loops_of;
    roots_[root] = use;
    return use;
  }
  KernelLoops kernel;
  std::vector<analysis::AxisLoops> loops;
  const Shape& whole = shapes_.Of(root);
  const Shape& parts = rows.empty() ? whole : rows;
  loops.reserve(whole.size());
  size_t part = 0;
  for (const Dim& d : whole) {
    analysis::AxisLoops& axis = loops.emplace_back();
    if (d.Is(1)) continue;
    while (parts[part].Is(1)) ++part;
    if (d.is_symbolic()) {
      axis = AddLoop(kernel, parts[part++]);
      continue;
    }
    // Takes the next parts whose product is the size.
    for (int64_t left = d.value(); left > 1; ++part) {
      if (parts[part].Is(1)) continue;
      axis.digits.push_back(AddLoop(kernel, parts[part]).digits[0]);
      left /= parts[part].value();
    }
  }
  kernel.outer = kernel.sizes.size();
  const auto loops_of = static_cast<uint32_t>(kernels_.size());
  kernels_.push_back(std::move(kernel));
  latest_[root] = loops_of;
  return roots_[root] = Add(hash, key, root, loops_of, nullptr, nullptr, std::move(loops));
}

UseId UseTable::Inside(UseId use, const UOp* u) {
  return WithOwnLoops(use, u, {use, kReduceKey, u->id, {}}, shapes_.Of(u->src(0)), u->list(1));
}

UseId UseTable::OfOneTerm(UseId use, const UOp* u) {
  const Key key{use, kOneTermKey, u->id, {}};
  uint64_t hash;
  if (const int64_t found = Find(key, &hash); found >= 0) return static_cast<UseId>(found);
  std::vector<analysis::AxisLoops> loops = rows_[use].loops;
  // The index of the one term that is needed may depend on all indices of the sum.
  analysis::AxisLoops place;
  for (const analysis::AxisLoops& axis : rows_[use].loops) {
    place.digits.append(axis.digits.begin(), axis.digits.end());
  }
  place.exact = place.digits.empty();
  const Shape& shape = shapes_.Of(u->src(0));
  for (int64_t axis : u->list(1)) {
    if (const auto k = static_cast<size_t>(axis); !shape[k].Is(1)) loops[k] = place;
  }
  return Add(hash, key, rows_[use].kernel, rows_[use].loops_of, nullptr, nullptr, std::move(loops));
}

analysis::LoopSet UseTable::ComputedIn(UseId use) const {
  const Row& row = rows_[use];
  const bool inside = (row.varies & ~OuterLoops(row.kernel)) != 0;
  return inside ? row.varies | row.around : row.varies;
}

UseId UseTable::Staged(UseId use, const UOp* u, const std::vector<int64_t>& axes) {
  Key key{use, kStagedKey, u->id, {}};
  key.detail.append(axes.begin(), axes.end());
  return WithOwnLoops(use, u, key, shapes_.Of(u), {axes.data(), axes.size()});
}

UseId UseTable::WithOwnLoops(UseId use, const UOp* u, const Key& key, const Shape& shape,
                             std::span<const int64_t> axes) {
  uint64_t hash;
  if (const int64_t found = Find(key, &hash); found >= 0) return static_cast<UseId>(found);
  KernelLoops& kernel = kernels_[rows_[use].loops_of];
  std::vector<analysis::AxisLoops> loops = rows_[use].loops;
  for (int64_t axis : axes) {
    const auto k = static_cast<size_t>(axis);
    const auto known = std::find_if(kernel.own.begin(), kernel.own.end(), [&](const OwnLoop& r) {
      return r.node == u && r.axis == axis;
    });
    if (known != kernel.own.end()) {
      loops[k] = known->loops;
    } else {
      loops[k] = shape[k].Is(1) ? analysis::AxisLoops{} : AddLoop(kernel, shape[k]);
      kernel.own.push_back({u, axis, loops[k]});
    }
  }
  const analysis::LoopSet at = rows_[use].varies;
  const UseId added =
      Add(hash, key, rows_[use].kernel, rows_[use].loops_of, nullptr, nullptr, std::move(loops));
  // A staged value is computed once for all of its readers, outside of their reduces.
  if (key.op == kStagedKey)
    rows_[added].around = rows_[added].varies & OuterLoops(rows_[added].kernel);
  else
    rows_[added].around |= at;
  return added;
}

UseId UseTable::Through(UseId use, const UOp* u) {
  const auto [step, added] = steps_.try_emplace(analysis::IdPair{use, u->id});
  if (added) step->second = MapThrough(use, u);
  return step->second;
}

UseId UseTable::MapThrough(UseId use, const UOp* u) {
  const Shape& from = shapes_.Of(u->src(0));
  const Shape& to = shapes_.Of(u);
  Key key{use, static_cast<uint32_t>(u->op), 0, {}};
  const Shape* outside = nullptr;
  if (u->op == Op::kReshape) {
    // Consecutive reshapes are merged.
    outside = rows_[use].outside ? rows_[use].outside : &to;
    if (rows_[use].outside) key.parent = rows_[use].parent;
    if (from == *outside) return key.parent;
    Encode(from, key.detail);
    key.detail.push_back(-1);
    Encode(*outside, key.detail);
  } else {
    // Attributes are interned: equal ones have equal bits. Symbolic entries are distinguished by
    // id.
    key.bits = u->attr.bits;
    Encode(from, key.detail);
    if (u->num_srcs > 1) {
      for (size_t i = NumOperands(u); i < u->num_srcs; ++i) key.detail.push_back(u->src(i)->id);
    }
  }
  uint64_t hash;
  if (const int64_t found = Find(key, &hash); found >= 0) return static_cast<UseId>(found);
  std::vector<analysis::AxisLoops> loops = analysis::LoopsThrough(u, from, to, rows_[use].loops);
  const UOp* cut = u->op == Op::kPad || u->op == Op::kShrink ? u : nullptr;
  return Add(hash, key, rows_[use].kernel, rows_[use].loops_of, outside, cut, std::move(loops));
}

bool UseTable::ReadsPadding(UseId use, const UOp* u) const {
  const UOp* shrink = rows_[use].cut;
  if (shrink == nullptr || shrink->op != Op::kShrink) return false;
  const auto ranges = PairsOf(shrink), pads = PairsOf(u);
  const Shape& from = shapes_.Of(u->src(0));
  for (size_t i = 0; i < pads.size(); ++i) {
    const Dim &begin = ranges[i].first, &end = ranges[i].second, &before = pads[i].first;
    if (before.is_symbolic()) continue;
    const bool in_front = !end.is_symbolic() && end.value() <= before.value();
    const bool behind = !begin.is_symbolic() && !from[i].is_symbolic() &&
                        begin.value() >= before.value() + from[i].value();
    if (in_front || behind) return true;
  }
  return false;
}

bool UseTable::IsWithin(UseId use, UseId place) const {
  // Steps that both uses have in common do not matter.
  const auto alike = [&](const Row& a, const Row& b) {
    const int64_t* details = details_.data();
    return a.op < kRootKey && a.op == b.op && a.bits == b.bits &&
           std::equal(details + a.detail, details + a.detail + a.detail_size, details + b.detail,
                      details + b.detail + b.detail_size);
  };
  while (use != place && alike(rows_[use], rows_[place])) {
    use = rows_[use].parent;
    place = rows_[place].parent;
  }
  // For each axis: the distance between the index of the reader and that of the value.
  std::vector<int64_t> moved;
  for (; use != place; use = rows_[use].parent) {
    const UOp* cut = rows_[use].cut;
    if (cut == nullptr) return false;
    const auto pairs = PairsOf(cut);
    moved.resize(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].first.is_symbolic()) return false;
      moved[i] += cut->op == Op::kPad ? -pairs[i].first.value() : pairs[i].first.value();
    }
  }
  return std::all_of(moved.begin(), moved.end(), [](int64_t m) { return m == 0; });
}

analysis::AxisLoops UseTable::AddLoop(KernelLoops& kernel, const Dim& size) const {
  std::vector<double>& sizes = kernel.sizes;
  const auto n = static_cast<double>(analysis::MaxExtent(module_, ctx_, size));
  if (sizes.size() == 64)
    sizes.back() *= n;
  else
    sizes.push_back(n);
  return analysis::CountedBy(sizes.size() - 1, size);
}

analysis::LoopSet UseTable::OuterLoops(const UOp* kernel) const {
  const size_t n = LoopsOf(kernel).outer;
  return n >= 64 ? ~analysis::LoopSet{0} : (analysis::LoopSet{1} << n) - 1;
}

double UseTable::Iterations(const UOp* kernel, analysis::LoopSet loops) const {
  const std::vector<double>& sizes = LoopsOf(kernel).sizes;
  if (sizes.size() < 64) loops &= (analysis::LoopSet{1} << sizes.size()) - 1;
  double n = 1;
  for (; loops != 0; loops &= loops - 1) n *= sizes[static_cast<size_t>(std::countr_zero(loops))];
  return n;
}

}  // namespace tg::kernelize
