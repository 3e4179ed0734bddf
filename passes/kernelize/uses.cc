#include "passes/kernelize/uses.h"

#include <utility>

namespace tg {
namespace {
// Stand-ins for an op in a key: kernels' roots and reduces count as nodes, not by their attributes.
constexpr uint32_t kRootKey = 1u << 16;
}  // namespace

std::vector<int64_t> UseTable::Encode(const Shape& shape) const {
  std::vector<int64_t> out;
  for (const Dim& d : shape) {
    out.push_back(d.is_symbolic() ? kSymbolic : d.value());
    if (d.is_symbolic()) out.push_back(d.symbol()->id);
  }
  return out;
}

UseId UseTable::Find(Key key, Row row) {
  const auto [it, fresh] = ids_.try_emplace(std::move(key), static_cast<UseId>(rows_.size()));
  if (fresh) rows_.push_back(std::move(row));
  return it->second;
}

UseId UseTable::Root(const UOp* root, const Shape& rows) {
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
  return Find({0, kRootKey, root->id, {}}, {root, 0, false, {}, std::move(loops)});
}

UseId UseTable::Inside(UseId use, const UOp* u) {
  const UOp* kernel = rows_[use].kernel;
  std::vector<AxisLoops> loops = rows_[use].loops;
  const Shape& from = shapes_.Of(u->src(0));
  for (int64_t axis : u->list(1)) {
    const auto k = static_cast<size_t>(axis);
    AxisLoops& loop = reduce_loops_[{kernel->id, u->id, axis}];
    if (loop.digits.empty() && !from[k].Is(1)) loop = AddLoop(kernel, from[k]);
    loops[k] = loop;
  }
  return Find({use, kRootKey + 1, u->id, {}}, {kernel, use, false, {}, std::move(loops)});
}

UseId UseTable::Through(UseId use, const UOp* u) {
  const Shape& from = shapes_.Of(u->src(0));
  if (u->op == Op::kReshape) {
    const bool chained = rows_[use].reshape;
    const UseId base = chained ? rows_[use].parent : use;
    const Shape outside = chained ? rows_[use].outside : shapes_.Of(u);
    if (from == outside) return base;
    std::vector<int64_t> shape = Encode(from);
    shape.push_back(-1);
    const std::vector<int64_t> rest = Encode(outside);
    shape.insert(shape.end(), rest.begin(), rest.end());
    return Find({base, static_cast<uint32_t>(u->op), 0, std::move(shape)},
                {rows_[use].kernel, base, true, outside,
                 LoopsThrough(u, from, shapes_.Of(u), rows_[use].loops)});
  }
  // Attributes are interned: equal ones have equal bits. Symbolic entries are told apart by id.
  std::vector<int64_t> detail = Encode(from);
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) detail.push_back(u->src(i)->id);
  return Find(
      {use, static_cast<uint32_t>(u->op), u->attr.bits, std::move(detail)},
      {rows_[use].kernel, use, false, {}, LoopsThrough(u, from, shapes_.Of(u), rows_[use].loops)});
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
