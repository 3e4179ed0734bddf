#include "passes/schedule/gpu_sums.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/gpu_axes.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

// The names of the axes of each reduce.
std::vector<std::vector<std::string>> NamesOf(const ScheduleBuilder& t,
                                              const std::vector<loop_nest::AxisList>& reduces) {
  std::vector<std::vector<std::string>> names;
  for (const loop_nest::AxisList& axes : reduces) {
    names.emplace_back();
    for (size_t i : axes) names.back().push_back(t.nest().axes[i].name);
  }
  return names;
}

// How many terms a reduce along these axes has; nullopt if an axis is symbolic.
std::optional<int64_t> TermsOf(const ScheduleBuilder& t, const loop_nest::AxisList& axes) {
  int64_t terms = 1;
  for (size_t i : axes) {
    if (t.IsSymbolic(i)) return std::nullopt;
    terms *= t.Size(i);
  }
  return terms;
}

// Distributes the reduces, all of one shape, over the work-items of a group: first their innermost
// axes, which are contiguous in memory, then further ones until there are enough work-items.
// Returns false if there are too few terms for a group.
bool GroupAlong(ScheduleBuilder& t, const std::vector<loop_nest::AxisList>& reduces) {
  const passes::Target& target = t.target();
  std::vector<std::vector<std::string>> names = NamesOf(t, reduces);
  const std::optional<int64_t> terms = TermsOf(t, reduces[0]);
  if (!terms) return false;
  const int64_t most = t.MostItems(t.WorkItems(), *terms);
  const size_t num_axes = names[0].size();
  const bool is_short = t.Size(reduces[0].back()) < target.group_items / 2;
  if (is_short && *terms < target.least_steps * most) return false;
  for (auto& of_one : names)
    of_one.back() = InAccessesPadded<directive::Unroll>(t, of_one.back(), most);
  int64_t items = 1;
  for (size_t k = num_axes; k-- > 0 && items < t.GroupItems();) {
    const std::string name = names[0][k];
    const int64_t share = GreatestDivisor(t.Size(t.nest().AxisNamed(name)), most / items);
    if (items * share < target.least_group_items && k == 0) break;
    const bool whole = share == t.Size(t.nest().AxisNamed(name));
    if (share <= 1 || !t.Try<directive::Group>(t.nest().AxisNamed(name), share)) continue;
    items *= share;
    const std::string group = whole ? name : name + ".1";
    for (size_t n = 1; n < names.size(); ++n)
      t.TryWith<directive::Group>(t.nest().AxisNamed(names[n][k]), group);
  }
  return items > 1;
}

// The number of the kernel's reduces that this one depends on.
size_t ReducesBeneath(const ScheduleBuilder& t, const UOp* reduce) {
  NodeSet reduces;
  for (const analysis::BaseAxis& b : t.nest().base) {
    if (const UOp* other = t.ReduceOf(b); other && other != reduce) reduces.Insert(other);
  }
  const std::vector<const UOp*> nodes = PostOrder(reduce);
  return static_cast<size_t>(
      llvm::count_if(nodes, [&](const UOp* u) { return reduces.Contains(u); }));
}

// The axes of the reduces that depend on another reduce; empty if there are none.
std::vector<std::string> OuterReduceAxes(const ScheduleBuilder& t) {
  std::vector<std::string> axes;
  for (const analysis::BaseAxis& b : t.nest().base) {
    const UOp* reduce = t.ReduceOf(b);
    if (reduce && !b.size.is_symbolic() && ReducesBeneath(t, reduce) > 0) axes.push_back(b.name);
  }
  return axes;
}

// The product of these axes' sizes.
int64_t TripCount(const ScheduleBuilder& t, const std::vector<std::string>& names) {
  int64_t steps = 1;
  for (const std::string& name : names) steps *= t.Size(t.nest().AxisNamed(name));
  return steps;
}

// Whether a group has enough work if each work-item computes one of `results` of an inner reduce.
bool FillsGroup(const ScheduleBuilder& t, int64_t results) {
  return results >= 2 * t.target().least_group_items;
}

// The outermost axis of each reduce.
std::vector<std::string> FirstAxes(const ScheduleBuilder& t) {
  std::vector<std::string> names;
  for (const loop_nest::AxisList& axes : AxesByReduce(t))
    names.push_back(t.nest().axes[axes[0]].name);
  return names;
}

// Whether several results read the same element.
bool IsReused(const ScheduleBuilder& t, const analysis::Access& a) {
  return !a.is_store() &&
         llvm::any_of(t.Axes(AxisKind::kGlobal), [&](size_t i) { return t.Stride(a, i) == 0; });
}

bool ReusesAny(const ScheduleBuilder& t) {
  return llvm::any_of(t.accesses(), [&](const analysis::Access& a) { return IsReused(t, a); });
}

// Whether operands are reused along different axes, as those of a product, for which other rules
// are better.
bool IsProduct(const ScheduleBuilder& t) {
  size_t reusing = 0;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    reusing += llvm::any_of(t.accesses(), [&](const analysis::Access& a) {
      return !a.is_store() && t.Stride(a, i) == 0;
    });
  }
  return reusing > 1;
}

// Sums of columns, all of one shape: a group has neighbouring columns, so that it reads whole
// sectors of memory, and its work-items share the terms of each. Returns false if there are enough
// results for a work-item each, or too few terms for a group.
bool GroupAcross(ScheduleBuilder& t, const std::vector<loop_nest::AxisList>& reduces) {
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  if (globals.empty() || t.IsSymbolic(globals.back())) return false;
  if (t.WorkItems() >= EnoughItems(t)) return false;
  const passes::Target& target = t.target();
  const int64_t row = 2 * target.least_group_items;
  const int64_t neighbours = GreatestDivisor(t.Size(globals.back()), row);
  const std::vector<std::vector<std::string>> names = NamesOf(t, reduces);
  const std::optional<int64_t> terms = TermsOf(t, reduces[0]);
  if (!terms) return false;
  const int64_t most = t.MostItems(static_cast<double>(t.WorkItems() / neighbours),
                                   static_cast<double>(neighbours * *terms));
  // From the outermost axis, until there are enough work-items.
  std::vector<int64_t> shares;
  int64_t items = 1;
  for (size_t i : reduces[0]) {
    shares.push_back(GreatestDivisor(t.Size(i), most / row / items));
    items *= shares.back();
  }
  if (items == 1 || neighbours * items < target.least_group_items) return false;
  if (!t.Try<directive::Local>(globals.back(), neighbours)) return false;
  for (size_t k = 0; k < shares.size(); ++k) {
    const size_t axis = t.nest().AxisNamed(names[0][k]);
    const bool whole = t.Size(axis) == shares[k];
    if (shares[k] == 1) continue;
    if (!t.Try<directive::Group>(axis, shares[k])) return false;
    const std::string group = whole ? names[0][k] : names[0][k] + ".1";
    for (size_t n = 1; n < names.size(); ++n)
      t.TryWith<directive::Group>(t.nest().AxisNamed(names[n][k]), group);
  }
  t.Neighbours(t.Axes(AxisKind::kLocal).back());
  return true;
}

// Whether all reduces have one shape and sum columns: what they read is contiguous along the
// results and not along the terms.
bool ReadsColumns(const ScheduleBuilder& t, const std::vector<loop_nest::AxisList>& all) {
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  if (all.empty() || globals.empty() || Nests(t) || IsProduct(t)) return false;
  return llvm::all_of(all, [&](const loop_nest::AxisList& axes) {
    const bool alike = std::equal(
        axes.begin(), axes.end(), all[0].begin(), all[0].end(),
        [&](size_t a, size_t b) { return t.nest().axes[a].size == t.nest().axes[b].size; });
    // Whether something that varies along both is contiguous along this one.
    const auto reads = [&](size_t axis, size_t other) {
      return llvm::any_of(t.accesses(), [&](const analysis::Access& a) {
        return !a.is_store() && t.Stride(a, axis) == 1 && t.Stride(a, other) != 0;
      });
    };
    const size_t column = globals.back(), term = axes.back();
    return alike && reads(column, term) && !reads(term, column);
  });
}

// How a group divides sums of columns.
struct ColumnShares {
  int64_t lanes = 1;  // neighbouring columns of a work-item
  int64_t items = 1;  // work-items along the columns
  int64_t terms = 1;  // that a work-item loads together
  int64_t share = 1;  // work-items that divide the terms
};

// Sums of columns as in GroupAcross. Axes that the shares do not divide are padded. Returns false
// if that is not legal.
bool ShareColumns(ScheduleBuilder& t, const std::vector<loop_nest::AxisList>& reduces,
                  const ColumnShares& of) {
  const auto divide = [&](size_t axis, int64_t by) {
    const int64_t size = t.Size(axis);
    return size % by == 0 || (t.PaddingIsAcceptable(size, by) && t.Pad(axis, by));
  };
  const std::vector<std::vector<std::string>> names = NamesOf(t, reduces);
  const size_t column = t.Axes(AxisKind::kGlobal).back();
  std::string left = t.nest().axes[column].name;
  if (!divide(column, of.lanes * of.items)) return false;
  if (of.lanes > 1) {
    const bool whole = t.Size(column) == of.lanes;
    if (whole || !t.Try<directive::Upcast>(column, of.lanes)) return false;
    left += ".0";
  }
  const size_t axis = t.nest().AxisNamed(left);
  if (t.Size(axis) == of.items) return false;  // a single group
  if (!t.Try<directive::Local>(axis, of.items)) return false;
  std::string group;
  for (const std::vector<std::string>& of_one : names) {
    std::string first = of_one[0];
    if (!divide(t.nest().AxisNamed(first), of.share * of.terms)) return false;
    if (of.terms > 1) {
      if (!t.Try<directive::Unroll>(t.nest().AxisNamed(first), of.terms)) return false;
      first += ".0";
    }
    const size_t blocks = t.nest().AxisNamed(first);
    const bool whole = t.Size(blocks) == of.share;
    const bool shares = group.empty() ? t.Try<directive::Group>(blocks, of.share)
                                      : t.TryWith<directive::Group>(blocks, group);
    if (!shares) return false;
    if (group.empty()) group = whole ? first : first + ".1";
  }
  return t.Neighbours(t.nest().AxisNamed(left + ".1"));
}

// What a work-item can load of what varies along both columns and terms.
struct ColumnAccess {
  int64_t lanes = 1;    // most that an access moves
  int64_t aligned = 1;  // of these, by the distance from one row to the next
};
ColumnAccess AccessOfColumns(const ScheduleBuilder& t, const loop_nest::AxisList& terms) {
  const size_t column = t.Axes(AxisKind::kGlobal).back();
  int64_t widest = 1;
  for (const analysis::Access& a : t.accesses()) {
    if (a.is_store() || t.Stride(a, column) != 1 || t.Stride(a, terms[0]) == 0) continue;
    widest = std::max<int64_t>(widest, ByteSize(a.node->dtype.scalar()));
  }
  ColumnAccess out;
  out.lanes = out.aligned = std::max<int64_t>(1, t.target().mem_width / widest);
  for (const analysis::Access& a : t.accesses()) {
    if (a.is_store() || t.Stride(a, column) != 1) continue;
    out.aligned = PowerOfTwoDivisor(t.Stride(a, terms[0]).value_or(1), out.aligned);
  }
  return out;
}

}  // namespace

void ProposeColumns(ScheduleBuilder& t, Proposals& to) {
  if (!t.SharedAlong()) UpcastFewRows(t);
  const std::vector<loop_nest::AxisList> reduces = AxesByReduce(t);
  if (!ReadsColumns(t, reduces) || t.IsSymbolic(t.Axes(AxisKind::kGlobal).back())) return;
  if (t.IsSymbolic(reduces[0][0]) || t.WorkItems() >= EnoughItems(t)) return;
  const ScheduleBuilder::State plain = t.Save();
  const passes::Target& target = t.target();
  const size_t column = t.Axes(AxisKind::kGlobal).back();
  const ColumnAccess access = AccessOfColumns(t, reduces[0]);
  const auto propose = [&](int64_t lanes, int64_t items, int64_t share) {
    // Where rows are not aligned, each element is a load, and there are enough of one term.
    const bool in_elements = lanes > access.aligned || access.aligned < access.lanes / 2;
    for (const int64_t terms : {target.least_steps, target.least_steps / 2, int64_t{1}}) {
      if (in_elements && terms > 1) continue;
      if (ShareColumns(t, reduces, {lanes, items, terms, share})) to.Add();
      t.Restore(plain);
    }
  };
  for (int64_t lanes = access.lanes; lanes >= 1; lanes /= 2) {
    for (int64_t items = target.least_group_items / 2; items <= target.subgroup_size; items *= 2) {
      // Units without a group read nothing.
      const int64_t groups = t.Size(column) / (lanes * items);
      const bool is_least = lanes == 1 && items == target.least_group_items / 2;
      if (2 * groups < target.compute_units && !is_least) continue;
      // One of the largest groups has its unit for itself. Where units get several, nothing runs
      // when it ends, so that it comes last.
      const int64_t most = target.max_group_size / items;
      const bool alone = groups <= target.compute_units;
      for (int64_t share = alone ? most : most / 2; share >= target.least_steps; share /= 2) {
        if (share * items < target.group_items / 2) break;
        propose(lanes, items, share);
      }
      if (!alone) propose(lanes, items, most);
    }
  }
}

bool ScheduleGpuSums(ScheduleBuilder& t) {
  const std::vector<loop_nest::AxisList> all = AxesByReduce(t);
  if (all.empty() || t.IsSymbolic(all[0].back())) return false;
  const loop_nest::AxisList& reduces = all[0];
  // Reduces with contiguous terms. What all results read says nothing about the order of terms.
  size_t along = 0;
  for (const loop_nest::AxisList& axes : all) {
    // A group can share reduces of one shape only.
    const bool alike = std::equal(
        axes.begin(), axes.end(), reduces.begin(), reduces.end(),
        [&](size_t a, size_t b) { return t.nest().axes[a].size == t.nest().axes[b].size; });
    if (!alike) return false;
    along += llvm::any_of(t.accesses(), [&](const analysis::Access& a) {
      return !a.is_store() && t.Stride(a, axes.back()) == 1 && !IsReused(t, a);
    });
  }
  if (along == all.size() && !Nests(t)) return !ReusesAny(t) && GroupAlong(t, all);
  if (along > 0 || Nests(t) || IsProduct(t)) return false;
  return GroupAcross(t, all);
}

bool NestedWindows(ScheduleBuilder& t) {
  const std::vector<std::string> outer = OuterReduceAxes(t);
  const int64_t pixels = TripCount(t, outer);
  if (!FillsGroup(t, pixels) || pixels > ScheduleBuilder::kMostCopies) return false;
  const loop_nest::AxisList reduces = t.Axes(AxisKind::kReduce);
  const bool windows = std::any_of(reduces.begin(), reduces.end(), [&](size_t i) {
    const bool inner = !llvm::is_contained(outer, t.nest().axes[i].name);
    return inner && !t.IsSymbolic(i) && t.Size(i) <= t.target().short_terms;
  });
  if (!windows) return false;
  for (size_t k = outer.size(); k-- > 0;) {
    if (!t.Try<directive::Unroll>(t.nest().AxisNamed(outer[k]))) return false;
  }
  return true;
}

bool NestedReduce(ScheduleBuilder& t) {
  const std::vector<std::string> outer = OuterReduceAxes(t);
  const int64_t items = TripCount(t, outer);
  if (!FillsGroup(t, items) || items > t.MostItems()) return false;
  for (const std::string& name : outer) {
    if (!t.Try<directive::Group>(t.nest().AxisNamed(name))) return false;
  }
  const int64_t words = t.target().AccessWords();
  const loop_nest::AxisList globals = t.Axes(AxisKind::kGlobal);
  if (!globals.empty() && !t.IsSymbolic(globals.back()) && t.Size(globals.back()) % words == 0) {
    t.Try<directive::Upcast>(globals.back(), words);
  }
  UnrollReduce(t);
  const loop_nest::AxisList left = t.Axes(AxisKind::kReduce);
  if (left.empty() || t.IsSymbolic(left[0])) return true;
  const int64_t share = PowerOfTwoDivisor(t.Size(left[0]), t.MostItems() / items);
  if (share > 1) t.Try<directive::Group>(left[0], share);
  return true;
}

bool GroupReduce(ScheduleBuilder& t) {
  const int64_t most = t.MostItems(), least = t.target().least_group_items;
  const loop_nest::AxisList reduces = t.Axes(AxisKind::kReduce);
  const int64_t items = t.WorkItems();
  if (reduces.empty() || items > 2 * t.target().small_grid) return false;
  // Whether groups of the most work-items are no more than keep the device busy.
  const bool is_idle = items * most <= EnoughItems(t);
  const size_t all = ReducesOf(t);
  if (t.Axes(AxisKind::kGlobal).size() > 2) return all == 1 && GroupAlong(t, {reduces});
  std::string group;  // the axis for which the first reduce got work-items; others share them
  for (const std::string& first : FirstAxes(t)) {
    const size_t axis = t.nest().AxisNamed(first);
    if (!group.empty() && t.TryWith<directive::GroupTop>(axis, group)) continue;
    // A reduce that depends on all other reduces, such as a mean over rows of softmax: each of its
    // work-items computes one row or a few.
    const UOp* reduce = t.ReduceOf(t.nest().base[t.nest().axes[axis].base]);
    const bool over_rows = all > 1 && !t.IsSymbolic(axis) && ReducesBeneath(t, reduce) + 1 == all;
    int64_t rows = over_rows ? GreatestDivisor(t.Size(axis), most) : 0;
    const bool divides = GreatestDivisor(t.Size(axis), most) >= least;
    const bool pads = (over_rows || all == 1) && !divides && t.Size(axis) > most && is_idle;
    if (pads && t.Try<directive::PadTo>(axis, most)) rows = most;
    for (const int64_t amount : {most, rows, least}) {
      if (amount < least || t.Size(axis) % amount != 0) continue;
      if (amount == most && !is_idle) continue;
      if (t.nest().GroupSize() * amount > t.target().max_group_size) continue;
      const bool whole = t.Size(axis) == amount;
      if (!t.Try<directive::GroupTop>(axis, amount)) continue;
      if (group.empty()) group = whole ? first : first + ".0";
      break;
    }
  }
  return !group.empty();
}

int64_t MaxSharingItems(const passes::Target& target, int64_t steps) {
  return std::clamp<int64_t>(steps / target.least_steps, 1, target.group_items / 2);
}

int64_t EnoughSharing(const ScheduleBuilder& t) {
  int64_t longest = 0;
  for (const std::string& name : FirstAxes(t)) {
    longest = std::max(longest, t.Size(t.nest().AxisNamed(name)));
  }
  const int64_t most = MaxSharingItems(t.target(), longest);
  int64_t share = 1;
  while (t.WorkItems() * share < EnoughItems(t) && 2 * share <= most) share *= 2;
  return share;
}

bool ShareReduces(ScheduleBuilder& t, int64_t share) {
  const std::vector<std::string> names = FirstAxes(t);
  if (names.empty()) return false;
  for (const std::string& name : names) {
    const size_t i = t.nest().AxisNamed(name);
    if (t.IsSymbolic(i) || t.Size(i) % share != 0 || t.Size(i) < 2 * share) return false;
  }
  if (!t.Try<directive::Group>(t.nest().AxisNamed(names[0]), share)) return false;
  const std::string group = t.nest().axes[t.Axes(AxisKind::kGroup).back()].name;
  for (size_t k = 1; k < names.size(); ++k)
    t.TryWith<directive::Group>(t.nest().AxisNamed(names[k]), group);
  return true;
}

}  // namespace tg::schedule
