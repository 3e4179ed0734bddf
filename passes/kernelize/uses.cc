#include "passes/kernelize/uses.h"

#include <utility>

namespace tg {
namespace {
// Stand-ins for an op in a key: kernels' roots and reduces count as nodes, not by their attributes.
constexpr uint32_t kRootKey = 1u << 16;
}  // namespace

namespace {
void Encode(const Shape& shape, llvm::SmallVectorImpl<int64_t>& out) {
  for (const Dim& d : shape) {
    out.push_back(d.is_symbolic() ? kSymbolic : d.value());
    if (d.is_symbolic()) out.push_back(d.symbol()->id);
  }
}
}  // namespace

int64_t UseTable::Find(UseId parent, uint32_t op, uint64_t bits, const Detail& detail,
                       uint64_t* hash) const {
  uint64_t h = (uint64_t{parent} << 32 | op) * 0x9e3779b97f4a7c15ull ^ bits;
  for (int64_t d : detail) {
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull + static_cast<uint64_t>(d);
  }
  *hash = h ^ (h >> 32);
  const auto [begin, end] = ids_.equal_range(*hash);
  for (auto it = begin; it != end; ++it) {
    const Row& row = rows_[it->second];
    if (row.parent == parent && row.op == op && row.bits == bits && row.detail == detail) {
      return it->second;
    }
  }
  return -1;
}

UseId UseTable::Add(uint64_t hash, Row row) {
  const auto id = static_cast<UseId>(rows_.size());
  rows_.push_back(std::move(row));
  ids_.emplace(hash, id);
  return id;
}

void UseTable::Clear() {
  rows_.clear();
  ids_.clear();
  loops_ = {};
  reduce_loops_.clear();
}

UseId UseTable::Root(const UOp* root, const Shape& rows) {
  uint64_t hash;
  if (const int64_t found = Find(0, kRootKey, root->id, {}, &hash); found >= 0) {
    return static_cast<UseId>(found);
  }
  KernelLoops& known = loops_[root];
  std::vector<AxisLoops> loops;
  if (known.outer == 0) {
    const Shape& whole = shapes_.Of(root);
    const Shape& parts = rows.empty() ? whole : rows;
    size_t part = 0;
    for (const Dim& d : whole) {
      AxisLoops& axis = loops.emplace_back();
      if (d.Is(1)) continue;
      while (parts[part].Is(1)) ++part;
      if (d.is_symbolic()) {
        axis = AddLoop(root, parts[part++]);
        continue;
      }
      // The next parts that multiply to its size.
      for (int64_t left = d.value(); left > 1; ++part) {
        if (parts[part].Is(1)) continue;
        axis.digits.push_back(AddLoop(root, parts[part]).digits[0]);
        left /= parts[part].value();
      }
    }
    known.outer = known.sizes.size();
  }
  return Add(hash, {root, 0, false, {}, std::move(loops), kRootKey, root->id, {}});
}

UseId UseTable::Inside(UseId use, const UOp* u) {
  uint64_t hash;
  if (const int64_t found = Find(use, kRootKey + 1, u->id, {}, &hash); found >= 0) {
    return static_cast<UseId>(found);
  }
  const UOp* kernel = rows_[use].kernel;
  std::vector<AxisLoops> loops = rows_[use].loops;
  const Shape& from = shapes_.Of(u->src(0));
  for (int64_t axis : u->list(1)) {
    const auto k = static_cast<size_t>(axis);
    AxisLoops& loop = reduce_loops_[{kernel->id, u->id, axis}];
    if (loop.digits.empty() && !from[k].Is(1)) loop = AddLoop(kernel, from[k]);
    loops[k] = loop;
  }
  return Add(hash, {kernel, use, false, {}, std::move(loops), kRootKey + 1, u->id, {}});
}

UseId UseTable::Through(UseId use, const UOp* u) {
  const Shape& from = shapes_.Of(u->src(0));
  const auto op = static_cast<uint32_t>(u->op);
  uint64_t hash;
  Detail detail;
  if (u->op == Op::kReshape) {
    const bool chained = rows_[use].reshape;
    const UseId base = chained ? rows_[use].parent : use;
    const Shape outside = chained ? rows_[use].outside : shapes_.Of(u);
    if (from == outside) return base;
    Encode(from, detail);
    detail.push_back(-1);
    Encode(outside, detail);
    if (const int64_t found = Find(base, op, 0, detail, &hash); found >= 0) {
      return static_cast<UseId>(found);
    }
    std::vector<AxisLoops> loops = LoopsThrough(u, from, shapes_.Of(u), rows_[use].loops);
    return Add(hash, {rows_[use].kernel, base, true, outside, std::move(loops), op, 0, detail});
  }
  // Attributes are interned: equal ones have equal bits. Symbolic entries are told apart by id.
  Encode(from, detail);
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) detail.push_back(u->src(i)->id);
  if (const int64_t found = Find(use, op, u->attr.bits, detail, &hash); found >= 0) {
    return static_cast<UseId>(found);
  }
  std::vector<AxisLoops> loops = LoopsThrough(u, from, shapes_.Of(u), rows_[use].loops);
  return Add(hash, {rows_[use].kernel, use, false, {}, std::move(loops), op, u->attr.bits, detail});
}

AxisLoops UseTable::AddLoop(const UOp* kernel, const Dim& size) {
  std::vector<double>& sizes = loops_[kernel].sizes;
  const auto n = static_cast<double>(MaxExtent(module_, ctx_, size));
  if (sizes.size() == 64)
    sizes.back() *= n;
  else
    sizes.push_back(n);
  return CountedBy(sizes.size() - 1, size);
}

LoopSet UseTable::OuterLoops(const UOp* kernel) const {
  const size_t n = loops_.Get(kernel).outer;
  return n >= 64 ? ~LoopSet{0} : (LoopSet{1} << n) - 1;
}

double UseTable::Iterations(const UOp* kernel, LoopSet loops) const {
  const KernelLoops& known = loops_.Get(kernel);
  double n = 1;
  for (size_t i = 0; i < known.sizes.size(); ++i) {
    if (loops & LoopBit(i)) n *= known.sizes[i];
  }
  return n;
}

}  // namespace tg
