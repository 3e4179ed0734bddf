// Rules for a CPU about products with a small matrix, as the transforms of tiles are.
#include <optional>
#include <string>

#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {
namespace {

// The axis of results along which only the matrix varies, which is small enough to be written out;
// kNoAxis if the kernel is no product of this kind.
size_t RowsOfMatrix(const ScheduleBuilder& t, size_t term) {
  const auto matrix = llvm::find_if(t.accesses(), [&](const analysis::Access& a) {
    if (a.is_store() || t.Stride(a, term).value_or(0) == 0) return false;
    return llvm::count_if(t.Axes(AxisKind::kGlobal),
                          [&](size_t i) { return t.Stride(a, i) != 0; }) == 1;
  });
  if (matrix == t.accesses().end()) return kNoAxis;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if (t.Stride(*matrix, i) == 0) continue;
    const bool is_own = llvm::all_of(t.accesses(), [&](const analysis::Access& a) {
      return a.is_store() || a.node == matrix->node || t.Stride(a, term) == 0 ||
             t.Stride(a, i) == 0;
    });
    const bool fits = !t.IsSymbolic(i) && !t.IsSymbolic(term) &&
                      t.Size(i) * t.Size(term) <= ScheduleBuilder::kMostCopies;
    return is_own && fits ? i : kNoAxis;
  }
  return kNoAxis;
}

}  // namespace

void ProposeTransforms(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong() || t.Axes(AxisKind::kReduce).size() != 1) return;
  const VectorAxes lanes(t);
  const size_t term = t.Axes(AxisKind::kReduce)[0], rows = RowsOfMatrix(t, term);
  if (rows == kNoAxis) return;
  const ScheduleBuilder::State plain = t.Save();
  const std::string row = t.nest().axes[rows].name, terms = t.nest().axes[term].name;
  const auto propose = [&](size_t axis, bool (*vectorize)(ScheduleBuilder&, size_t)) {
    if (axis != rows && vectorize(t, axis) && TryNamed<directive::Upcast>(t, row, 0) &&
        TryNamed<directive::Unroll>(t, terms, 0)) {
      AddLooped(t, to);
    }
    t.Restore(plain);
  };
  for (size_t axis : t.Axes(AxisKind::kGlobal)) propose(axis, &VectorizePadded);
  for (size_t axis : lanes.ByContiguity(t.Axes(AxisKind::kGlobal))) {
    propose(axis, &VectorizeResults);
  }
}

}  // namespace tg::schedule
