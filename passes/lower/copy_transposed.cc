#include "passes/lower/copy_transposed.h"

#include <cstdlib>
#include <optional>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/simplify/affine_sums.h"

namespace tg::lower {

const UOp* MakeCopyTransposed(Builder& b, FreeLeaves& free, const UOp* address, const UOp* x) {
  constexpr int64_t kMinSide = 4;  // of a square that is written as shuffles
  if (x->op != Op::kLoad || x->num_srcs != 1 || StrideOf(x) != 1) return nullptr;
  const UOp* read = x->src(0);
  const DType to_type = address->dtype, from_type = read->dtype;
  if (read->op != Op::kIndex || read->num_srcs != 2 || from_type.is_image() ||
      from_type.scalar() != x->dtype.scalar() || to_type.scalar() != x->dtype.scalar() ||
      BitWidth(x->dtype.scalar()) < 32 || !free.UnrollsOf(read->src(0)).empty()) {
    return nullptr;
  }
  const std::vector<const UOp*> unrolls = free.UnrollsOf(read);
  if (unrolls.size() < 2 || free.UnrollsOf(address) != unrolls) return nullptr;
  std::optional<analysis::AffineExpr> to = analysis::ParseAffine(address->src(1)),
                                      from = analysis::ParseAffine(read->src(1));
  if (!to || !from) return nullptr;
  struct Lanes {
    int64_t to, from, size;
  };
  std::vector<Lanes> rows, columns;
  for (const UOp* u : unrolls) {
    const int64_t there = to->Take(u), here = from->Take(u);
    rows.push_back({there, here, u->word(1)});
  }
  for (const analysis::AffineExpr* form : {&*to, &*from}) {
    for (const analysis::AffineExpr::Term& term : form->terms) {
      if (!free.UnrollsOf(term.node).empty()) return nullptr;
    }
  }
  // Columns are the lanes that are contiguous in the memory that is read, rows the lanes that are
  // contiguous in the memory that is written.
  int64_t num_columns = 1, num_rows = 1;
  const auto follows = [&](const Lanes& l) { return l.from == num_columns; };
  for (auto next = rows.begin(); (next = llvm::find_if(rows, follows)) != rows.end();) {
    num_columns *= next->size;
    columns.push_back(*next);
    rows.erase(next);
  }
  llvm::sort(rows, [](const Lanes& a, const Lanes& b) { return a.to < b.to; });
  for (const Lanes& l : rows) {
    if (l.to != num_rows || l.from != num_rows * rows[0].from) return nullptr;
    num_rows *= l.size;
  }
  if (num_rows < kMinSide || num_columns < kMinSide) return nullptr;
  for (const Lanes& l : columns) {
    if (l.to != l.from * columns[0].to) return nullptr;
  }
  const int64_t attr[] = {num_rows, num_columns, columns[0].to, rows[0].from};
  if (attr[2] < num_rows || attr[2] > INT32_MAX || std::abs(attr[3]) > INT32_MAX) return nullptr;
  const auto first = [&](const UOp* pointer, const analysis::AffineExpr& form) {
    const UOp* sum = b.Index(form.constant);
    for (const analysis::AffineExpr::Term& t : form.terms) {
      sum = b.Add(sum, b.Mul(t.node, b.Index(t.coef)));
    }
    return b.IndexPtr(pointer, sum);
  };
  const UOp* const srcs[] = {first(address->src(0), *to), first(read->src(0), *from)};
  return b.context().Make(Op::kCopyTransposed, kVoid, srcs,
                          b.context().MakeAttr(Op::kCopyTransposed, attr));
}

}  // namespace tg::lower
