// Products of a vector and a matrix on a GPU, whatever the matrix is decoded from.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/gpu_axes.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

bool VariesAlong(const ScheduleBuilder& t, const analysis::Access& a,
                 const loop_nest::AxisList& axes) {
  return llvm::any_of(axes, [&](size_t i) { return t.Stride(a, i) != 0; });
}

// The loads of the kernel's terms, by what they read.
struct Operands {
  bool has_contiguous_matrix = false, has_vector = false, has_other = false;
  int64_t widest = 1;  // bytes of an element
  // What one access moves of the matrix, if that is contiguous.
  int64_t terms_of_access = std::numeric_limits<int64_t>::max();
};

// The elements that one access moves along an axis, if the kernel's other axes keep them aligned.
double ElementsOfAccess(const ScheduleBuilder& t, const analysis::Access& a, size_t axis) {
  const int64_t bytes = ByteSize(a.node->dtype.scalar());
  int64_t width = t.target().mem_width;
  for (size_t i = 0; i < t.nest().axes.size(); ++i) {
    if (i != axis) width = PowerOfTwoDivisor(t.Stride(a, i).value_or(0) * bytes, width);
  }
  return static_cast<double>(width) / static_cast<double>(bytes);
}

// A matrix has an element for each result and term; a vector serves all rows, which the axis `row`
// counts.
Operands FindOperands(const ScheduleBuilder& t, const loop_nest::AxisList& results, size_t row) {
  Operands out;
  const loop_nest::AxisList terms = t.Axes(AxisKind::kReduce);
  std::vector<size_t> contiguous;  // the last axis of each reduce
  for (const loop_nest::AxisList& axes : AxesByReduce(t)) contiguous.push_back(axes.back());
  for (const analysis::Access& a : t.accesses()) {
    if (a.is_store() || !VariesAlong(t, a, terms)) continue;
    out.widest = std::max<int64_t>(out.widest, ByteSize(a.node->dtype.scalar()));
    if (t.Stride(a, row) == 0) {
      out.has_vector = true;
    } else if (llvm::all_of(results, [&](size_t i) { return t.Stride(a, i) != 0; })) {
      for (const size_t i : contiguous) {
        const std::optional<double> elements = ElementsOfTerm(t, a, i);
        if (!elements) continue;
        out.has_contiguous_matrix = true;
        const auto terms = static_cast<int64_t>(ElementsOfAccess(t, a, i) / *elements);
        out.terms_of_access = std::min(out.terms_of_access, terms);
      }
    } else {
      out.has_other = true;
    }
  }
  return out;
}

// Whether all reduces add, over axes of the same known sizes, so that the work-items of a group can
// share them alike.
bool AddAlike(const ScheduleBuilder& t, const std::vector<loop_nest::AxisList>& reduces) {
  const auto size = [&](size_t i) { return t.nest().axes[i].size; };
  for (const loop_nest::AxisList& axes : reduces) {
    const UOp* reduce = t.nest().base[t.nest().axes[axes[0]].base].reduce;
    if (static_cast<Op>(reduce->word()) != Op::kAdd) return false;
    if (llvm::any_of(axes, [&](size_t i) { return t.IsSymbolic(i); })) return false;
    const bool alike = std::equal(axes.begin(), axes.end(), reduces[0].begin(), reduces[0].end(),
                                  [&](size_t a, size_t b) { return size(a) == size(b); });
    if (!alike) return false;
  }
  return true;
}

// How many work-items share each axis of a reduce, given what is left of the axes' sizes. A grid
// has three dimensions, so the smallest of more axes are left to loops.
std::vector<int64_t> Shares(const std::vector<int64_t>& sizes, const ScheduleBuilder& t) {
  constexpr int64_t kDimensions = 3;
  const int64_t most = t.MostItems(), wanted = std::min(t.GroupItems(), most);
  std::vector<int64_t> loops = sizes;
  for (;;) {
    std::vector<int64_t> shares(sizes.size(), 1);
    int64_t items = 1;
    for (size_t k = sizes.size(); k-- > 0;) {
      shares[k] = PowerOfTwoDivisor(loops[k], wanted / items);
      // Uneven groups are better than small ones.
      if (k == 0 && items * shares[k] < t.GroupItems() / 2) {
        shares[k] = GreatestDivisor(loops[k], most / items);
      }
      items *= shares[k];
    }
    const auto is_shared = [](int64_t n) { return n > 1; };
    if (llvm::count_if(shares, is_shared) <= kDimensions) return shares;
    size_t smallest = 0;
    for (size_t k = 1; k + 1 < loops.size(); ++k) {
      if (loops[k] > 1 && (loops[k] < loops[smallest] || loops[smallest] == 1)) smallest = k;
    }
    loops[smallest] = 1;
  }
}

int64_t ProductOf(const std::vector<int64_t>& numbers) {
  int64_t product = 1;
  for (const int64_t n : numbers) product *= n;
  return product;
}

// Gives axis k of each reduce to `share` work-items, each of which takes every share-th term.
bool GroupAxes(ScheduleBuilder& t, const std::vector<std::string>& names, int64_t share) {
  const size_t first = t.nest().AxisNamed(names[0]);
  const bool whole = share == t.Size(first);
  if (!t.Try<directive::Group>(first, share)) return false;
  const std::string group = whole ? names[0] : names[0] + ".1";
  for (size_t n = 1; n < names.size(); ++n) {
    if (!t.TryWith<directive::Group>(t.nest().AxisNamed(names[n]), group)) return false;
  }
  return true;
}

// Computes several rows in a work-item, which then reads the vector once for all of them, while
// enough work-items are left, and fills small groups with neighbouring rows.
void TileRows(ScheduleBuilder& t, const std::string& row, int64_t group_items) {
  std::string left = row;
  const int64_t items = t.WorkItems() * group_items;
  for (int64_t rows = t.target().tile_side; rows > 1; rows /= 2) {
    const size_t axis = t.nest().AxisNamed(row);
    if (t.Size(axis) % rows != 0 || items / rows < EnoughItems(t)) continue;
    const bool whole = t.Size(axis) == rows;
    if (!t.Try<directive::Upcast>(axis, rows)) continue;
    if (whole) return;
    left = row + ".0";
    break;
  }
  const size_t axis = t.nest().AxisNamed(left);
  const int64_t rows = PowerOfTwoDivisor(t.Size(axis), t.GroupItems() / 2 / group_items);
  if (rows > 1) t.Try<directive::Local>(axis, rows);
}

// Whether each reduce has the same known number of terms in a block, and some number of blocks.
bool SumsBlocks(const ScheduleBuilder& t, const std::vector<loop_nest::AxisList>& reduces) {
  return !reduces.empty() && llvm::all_of(reduces, [&](const loop_nest::AxisList& axes) {
    const bool known = !t.IsSymbolic(axes.back()) && t.Size(axes.back()) >= t.target().least_steps;
    return known && t.Size(axes.back()) == t.Size(reduces[0].back()) &&
           llvm::any_of(axes, [&](size_t i) { return t.IsSymbolic(i); });
  });
}

// A work-item reads `terms` adjacent terms, and its neighbour what follows, so that the accesses of
// a group are contiguous in all operands.
bool ScheduleMatvec(ScheduleBuilder& t, const std::vector<loop_nest::AxisList>& reduces,
                    const loop_nest::AxisList& results, int64_t terms) {
  std::vector<int64_t> sizes;
  for (size_t i : reduces[0]) sizes.push_back(t.Size(i));
  const int64_t unrolled = PowerOfTwoDivisor(sizes.back(), terms);
  sizes.back() /= unrolled;
  const std::vector<int64_t> shares = Shares(sizes, t);
  if (ProductOf(shares) < t.target().least_group_items) return false;

  const ScheduleBuilder::State state = t.Save();
  const std::string row = t.nest().axes[results.back()].name;
  std::vector<std::vector<std::string>> names(sizes.size());  // of each axis, in each reduce
  for (const loop_nest::AxisList& axes : reduces) {
    for (size_t k = 0; k < axes.size(); ++k) names[k].push_back(t.nest().axes[axes[k]].name);
  }
  bool legal = true;
  for (std::string& last : names.back()) {
    if (unrolled == 1) break;
    legal = legal && t.Try<directive::Unroll>(t.nest().AxisNamed(last), unrolled);
    if (sizes.back() > 1) last += ".0";
  }
  for (size_t k = 0; k < sizes.size() && legal; ++k) {
    if (shares[k] > 1) legal = GroupAxes(t, names[k], shares[k]);
    if (shares[k] > 1 || sizes[k] == 1 || sizes[k] > t.target().short_terms) continue;
    for (const std::string& name : names[k]) t.Try<directive::Unroll>(t.nest().AxisNamed(name));
  }
  if (!legal) {
    t.Restore(state);
    return false;
  }
  TileRows(t, row, ProductOf(shares));
  return true;
}

}  // namespace

void ProposeGpuMatvec(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong()) return;
  UpcastFewRows(t);
  const std::vector<loop_nest::AxisList> reduces = AxesByReduce(t);
  const loop_nest::AxisList results = t.Axes(AxisKind::kGlobal);
  if (reduces.empty() || results.empty() || t.IsSymbolic(results.back())) return;
  if (!AddAlike(t, reduces) || Nests(t)) return;
  const Operands operands = FindOperands(t, results, results.back());
  if (!operands.has_contiguous_matrix || !operands.has_vector || operands.has_other) return;
  // From what one access of the widest operand moves to what one of the matrix does. Of schedules
  // that take as long, the first is chosen: for one row, that whose two accesses of the vector, and
  // wider ones of the matrix, wait together. Several rows have more accesses already.
  const int64_t least = std::max<int64_t>(1, t.target().mem_width / operands.widest);
  const int64_t most = std::max(least, operands.terms_of_access);
  const auto propose = [&](int64_t terms) {
    ProposeGroups(t, to, [&] { return ScheduleMatvec(t, reduces, results, terms); });
  };
  const bool wide_first = 2 * least <= most && t.Axes(AxisKind::kUpcast).empty();
  if (wide_first) propose(2 * least);
  for (int64_t terms = least; terms <= most; terms *= 2) {
    if (!wide_first || terms != 2 * least) propose(terms);
  }
}

bool ShareBlocks(ScheduleBuilder& t) {
  const int64_t wanted = t.GroupItems(), rows_of_item = t.target().tile_side;
  const std::vector<loop_nest::AxisList> reduces = AxesByReduce(t);
  if (!SumsBlocks(t, reduces) || Nests(t) || t.WorkItems() >= EnoughItems(t)) return false;
  std::vector<std::string> names;
  for (const loop_nest::AxisList& axes : reduces) names.push_back(t.nest().axes[axes.back()].name);
  const int64_t items = PowerOfTwoDivisor(t.Size(reduces[0].back()), wanted);
  const ScheduleBuilder::State state = t.Save();
  if (items == 1 || !GroupAxes(t, names, items)) {
    t.Restore(state);
    return false;
  }
  const loop_nest::AxisList results = t.Axes(AxisKind::kGlobal);
  if (results.empty() || t.IsSymbolic(results.back())) return true;
  const bool contiguous = llvm::any_of(t.accesses(), [&](const analysis::Access& a) {
    return !a.is_store() && t.Stride(a, results.back()) == 1;
  });
  if (!contiguous) return true;
  std::string row = t.nest().axes[results.back()].name;
  const int64_t size = t.Size(results.back());
  const bool several = size % rows_of_item == 0 && size > rows_of_item;
  if (several && t.Try<directive::Upcast>(results.back(), rows_of_item)) row += ".0";
  const size_t axis = t.nest().AxisNamed(row);
  const int64_t rows = PowerOfTwoDivisor(t.Size(axis), wanted / items);
  if (rows > 1) t.Try<directive::Local>(axis, rows);
  return true;
}

}  // namespace tg::schedule
