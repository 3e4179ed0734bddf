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
  return Find({0, kRootKey, root->id, {}}, {root, 0, false, {}});
}

UseId UseTable::Inside(UseId use, const UOp* u) {
  return Find({use, kRootKey + 1, u->id, {}}, {rows_[use].kernel, use, false, {}});
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
                {rows_[use].kernel, base, true, outside});
  }
  // Attributes are interned: equal ones have equal bits. Symbolic entries are told apart by id.
  std::vector<int64_t> detail = Encode(from);
  for (size_t i = NumOperands(u); i < u->num_srcs; ++i) detail.push_back(u->src(i)->id);
  return Find({use, static_cast<uint32_t>(u->op), u->attr.bits, std::move(detail)},
              {rows_[use].kernel, use, false, {}});
}

}  // namespace tg
