#include "codegen/clike/read_ahead.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/affine.h"

namespace tg::clike {
namespace {

// The loop counters and positions in the grid from which a value is computed.
class Origins {
 public:
  const std::set<const UOp*>& Of(const UOp* u) {
    const auto [found, is_new] = origins_.try_emplace(u);
    if (!is_new) return found->second;
    std::set<const UOp*>& origins = found->second;  // a reference that later insertions keep valid
    if (u->op == Op::kRange || u->op == Op::kSpecial) {
      origins.insert(u);
    } else if (u->op != Op::kLoad) {
      for (const UOp* s : u->srcs()) origins.insert(Of(s).begin(), Of(s).end());
    }
    return origins;
  }

 private:
  std::map<const UOp*, std::set<const UOp*>> origins_;
};

// The terms of an address, in an order that equal sums share.
using Terms = std::vector<std::pair<const UOp*, int64_t>>;
Terms SortedTerms(const analysis::AffineExpr& form) {
  Terms terms;
  for (const auto& [node, coef] : form.terms) terms.emplace_back(node, coef);
  llvm::sort(terms);
  return terms;
}

struct Access {
  int64_t constant;
  const UOp* load;
};

}  // namespace

llvm::DenseSet<const UOp*> FindReadAhead(const Kernel& kernel, const passes::Target& target) {
  llvm::DenseSet<const UOp*> result;
  if (target.HidesWaits()) return result;
  Origins origins;
  std::vector<const UOp*> loops;
  std::vector<const UOp*> grid;
  // Loads in one loop from one buffer whose addresses differ by a constant.
  std::map<std::tuple<const UOp*, const UOp*, Terms>, std::vector<Access>> accesses;
  for (const UOp* u : kernel.body.linear) {
    if (u->op == Op::kSpecial) grid.push_back(u);
    if (u->op == Op::kRange) loops.push_back(u);
    if (u->op == Op::kEnd)
      loops.resize(loops.size() - std::min<size_t>(loops.size(), u->num_srcs - 1));
    if (u->op != Op::kLoad || loops.empty() || u->dtype.lanes() == 1 || StrideOf(u) != 1) continue;
    const UOp* address = u->src(0);
    if (address->op != Op::kIndex || address->num_srcs != 2 || address->dtype.lanes() != 1)
      continue;
    const UOp* memory = MemoryOf(address);
    if (memory->op != Op::kDefineGlobal || memory->dtype.is_image()) continue;
    const int64_t element = ByteSize(memory->dtype.scalar());
    const bool is_large =
        memory->dtype.size() < 0 || memory->dtype.size() * element > target.near_cache_bytes;
    const std::optional<analysis::AffineExpr> form = analysis::ParseAffine(address->src(1));
    if (!is_large || !form || form->CoefOf(loops.back()) == 0) continue;
    // Considers only loads whose address depends on every enclosing loop and every dimension of the
    // grid, so that an element is hardly read twice.
    const std::set<const UOp*>& from = origins.Of(address->src(1));
    const auto is_origin = [&](const UOp* loop) { return from.contains(loop); };
    if (!std::all_of(loops.begin(), loops.end(), is_origin) ||
        !std::all_of(grid.begin(), grid.end(), is_origin)) {
      continue;
    }
    accesses[{memory, loops.back(), SortedTerms(*form)}].push_back({form->constant, u});
  }
  for (auto& [key, all] : accesses) {
    const auto& [memory, loop, terms] = key;
    const int64_t element = ByteSize(memory->dtype.scalar());
    const UOp* const counter = loop;
    const int64_t step = std::abs(
        llvm::find_if(terms, [&](const auto& term) { return term.first == counter; })->second);
    if (step * element >= target.cache_line) continue;
    std::stable_sort(all.begin(), all.end(),
                     [](const Access& a, const Access& b) { return a.constant < b.constant; });
    std::vector<const UOp*> lines;
    size_t rows = 0;
    int64_t row = 0, line = 0;
    for (const Access& access : all) {
      const bool is_row = rows == 0 || access.constant - row >= step;
      if (is_row) {
        ++rows;
        row = access.constant;
      }
      if (!is_row && (access.constant - line) * element < target.cache_line) continue;
      line = access.constant;
      lines.push_back(access.load);
    }
    if (rows > 1) result.insert(lines.begin(), lines.end());
  }
  return result;
}

}  // namespace tg::clike
