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

UseId UseTable::Root(const UOp* root) {
  KernelLoops& known = loops_[root];
  std::vector<LoopSet> loops;
  if (known.outer == 0) {
    for (const Dim& d : shapes_.Of(root)) loops.push_back(d.Is(1) ? 0 : AddLoop(root, d));
    known.outer = known.sizes.size();
  }
  return Find({0, kRootKey, root->id, {}}, {root, 0, false, {}, std::move(loops), 0});
}

UseId UseTable::Inside(UseId use, const UOp* u) {
  const UOp* kernel = rows_[use].kernel;
  std::vector<LoopSet> loops = rows_[use].loops;
  LoopSet inside = rows_[use].inside;
  const Shape& from = shapes_.Of(u->src(0));
  for (int64_t axis : u->list(1)) {
    const auto k = static_cast<size_t>(axis);
    LoopSet& loop = reduce_loops_[{kernel->id, u->id, axis}];
    if (loop == 0 && !from[k].Is(1)) loop = AddLoop(kernel, from[k]);
    loops[k] = loop;
    inside |= loop;
  }
  return Find({use, kRootKey + 1, u->id, {}}, {kernel, use, false, {}, std::move(loops), inside});
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
                 LoopsThrough(u, from, shapes_.Of(u), rows_[use].loops), rows_[use].inside});
  }
  // Attributes are interned: equal ones have equal bits. Symbolic entries are told apart by id.
  std::vector<int64_t> detail = Encode(from);
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) detail.push_back(u->src(i)->id);
  return Find({use, static_cast<uint32_t>(u->op), u->attr.bits, std::move(detail)},
              {rows_[use].kernel,
               use,
               false,
               {},
               LoopsThrough(u, from, shapes_.Of(u), rows_[use].loops),
               rows_[use].inside});
}

LoopSet UseTable::AddLoop(const UOp* kernel, const Dim& size) {
  std::vector<double>& sizes = loops_[kernel].sizes;
  const auto n = static_cast<double>(MaxExtent(module_, ctx_, size));
  const LoopSet bit = LoopBit(sizes.size());
  if (sizes.size() == 64)
    sizes.back() *= n;
  else
    sizes.push_back(n);
  return bit;
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
