// Rows on a GPU that share some reduces while other sums vary along their results, as products of a
// softmax and a matrix.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/gpu_axes.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

// What a group does with the terms of the sums that vary along the results of a row.
struct RowDivision {
  int64_t lanes = 1;    // neighbouring results of a work-item
  int64_t columns = 1;  // work-items along the results
  int64_t sharing = 1;  // work-items that divide the terms of a result
  int64_t rows = 1;     // rows of a work-item, which use the same loads
};

class RowTerms {
 public:
  // Null if the kernel has another form.
  static std::optional<RowTerms> Of(ScheduleBuilder& t) {
    const analysis::LoopSet shared = t.SharedAlong();
    if (!shared || Nests(t)) return std::nullopt;
    if (llvm::any_of(t.nest().base,
                     [](const analysis::BaseAxis& b) { return b.staged != nullptr; }))
      return std::nullopt;
    RowTerms w(t);
    for (size_t i : t.Axes(AxisKind::kGlobal)) {
      if ((shared & analysis::LoopBit(t.nest().axes[i].base)) != 0) w.column_ = i;
    }
    if (t.IsSymbolic(*w.column_)) return std::nullopt;
    const analysis::LoopSet bit = analysis::LoopBit(t.nest().axes[*w.column_].base);
    const std::vector<loop_nest::AxisList> reduces = AxesByReduce(t);
    bool has_maximum = false;
    for (const loop_nest::AxisList& axes : reduces) {
      const bool alike = std::equal(
          axes.begin(), axes.end(), reduces[0].begin(), reduces[0].end(),
          [&](size_t a, size_t b) { return t.nest().axes[a].size == t.nest().axes[b].size; });
      const bool is_divided = axes.size() == 1 || !t.IsSymbolic(axes.back());
      if (!alike || !is_divided) return std::nullopt;
      const bool is_own = (t.nest().varies[t.nest().axes[axes[0]].base] & bit) != 0;
      const UOp* reduce = t.nest().base[t.nest().axes[axes[0]].base].reduce;
      has_maximum |= !is_own && static_cast<Op>(reduce->word()) == Op::kMax;
      Terms& terms = (is_own ? w.own_ : w.row_).emplace_back();
      terms.first = t.nest().axes[axes.front()].name;
      if (axes.size() > 1) terms.last = t.nest().axes[axes.back()].name;
    }
    // As of a softmax: other rules propose norms.
    if (w.own_.empty() || !has_maximum) return std::nullopt;
    w.FindReused();
    // More rows than some tiles have are a contraction's.
    return w.Rows() > 2 * t.target().tile_side ? std::nullopt : std::optional(w);
  }

  int64_t Columns() const { return t_->Size(*column_); }
  int64_t Rows() const { return reused_ ? t_->Size(*reused_) : 1; }
  // The bytes of the narrowest load along the results.
  int64_t NarrowestBytes() const {
    int64_t bytes = 4;
    for (const analysis::Access& a : t_->accesses()) {
      const bool is_row = !a.is_store() && t_->Stride(a, *column_) == 1;
      if (is_row) bytes = std::min<int64_t>(bytes, ByteSize(a.node->dtype.scalar()));
    }
    return bytes;
  }

  // Leaves the schedule in the builder. Returns false if it is not legal.
  bool Write(const RowDivision& d) {
    const std::string column = t_->nest().axes[*column_].name;
    const std::string row = reused_ ? t_->nest().axes[*reused_].name : "";
    if (d.rows > 1 && !t_->Try<directive::Upcast>(At(row), d.rows)) return false;
    const std::string groups = Inner<directive::Upcast>(column, d.lanes).outer;
    const std::string items = Inner<directive::Local>(groups, d.columns).inner;
    if (failed_) return false;
    const int64_t along_last =
        own_[0].last.empty() ? 1 : PowerOfTwoDivisor(t_->Size(At(own_[0].last)), d.sharing);
    const int64_t along_first = d.sharing / along_last;
    std::string last_items, first_items;  // the axes of the first sum's work-items
    for (const Terms& terms : own_) {
      if (along_last > 1) Share(terms.last, along_last, last_items);
      // The loads of several terms wait together.
      const int64_t unrolled = t_->target().AccessWords();
      if (!Pad(terms.first, unrolled * along_first)) return false;
      const std::string rest = Inner<directive::Unroll>(terms.first, unrolled).outer;
      if (along_first > 1) Share(rest, along_first, first_items);
    }
    for (const Terms& terms : row_) {
      if (along_last > 1) ShareWith(terms.last, last_items);
      if (!Pad(terms.first, d.columns * along_first)) return false;
      std::string rest = terms.first;
      if (d.columns > 1) rest = ShareWith(rest, items);
      if (along_first > 1) ShareWith(rest, first_items);
    }
    if (d.columns > 1 && !failed_) failed_ = !t_->Neighbours(At(items));
    return !failed_;
  }

 private:
  // Axes of a reduce.
  struct Terms {
    std::string first, last;  // no last one if there is one only
  };
  // Parts of an axis; an empty name: it has one step.
  struct Parts {
    std::string outer, inner;
  };

  explicit RowTerms(ScheduleBuilder& t) : t_(&t) {}

  size_t At(const std::string& name) const { return t_->nest().AxisNamed(name); }

  // An axis outside of the rows along which what varies with the results is loaded once.
  void FindReused() {
    for (size_t i : t_->Axes(AxisKind::kGlobal)) {
      const bool is_row = i != *column_ && !t_->IsSymbolic(i);
      const bool is_reused = llvm::any_of(t_->accesses(), [&](const analysis::Access& a) {
        return !a.is_store() && t_->Stride(a, i) == 0 && t_->Stride(a, *column_) != 0;
      });
      if (is_row && is_reused) reused_ = i;
    }
  }

  template <typename D>
  Parts Inner(const std::string& name, int64_t steps) {
    failed_ = failed_ || name.empty();
    if (failed_ || steps == 1) return {name, {}};
    const bool whole = t_->Size(At(name)) == steps && !t_->IsSymbolic(At(name));
    failed_ = !t_->Try<D>(At(name), steps);
    return whole ? Parts{{}, name} : Parts{name + ".0", name + ".1"};
  }
  // Divides terms among work-items: those of the axis `items`, or new ones, whose axis that
  // becomes.
  void Share(const std::string& name, int64_t steps, std::string& items) {
    if (items.empty()) {
      items = Inner<directive::Group>(name, steps).inner;
    } else {
      ShareWith(name, items);
    }
  }
  // Returns the axis of the terms that each work-item has.
  std::string ShareWith(const std::string& name, const std::string& items) {
    failed_ = failed_ || name.empty() || items.empty();
    if (failed_) return name;
    const bool whole = t_->Size(At(name)) == t_->Size(At(items)) && !t_->IsSymbolic(At(name));
    failed_ = !t_->TryWith<directive::Group>(At(name), items);
    return whole ? std::string() : name + ".0";
  }
  bool Pad(const std::string& name, int64_t block) {
    const size_t axis = At(name);
    if (t_->IsSymbolic(axis)) return t_->Pad(axis, block);
    if (t_->Size(axis) % block == 0) return true;
    return t_->PaddingIsAcceptable(t_->Size(axis), block) && t_->Pad(axis, block);
  }

  ScheduleBuilder* t_;
  std::optional<size_t> column_, reused_;
  std::vector<Terms> own_, row_;
  bool failed_ = false;
};

}  // namespace

void ProposeRowTerms(ScheduleBuilder& t, Proposals& to) {
  const std::optional<RowTerms> kernel = RowTerms::Of(t);
  if (!kernel) return;
  const ScheduleBuilder::State plain = t.Save();
  const passes::Target& target = t.target();
  const int64_t words = target.AccessWords(), widest = target.mem_width / kernel->NarrowestBytes();
  const int64_t tile = PowerOfTwoDivisor(kernel->Rows(), target.tile_side);
  for (int64_t rows = 1; rows <= tile; rows *= tile > 1 ? tile : 2) {
    for (int64_t lanes = widest; lanes >= std::min(words, widest); lanes /= 2) {
      if (kernel->Columns() % lanes != 0) continue;
      const int64_t most = PowerOfTwoDivisor(kernel->Columns() / lanes, target.subgroup_size);
      for (int64_t columns = most; columns >= std::min(most, words); columns /= 2) {
        for (int64_t items = target.max_group_size; items >= target.subgroup_size; items /= 2) {
          if (items < 2 * columns) break;
          RowTerms writer = *kernel;
          if (writer.Write({lanes, columns, items / columns, rows})) to.Add();
          t.Restore(plain);
        }
      }
    }
  }
}

}  // namespace tg::schedule
