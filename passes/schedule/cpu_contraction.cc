// Schedules contractions for a CPU. Both operands are packed into panels, for blocks of terms and
// results that stay in a core's caches (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", TOMS 2008; Low et al., "Analytical Modeling Is Enough for High-Performance
// BLIS", TOMS 2016).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/directives/directives.h"
#include "passes/schedule/contraction.h"
#include "passes/schedule/contraction_blocking.h"
#include "passes/schedule/kernel_facts.h"
#include "passes/schedule/merge_axes.h"
#include "passes/schedule/rules.h"
#include "passes/schedule/split_terms.h"
#include "passes/schedule/streamed_rows.h"

namespace tg::schedule {
namespace {

// An assignment of roles to axes. For each product it says which operand varies along the lanes.
struct Way {
  Roles roles;
  std::vector<size_t> lane_operand;
};

// The possible assignments. For each operand, the vectorized axis may be one along which results
// are adjacent in memory, or the longest one. Returns an empty list unless the axes have the same
// roles in all products.
std::vector<Way> FindWays(const loop_nest::LoopNest& s,
                          const std::vector<Contraction>& contractions,
                          const std::vector<OperandAxes>& operands,
                          const std::vector<analysis::Access>& accesses) {
  const auto store =
      llvm::find_if(accesses, [](const analysis::Access& a) { return a.is_store(); });
  if (store == accesses.end()) return {};
  Roles roles;
  std::vector<size_t> own[2];  // axes along which one operand of the first product alone varies
  std::vector<bool> swapped(contractions.size(), false), same(contractions.size(), true);
  for (size_t n = 0; n < s.base.size(); ++n) {
    if (n >= 63) return {};
    if (s.base[n].reduce) {
      if (s.base[n].size.is_symbolic()) return {};
      const bool known = llvm::any_of(
          contractions, [&](const Contraction& c) { return c.reduce == s.base[n].reduce; });
      if (!known) return {};
      continue;
    }
    const std::array<bool, 2> in = operands[0].Vary(n);
    if (in[0] == in[1]) {
      roles.batch.push_back(n);
    } else {
      own[in[0] ? 0 : 1].push_back(n);
    }
    for (size_t c = 0; c < contractions.size(); ++c) {
      same[c] = same[c] && operands[c].Vary(n) == in;
    }
  }
  for (size_t c = 0; c < contractions.size(); ++c) {
    swapped[c] = !same[c];
    for (size_t n = 0; swapped[c] && n < s.base.size(); ++n) {
      if (s.base[n].reduce) continue;
      const std::array<bool, 2> in = operands[0].Vary(n), there = operands[c].Vary(n);
      if (in[0] != there[1] || in[1] != there[0]) return {};
    }
  }
  std::vector<Way> out;
  for (size_t k = 0; k < 2; ++k) {
    if (own[k].empty() || own[1 - k].empty()) return {};
    auto longest = own[k].begin(), adjacent = own[k].end();
    for (auto n = own[k].begin(); n != own[k].end(); ++n) {
      if (s.base[*n].max_size > s.base[*longest].max_size) longest = n;
      if (std::abs(store->stride[*n].value_or(0)) == 1) adjacent = n;
    }
    for (const auto vectors : {adjacent, longest}) {
      if (vectors == own[k].end()) continue;
      Way way;
      way.roles = roles;
      way.roles.rows = own[1 - k];
      way.roles.lanes = own[k];
      // Only rows may be symbolic, and what is outside of all tiles. The results of such rows may
      // be any distance from each other.
      const auto is_symbolic = [&](size_t n) { return s.base[n].size.is_symbolic(); };
      const std::vector<size_t>& rows = way.roles.rows;
      if (llvm::any_of(way.roles.lanes, is_symbolic)) continue;
      way.roles.symbolic_rows = is_symbolic(rows.back());
      if (!store->stride[*vectors] && !llvm::any_of(rows, is_symbolic)) continue;
      way.roles.result_stride =
          std::abs(store->stride[*vectors].value_or(OperandAccess::kUnrelated));
      const auto last = way.roles.lanes.begin() + (vectors - own[k].begin());
      std::rotate(last, last + 1, way.roles.lanes.end());
      for (bool other : swapped) way.lane_operand.push_back(other ? 1 - k : k);
      out.push_back(std::move(way));
      if (adjacent == longest) break;
    }
  }
  return out;
}

// Derives how an operand, which varies along these axes, is addressed from its loads of one
// argument, the first that it reads.
OperandAccess AccessOf(const UOp* operand, analysis::LoopSet varies, const loop_nest::LoopNest& s,
                       const std::vector<analysis::Access>& accesses) {
  const UOp* pointer = nullptr;
  for (const UOp* u : PostOrder(operand)) {
    if (u->op != Op::kLoad) continue;
    pointer = u->src(0);
    break;
  }
  while (pointer->num_srcs > 0) pointer = pointer->src(0);
  OperandAccess out;
  out.strides.assign(s.base.size(), 0);
  for (const analysis::Access& a : accesses) {
    if (a.is_store() || pointer->op != Op::kDefineGlobal || a.slot != pointer->word()) continue;
    bool is_this = true;
    for (size_t n = 0; n < s.base.size(); ++n) {
      is_this = is_this && (a.stride[n] == 0 || (varies & analysis::LoopBit(n)) != 0);
    }
    if (!is_this) continue;
    out.is_indirect |= a.is_gated;
    for (size_t n = 0; n < s.base.size(); ++n) {
      out.is_indirect |= !a.stride[n].has_value();
      const int64_t stride = std::abs(a.stride[n].value_or(OperandAccess::kUnrelated));
      out.strides[n] = std::max(out.strides[n], stride);
    }
  }
  return out;
}

// The cost of what is computed from the finished sums, in additions per result.
double EpilogueWeight(const UOp* root) {
  double weight = 0;
  NodeSet seen;
  std::vector<const UOp*> stack;
  for (const UOp* store : root->srcs()) stack.push_back(store->src(1));
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (u->op == Op::kReduceAxis || !seen.Insert(u)) continue;
    if (IsElementwise(u->op)) weight += passes::OpWeight(u->op);
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  return weight;
}

// Applies directive D to the inner `n` iterations of an axis. Returns the name of the outer axis,
// empty if no iterations are left for it.
template <typename D>
std::string Bind(directive::DirectiveList& to, const std::string& axis, int64_t n) {
  if (!to.all_legal() || n == 1) return axis;
  const bool whole = to.Size(axis) == n;
  to.Try(D{{axis, whole ? std::optional<int64_t>() : n}});
  return whole ? std::string() : axis + ".0";
}

// Writes a blocking as directives. Work-groups divide the rows and lanes. Inside a group there are
// loops over blocks of lanes and slices of terms, in which the lanes' operand is packed. Inside
// these there are loops over tiles of rows and over strips. `row_copy` says in which loop the rows'
// operand is packed, if at all.
std::optional<std::vector<Directive>> Apply(const cost::Blocking& b, const Way& way,
                                            const std::vector<Contraction>& contractions,
                                            loop_nest::LoopNest& s, const passes::Target& target,
                                            int64_t lanes) {
  const Roles& roles = way.roles;
  directive::DirectiveList to(s, target);
  const std::string row = s.base[roles.rows.back()].name;
  const std::string lane = s.base[roles.lanes.back()].name;
  // The axis of terms that is cut into slices. Only a kernel with one product has slices.
  std::string term;
  for (const analysis::BaseAxis& axis : llvm::reverse(s.base))
    term = axis.reduce ? axis.name : term;
  const auto pad = [&](const std::string& axis, int64_t size) {
    if (to.Size(axis) < size) to.Try(directive::PadTo{axis, size});
  };
  if (roles.symbolic_rows) {
    to.Pad(row, b.rows);
  } else {
    pad(row, b.rows * b.tiles * b.row_groups);
  }
  // Strips that overlap need no predicate. If a copy held several of them, their common elements
  // would be in it twice; and no result may get the terms of a slice twice.
  const int64_t strip = lanes * b.vectors, all = b.strips * b.blocks * b.lane_groups;
  const int64_t size = to.Size(lane);
  const bool overlaps =
      b.strips == 1 && b.slices == 1 && size >= strip && CeilDiv(size, strip) == all;
  if (!overlaps) {
    pad(lane, strip * all);
  } else if (size % strip != 0) {
    to.Try(directive::Overlap{lane, strip});
  }
  if (b.slices > 1) pad(term, b.slices * b.depth);
  std::string strips = Bind<directive::Vectorize>(to, lane, lanes);
  if (!strips.empty()) strips = Bind<directive::Upcast>(to, strips, b.vectors);
  const std::string tiles = Bind<directive::Upcast>(to, row, b.rows);
  if (!to.all_legal()) return std::nullopt;
  const auto [lane_groups, own_strips] = to.Split(strips, b.strips * b.blocks);
  const auto [blocks, strip_loop] = to.Split(own_strips, b.strips);
  const auto [row_groups, tile_loop] = to.Split(tiles, b.tiles);
  const std::string slices = b.slices > 1 ? to.Split(term, b.depth).first : std::string();
  std::string lines;
  if (b.lines > 1) {
    lines = to.Split(s.base[roles.lanes[roles.lanes.size() - 2]].name, b.lines).second;
  }
  std::string row_lines;
  if (b.row_lines > 1) {
    row_lines = to.Split(s.base[roles.rows[roles.rows.size() - 2]].name, b.row_lines).second;
  }
  if (!to.all_legal()) return std::nullopt;
  const auto loop = [&](const std::string& axis) {
    if (!axis.empty()) to.Try(directive::Loop{{axis, std::nullopt}});
  };
  loop(blocks);
  loop(slices);
  std::string around = !slices.empty() ? slices : blocks;
  loop(row_lines);
  loop(tile_loop);
  loop(lines);
  loop(strip_loop);
  // If no loop encloses the copy, it is made once, at the start of the group.
  if (around.empty() && to.all_legal()) {
    for (const loop_nest::LoopAxis& axis : s.axes) {
      if (axis.kind == AxisKind::kGlobal) around = axis.name;
    }
    if (around.empty()) return std::nullopt;
  }
  std::string each = b.row_copy == cost::Blocking::RowCopy::kTile ? tile_loop : std::string();
  if (each.empty() && b.row_copy != cost::Blocking::RowCopy::kGroup) each = row_lines;
  if (each.empty()) each = around;
  for (size_t n = 0; n < s.packed.size(); ++n) {
    for (size_t c = 0; c < contractions.size(); ++c) {
      const auto* operand = llvm::find(contractions[c].operands, s.packed[n].node);
      if (operand == std::end(contractions[c].operands)) continue;
      const bool in_lanes =
          static_cast<size_t>(operand - contractions[c].operands) == way.lane_operand[c];
      if (in_lanes ? !b.lanes_in_place : b.row_copy != cost::Blocking::RowCopy::kNone) {
        to.Try(directive::Pack{absl::StrCat("p", n), in_lanes ? around : each, {}});
      }
      break;
    }
  }
  if (!to.all_legal()) return std::nullopt;
  return to.Take();
}

// The blockings whose cost is predicted. Others are worse by their own estimate, by more than its
// error: it does not see each level of the caches.
constexpr size_t kMaxBlockings = 4;
constexpr double kEstimateError = 1.1;

using BlockingOfWay = std::pair<cost::Blocking, const Way*>;

// At most `most` of the blockings as directives, those of the least estimates, up to `slack` times
// the first.
std::vector<std::vector<Directive>> Written(std::vector<BlockingOfWay> blockings, size_t most,
                                            double slack,
                                            const std::vector<Contraction>& contractions,
                                            const loop_nest::LoopNest& nest,
                                            const passes::Target& target, int64_t lanes) {
  llvm::stable_sort(blockings, [](const BlockingOfWay& a, const BlockingOfWay& b) {
    return a.first.seconds < b.first.seconds;
  });
  std::vector<std::vector<Directive>> out;
  for (size_t i = 0; i < std::min(most, blockings.size()); ++i) {
    const auto& [blocking, way] = blockings[i];
    if (blocking.seconds > blockings[0].first.seconds * slack) break;
    loop_nest::LoopNest copy = nest;
    auto directives = Apply(blocking, *way, contractions, copy, target, lanes);
    if (directives) out.push_back(std::move(*directives));
  }
  return out;
}

// The results along the axes of one operand become vector lanes, those along the axes of the other
// become rows. If the kernel adds up several products, each register tile of results sums them one
// after the other; the axes must have the same roles in all of them. `merges_symbolic`: the body in
// which axes of symbolic sizes are merged, too; none if nothing is.
std::optional<BodySchedules> Panels(const BodyRequest& request, Kernel& kernel,
                                    bool merges_symbolic) {
  const auto& [module, calls, plain, wanted] = request;
  const passes::Target& target = plain.target();
  std::vector<Contraction> found = FindContractions(kernel);
  if (found.empty() || plain.HasClosed()) return std::nullopt;
  ShapeMap shapes(module, *kernel.body.context);
  const UOp* const root = kernel.body.root;
  bool merged = MergeResultAxes(kernel.body, shapes);
  if (merges_symbolic) {
    if (!MergeResultAxes(kernel.body, shapes, /*symbolic=*/true)) return std::nullopt;
    merged = true;
  }
  if (SplitTerms(kernel.body, shapes) || merged) found = FindContractions(kernel);
  std::optional<KernelFacts> changed;
  if (kernel.body.root != root) changed.emplace(module, calls, kernel, target);
  const std::vector<analysis::Access>& accesses = (changed ? *changed : plain).accesses();
  kernel.body.root = WithPackedOperands(kernel, found);
  absl::StatusOr<loop_nest::LoopNest> s =
      directive::MakeLoopNest(module, calls, kernel, target, shapes);
  if (!s.ok() || s->IsInPlace()) return std::nullopt;
  const DType type = found[0].reduce->dtype;
  std::vector<OperandAxes> operands;
  for (const Contraction& c : found) operands.push_back(AxesOfOperands(*s, c));
  const std::vector<Way> ways = FindWays(*s, found, operands, accesses);
  const double epilogue = EpilogueWeight(kernel.body.root);
  std::vector<BlockingOfWay> best, considered;
  std::vector<std::vector<Directive>> streamed;
  for (const Way& way : ways) {
    std::vector<Product> products;
    for (size_t c = 0; c < found.size(); ++c) {
      if (found[c].reduce->dtype != type) return std::nullopt;
      Product& product = products.emplace_back();
      for (size_t n = 0; n < s->base.size(); ++n) {
        if (s->base[n].reduce == found[c].reduce) product.terms.push_back(n);
      }
      if (product.terms.empty()) return std::nullopt;
      const size_t k = way.lane_operand[c];
      const auto access = [&](size_t operand) {
        return AccessOf(found[c].operands[operand], operands[c].varies[operand], *s, accesses);
      };
      product.lanes = access(k);
      product.rows = access(1 - k);
    }
    if (products.size() == 1 && IsBoundByLanes(*s, way.roles, products[0], target, type)) {
      streamed = StreamedRows(*s, way.roles, products[0], target, type);
    }
    const auto observe = [&](const cost::Blocking& b) { considered.emplace_back(b, &way); };
    for (const cost::Blocking& blocking :
         BestBlockings(*s, way.roles, products, epilogue, target, type, kMaxBlockings,
                       kEstimateError, wanted > 0 ? BlockingObserver(observe) : nullptr)) {
      best.emplace_back(blocking, &way);
    }
  }
  const int64_t lanes = target.alu_width / ByteSize(type.scalar());
  constexpr double kAny = std::numeric_limits<double>::infinity();
  BodySchedules out;
  out.schedules = Written(std::move(best), kMaxBlockings, kEstimateError, found, *s, target, lanes);
  llvm::append_range(out.schedules, streamed);
  if (out.schedules.empty()) return std::nullopt;
  if (wanted > 0)
    out.others = Written(std::move(considered), wanted, kAny, found, *s, target, lanes);
  return out;
}

}  // namespace

std::optional<BodySchedules> ProposeMergedPanels(const BodyRequest& request, Kernel& kernel) {
  return Panels(request, kernel, /*merges_symbolic=*/true);
}

std::optional<BodySchedules> ProposePanels(const BodyRequest& request, Kernel& kernel) {
  return Panels(request, kernel, /*merges_symbolic=*/false);
}

}  // namespace tg::schedule
