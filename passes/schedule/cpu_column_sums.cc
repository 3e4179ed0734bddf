// Column sums on a CPU: sums over the rows of a row-major matrix, so that the results, not the
// terms, are contiguous in memory. A vector times a row-major matrix is one of them.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/vector_axes.h"

namespace tg::schedule {
namespace {

// The roles of a kernel's axes, as positions of base axes.
struct ColumnSums {
  size_t columns = 0;         // contiguous in the matrix and in the result
  std::vector<size_t> rows;   // axes of the reduce, the outermost first
  std::vector<size_t> alike;  // axes of results that read the same elements of the matrix
  int64_t others = 1;         // number of results along all other axes
  int64_t sharing = 1;        // number of results along `alike`
};

// The only reduce of the kernel; null if there are several, or staged values, or if something is
// symbolic.
const UOp* OnlyReduce(const ScheduleBuilder& t) {
  const UOp* reduce = nullptr;
  for (const analysis::BaseAxis& b : t.nest().base) {
    if (b.staged || b.size.is_symbolic()) return nullptr;
    if (!b.reduce) continue;
    if (t.ReduceOf(b) == nullptr || (reduce && reduce != b.reduce)) return nullptr;
    reduce = b.reduce;
  }
  return reduce;
}

// Whether the load is contiguous along `columns`, and the rows that it reads for different terms of
// a sum do not overlap.
bool ReadsRows(const ScheduleBuilder& t, const analysis::Access& a, size_t columns,
               const std::vector<size_t>& rows) {
  if (a.stride[columns] != 1 || a.masked[columns]) return false;
  return llvm::all_of(rows, [&](size_t n) {
    return a.stride[n] && std::abs(*a.stride[n]) >= t.nest().base[columns].max_size;
  });
}

std::optional<ColumnSums> FindColumnSums(const ScheduleBuilder& t) {
  const loop_nest::LoopNest& s = t.nest();
  if (s.stores != 1 || !OnlyReduce(t)) return std::nullopt;
  const auto store =
      llvm::find_if(t.accesses(), [](const analysis::Access& a) { return a.is_store(); });
  ColumnSums sums;
  std::vector<size_t> results;
  for (size_t n = 0; n < s.base.size(); ++n) {
    (s.base[n].reduce ? sums.rows : results).push_back(n);
  }
  const auto columns = llvm::find_if(results, [&](size_t n) { return store->stride[n] == 1; });
  if (columns == results.end()) return std::nullopt;
  sums.columns = *columns;
  results.erase(columns);
  bool any = false;
  analysis::LoopSet alike = 0;
  for (const analysis::Access& a : t.accesses()) {
    if (a.is_store() || llvm::all_of(sums.rows, [&](size_t n) { return a.stride[n] == 0; }))
      continue;
    // This load is a factor that all columns share, such as an element of the vector.
    if (a.stride[sums.columns] == 0) continue;
    if (!ReadsRows(t, a, sums.columns, sums.rows)) return std::nullopt;
    any = true;
    for (size_t n : results) alike |= a.stride[n] == 0 ? analysis::LoopBit(n) : 0;
  }
  if (!any) return std::nullopt;
  for (size_t n : results) {
    if ((alike & analysis::LoopBit(n)) != 0) {
      sums.alike.push_back(n);
      sums.sharing = SaturatingMul(sums.sharing, s.base[n].max_size);
    } else {
      sums.others = SaturatingMul(sums.others, s.base[n].max_size);
    }
  }
  return sums;
}

// The numbers of vectors of columns that a group may have, each once: with as many groups as there
// are cores, twice as many, and so on.
std::vector<int64_t> VectorsOfGroup(const ScheduleBuilder& t, const ColumnSums& sums,
                                    int64_t width) {
  const int64_t vectors = t.nest().base[sums.columns].max_size / width;
  std::vector<int64_t> shares;
  for (int64_t each = 1; each <= t.target().least_groups; each *= 2) {
    const int64_t groups = CeilDiv(each * t.target().compute_units, sums.others);
    const int64_t share = GreatestDivisor(vectors, std::max<int64_t>(1, vectors / groups));
    if (!llvm::is_contained(shares, share)) shares.push_back(share);
  }
  return shares;
}

// The number of terms in a block: the greatest divisor of `size` up to `most`. If that is below
// half of `most`, it is the number between half of `most` and `most` that needs the least padding.
int64_t TermsOfBlock(int64_t size, int64_t most) {
  int64_t best = GreatestDivisor(size, most);
  if (2 * best > most || size <= most) return best;
  const auto lacks = [&](int64_t terms) { return (terms - size % terms) % terms; };
  best = most;
  for (int64_t terms = most; 2 * terms > most; --terms) {
    if (lacks(terms) < lacks(best)) best = terms;
  }
  return best;
}

// Splits the axes of a reduce, from the innermost outwards, into blocks of at most `most` terms in
// all, by directive D. If padding fills up the last block, the padding is not read.
template <typename D>
void MakeBlocks(ScheduleBuilder& t, const std::vector<std::string>& axes, int64_t most) {
  for (const std::string& name : llvm::reverse(axes)) {
    const auto axis = t.nest().AxisNamed(name);
    const int64_t terms = TermsOfBlock(t.Size(axis), most);
    if (terms > 1 && (t.Size(axis) % terms == 0 || t.Try<directive::PadTo>(axis, terms))) {
      t.Try<D>(axis, terms);
    }
    most /= terms;
  }
}

// Schedules columns that vectors do not divide: groups of columns overlap, each as many vectors as
// registers can hold the sums of while few columns are repeated.
bool ScheduleOverlapping(ScheduleBuilder& t, const ColumnSums& sums, int64_t width) {
  const int64_t most = t.target().accumulator_registers / sums.sharing;
  const int64_t by_turns = t.target().fma_accumulators;
  const int64_t size = t.nest().base[sums.columns].max_size;
  int64_t share = 1;
  for (int64_t more = 2; more <= most; more *= 2) {
    const int64_t block = more * width, groups = CeilDiv(size, block);
    const bool is_enough = SaturatingMul(groups, sums.others) >= t.target().compute_units;
    if (is_enough && t.RepeatsFew(size, block)) share = more;
  }
  const std::string columns = t.nest().base[sums.columns].name;
  std::vector<std::string> rows, alike;
  for (size_t n : sums.rows) rows.push_back(t.nest().base[n].name);
  for (size_t n : sums.alike) alike.push_back(t.nest().base[n].name);
  const int64_t results = share * sums.sharing;
  if (!t.TryBlock<directive::Vectorize>(sums.columns, width, share * width)) return false;
  for (const std::string& name : alike) TryNamed<directive::Upcast>(t, name, 0);
  LoopOverRest(t, analysis::LoopBit(sums.columns));
  if (share > 1) TryNamed<directive::Upcast>(t, columns + ".0", share);
  if (results < by_turns) MakeBlocks<directive::Unroll>(t, rows, by_turns / results);
  return true;
}

// Schedules columns that vectors divide, `share` vectors of them in a group.
bool ScheduleColumns(ScheduleBuilder& t, const ColumnSums& sums, int64_t width, int64_t share) {
  // The number of vectors of sums that fit into registers, and the number of independent ones that
  // hide the latency of an addition.
  const int64_t most = t.target().accumulator_registers;
  const int64_t by_turns = t.target().fma_accumulators;
  const int64_t vectors = t.nest().base[sums.columns].max_size / width, alike = sums.sharing;
  const auto name = [&](size_t n) { return t.nest().base[n].name; };
  const std::string columns = name(sums.columns);
  std::vector<std::string> rows;
  for (size_t n : sums.rows) rows.push_back(name(n));
  if (!t.Try<directive::Vectorize>(sums.columns, width)) return false;
  for (size_t n : sums.alike) TryNamed<directive::Upcast>(t, name(n), 0);
  LoopOverRest(t, analysis::LoopBit(sums.columns));
  const bool keeps = !t.nest().IsInPlace() &&
                     llvm::all_of(sums.rows, [&](size_t n) { return t.nest().accumulates[n]; });
  if (share * alike <= most || !keeps) {
    share = GreatestDivisor(vectors, std::min(share, most / alike));
    if (share > 1) TryNamed<directive::Upcast>(t, columns + ".0", share);
    if (share * alike < by_turns)
      MakeBlocks<directive::Unroll>(t, rows, by_turns / (share * alike));
    return true;
  }
  // Each sum is read and written once for each block of terms. If no two results read the same
  // elements, the block's terms are unrolled into one sum. Otherwise a loop adds them to several
  // sums in turn, and blocks are twice as long.
  if (alike == 1) {
    MakeBlocks<directive::Unroll>(t, rows, by_turns);
  } else {
    MakeBlocks<directive::Split>(t, rows, 2 * by_turns);
  }
  for (const std::string& axis : rows) {
    if (!TryNamed<directive::Loop>(t, axis + ".0", 0)) TryNamed<directive::Loop>(t, axis, 0);
  }
  std::string rest = columns + ".0";
  const int64_t upcast = alike == 1 ? 1 : GreatestDivisor(share, by_turns / alike);
  if (upcast > 1 && TryNamed<directive::Upcast>(t, rest, upcast) && upcast < vectors) rest += ".0";
  TryNamed<directive::Loop>(t, rest, share / upcast);
  return true;
}

}  // namespace

void ProposeCpuColumnSums(ScheduleBuilder& t, Proposals& to) {
  if (t.SharedAlong()) return;
  const std::optional<ColumnSums> sums = FindColumnSums(t);
  if (!sums || sums->sharing > t.target().accumulator_registers / 2) return;
  const VectorAxes lanes(t);
  const int64_t width = PowerOfTwoDivisor(t.Size(sums->columns), lanes.Widest());
  if (2 * width < lanes.Widest()) {
    const bool whole = lanes.Along(sums->columns) == lanes.Widest();
    if (whole && ScheduleOverlapping(t, *sums, lanes.Widest())) to.Add();
    return;
  }
  const ScheduleBuilder::State plain = t.Save();
  for (const int64_t share : VectorsOfGroup(t, *sums, width)) {
    if (ScheduleColumns(t, *sums, width, share)) to.Add();
    t.Restore(plain);
  }
}

}  // namespace tg::schedule
