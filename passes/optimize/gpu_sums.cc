#include "passes/optimize/gpu_sums.h"

#include <algorithm>
#include <string>
#include <vector>

#include "passes/optimize/gpu_axes.h"

namespace tg {
namespace {

// Work-items of a group along the last axes of a reduce, from the innermost outwards: they read
// what lies side by side. False: there are too few terms for a group.
bool GroupAlong(Tuner& t, const std::vector<size_t>& reduces) {
  constexpr int64_t kEnough = 128, kFew = 16;
  std::vector<std::string> names;
  int64_t terms = 1;
  for (size_t i : reduces) {
    if (t.IsSymbolic(i)) return false;
    names.push_back(t.schedule().axes[i].name);
    terms *= t.Size(i);
  }
  const int64_t most = MostItems(t);
  if (t.Size(reduces.back()) < 64 && terms < 8 * most) return false;
  names.back() = InFours(t, "unroll", names.back());
  int64_t items = 1;
  for (size_t k = names.size(); k-- > 0 && items < kEnough;) {
    const size_t axis = AxisOf(t, names[k]);
    const int64_t share = GreatestDivisor(t.Size(axis), most / items);
    if (items * share < kFew && k == 0) break;
    if (share > 1 && t.Try("group", axis, share)) items *= share;
  }
  return items > 1;
}

size_t ReducesOf(const Tuner& t) {
  NodeSet seen;
  size_t n = 0;
  for (const BaseAxis& b : t.schedule().base) {
    const UOp* reduce = t.ReduceOf(b);
    n += reduce && seen.Insert(reduce);
  }
  return n;
}

// The axes of a reduce over the results of another reduce; none where there is none.
std::vector<std::string> OuterReduceAxes(const Tuner& t) {
  NodeSet reduces;
  for (const BaseAxis& b : t.schedule().base) {
    if (const UOp* reduce = t.ReduceOf(b)) reduces.Insert(reduce);
  }
  const auto holds_another = [&](const UOp* reduce) {
    const std::vector<const UOp*> nodes = PostOrder(reduce);
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const UOp* u) { return u != reduce && reduces.Contains(u); });
  };
  std::vector<std::string> axes;
  for (const BaseAxis& b : t.schedule().base) {
    const UOp* reduce = t.ReduceOf(b);
    if (reduce && !b.size.is_symbolic() && holds_another(reduce)) axes.push_back(b.name);
  }
  return axes;
}

}  // namespace

bool Sums(Tuner& t) {
  const std::vector<size_t> reduces = t.Axes(AxisKind::kReduce);
  if (reduces.empty() || t.IsSymbolic(reduces.back())) return false;
  if (ReducesOf(t) > 1) return false;
  bool along = false;
  for (const Access& a : t.accesses()) {
    if (a.is_store()) continue;
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if (t.Stride(a, i) == 0) return false;  // read again: a product has better ways
    }
    along |= t.Stride(a, reduces.back()) == 1;
  }
  if (along) return GroupAlong(t, reduces);
  const std::vector<size_t> globals = t.Axes(AxisKind::kGlobal);
  const int64_t wanted = int64_t{t.target().compute_units} * 512;
  if (globals.empty() || t.IsSymbolic(globals.back()) || t.WorkItems() >= wanted) return false;
  const int64_t neighbours = GreatestDivisor(t.Size(globals.back()), 32);
  const int64_t share =
      GreatestDivisor(t.Size(reduces[0]), std::min<int64_t>(MostItems(t) / 32, 16));
  if (neighbours < 8 || share < 2 || t.IsSymbolic(reduces[0])) return false;
  const std::string first = t.schedule().axes[reduces[0]].name;
  return t.Try("local", globals.back(), neighbours) && t.Try("group", AxisOf(t, first), share);
}

bool NestedReduce(Tuner& t) {
  const std::vector<std::string> outer = OuterReduceAxes(t);
  int64_t items = 1;
  for (const std::string& name : outer) items *= t.Size(AxisOf(t, name));
  if (items < 32 || items > MostItems(t)) return false;
  for (const std::string& name : outer) {
    if (!t.Try("group", AxisOf(t, name))) return false;
  }
  const std::vector<size_t> globals = t.Axes(AxisKind::kGlobal);
  if (!globals.empty() && !t.IsSymbolic(globals.back()) && t.Size(globals.back()) % 4 == 0) {
    t.Try("upcast", globals.back(), 4);
  }
  UnrollReduce(t);
  return true;
}

bool GroupReduce(Tuner& t) {
  const std::vector<size_t> reduces = t.Axes(AxisKind::kReduce);
  const int64_t items = t.WorkItems();
  if (reduces.empty() || items > 2048) return false;
  const bool one = ReducesOf(t) == 1;
  if (t.Axes(AxisKind::kGlobal).size() > 2) return one && GroupAlong(t, reduces);
  std::string group;  // the axis that the first reduce got work-items for; others share them
  NodeSet seen;
  // Once for each reduce, on its first axis.
  for (size_t n = 0; n < t.schedule().base.size(); ++n) {
    const UOp* reduce = t.ReduceOf(t.schedule().base[n]);
    if (!reduce || !seen.Insert(reduce)) continue;
    const std::vector<size_t> axes = t.Axes(AxisKind::kReduce);
    const auto first = std::find_if(axes.begin(), axes.end(), [&](size_t i) {
      return t.schedule().base[t.schedule().axes[i].base].reduce == reduce;
    });
    if (first == axes.end()) continue;
    const size_t axis = *first;
    if (!group.empty() && t.TryWith("grouptop", axis, group)) continue;
    for (int64_t amount : {int64_t{256}, int64_t{16}}) {
      if ((amount == 256 && items > 32) || t.Size(axis) % amount != 0) continue;
      if (t.schedule().GroupSize() * amount > t.target().max_group_size) continue;
      const bool whole = t.Size(axis) == amount;
      const std::string name = t.schedule().axes[axis].name;
      if (!t.Try("grouptop", axis, amount)) continue;
      if (group.empty()) group = whole ? name : name + ".0";
      break;
    }
  }
  return !group.empty();
}

}  // namespace tg
