#include "passes/schedule/gpu_contraction.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/contraction.h"
#include "passes/schedule/gpu_tile.h"

namespace tg {
namespace {

// Base axes by role. Others of what is stored are a batch.
struct Axes {
  int64_t batch = 1;
  size_t row = SIZE_MAX, lane = SIZE_MAX, term = SIZE_MAX;
  size_t packed[2] = {SIZE_MAX, SIZE_MAX};  // numbers of the operands' `packed` ops
};

// The last axis along which one operand alone varies is tiled, for either. nullopt if there is none
// for some role, or an axis of the tile is symbolic.
std::optional<Axes> FindAxes(const Schedule& s, const Contraction& contraction) {
  Axes out;
  LoopSet varies[2] = {0, 0};
  for (size_t n = 0; n < s.packed.size(); ++n) {
    for (size_t k = 0; k < 2; ++k) {
      if (s.packed[n].node != contraction.operands[k]) continue;
      varies[k] |= s.packed[n].varies;
      out.packed[k] = n;
    }
  }
  for (size_t n = 0; n < s.base.size(); ++n) {
    if (s.base[n].size.is_symbolic()) return std::nullopt;
    const bool in[2] = {(varies[0] & LoopBit(n)) != 0, (varies[1] & LoopBit(n)) != 0};
    if (s.base[n].reduce) {
      if (out.term != SIZE_MAX || !in[0] || !in[1]) return std::nullopt;
      out.term = n;
    } else if (s.base[n].IsStored() && in[0] != in[1]) {
      size_t& role = in[0] ? out.row : out.lane;
      if (role != SIZE_MAX) out.batch = SaturatingMul(out.batch, s.base[role].max_size);
      role = n;
    } else {
      out.batch = SaturatingMul(out.batch, s.base[n].max_size);
    }
  }
  const bool found = out.row != SIZE_MAX && out.lane != SIZE_MAX && out.term != SIZE_MAX &&
                     out.packed[0] != SIZE_MAX && out.packed[1] != SIZE_MAX;
  return found ? std::optional(out) : std::nullopt;
}

// Applies directives, and remembers whether all were legal.
class Applier {
 public:
  Applier(Schedule& s, const Target& target) : s_(s), target_(target) {}

  bool ok() const { return ok_; }
  std::vector<Directive> TakeDirectives() { return std::move(directives_); }

  void Do(std::string name, std::vector<DirectiveArg> args) {
    Directive directive{std::move(name), std::move(args)};
    ok_ = ok_ && ApplyDirective(s_, directive, target_).ok();
    if (ok_) directives_.push_back(std::move(directive));
  }
  void PadTo(const std::string& axis, int64_t n) {
    if (Size(axis) % n != 0) Do("padto", {{axis, 0}, {"", n}});
  }
  // Cuts an axis into an outer one, empty if it has one step, and an inner one of n steps.
  std::pair<std::string, std::string> Split(const std::string& axis, int64_t n) {
    if (axis.empty() || Size(axis) == n) return {std::string(), axis};
    Do("split", {{axis, 0}, {"", n}});
    return {axis + ".0", axis + ".1"};
  }

 private:
  int64_t Size(const std::string& axis) const {
    const int at = s_.FindAxis(axis);
    return at < 0 ? 0 : s_.axes[static_cast<size_t>(at)].max_size;
  }

  Schedule& s_;
  const Target& target_;
  bool ok_ = true;
  std::vector<Directive> directives_;
};

// Axes of one role in a tile: those of work-items, the outer one empty if a subgroup has them all.
struct Items {
  std::string outer, inner;
};

// A work-item's results are vectors of `vector` neighbours; the vectors in between belong to other
// work-items, so that the vectors that a subgroup reads at once are neighbours in local memory.
Items TileAxis(Applier& to, const std::string& axis, int64_t results, int64_t items, int64_t vector,
               int64_t in_subgroup) {
  to.PadTo(axis, results * items);
  const auto [vectors, own] = to.Split(axis, vector);
  to.Do("upcast", {{own, 0}});
  const auto [outer, item] = to.Split(vectors, items);
  if (results > vector) {
    const auto [groups, several] = to.Split(outer, results / vector);
    to.Do("upcast", {{several, 0}});
  }
  const auto [subgroups, lanes] = to.Split(item, in_subgroup);
  return {subgroups, lanes};
}

std::optional<std::vector<Directive>> Apply(const GpuTile& tile, const Axes& axes, int64_t vector,
                                            Schedule& s, const Target& target) {
  Applier to(s, target);
  const std::string row = s.base[axes.row].name, lane = s.base[axes.lane].name,
                    term = s.base[axes.term].name;
  to.PadTo(term, tile.depth);
  // A subgroup has about as many rows as lanes of work-items, so that it reads few different
  // elements.
  int64_t lanes_of_subgroup = 1;
  while (lanes_of_subgroup * lanes_of_subgroup < target.subgroup_size) lanes_of_subgroup *= 2;
  const int64_t in_lanes = std::min(tile.item_lanes, lanes_of_subgroup);
  const int64_t in_rows = std::clamp<int64_t>(target.subgroup_size / in_lanes, 1, tile.item_rows);
  const Items rows = TileAxis(to, row, tile.rows, tile.item_rows, vector, in_rows);
  const Items lanes = TileAxis(to, lane, tile.lanes, tile.item_lanes, vector, in_lanes);
  for (const std::string& axis : {rows.outer, lanes.outer, rows.inner, lanes.inner}) {
    if (!axis.empty()) to.Do("local", {{axis, 0}});
  }
  const std::string blocks = to.Split(term, tile.depth).first;
  if (blocks.empty()) return std::nullopt;
  for (const size_t number : axes.packed) {
    std::vector<DirectiveArg> args = {{absl::StrCat("p", number), 0}, {blocks, 0}, {"local", 0}};
    if (tile.copies == GpuTile::Copies::kTurns) args.push_back({"", 2});
    if (tile.copies == GpuTile::Copies::kAhead) args.push_back({"ahead", 0});
    to.Do("pack", std::move(args));
  }
  return to.ok() ? std::optional(to.TakeDirectives()) : std::nullopt;
}

}  // namespace

std::optional<Schedule> ScheduleGpuContraction(const Module& module, const KernelCalls& calls,
                                               Kernel& kernel, const Target& target) {
  std::vector<Contraction> found = FindContractions(kernel);
  if (found.size() != 1 || kernel.body.root->num_srcs != 1 || !target.has_local) {
    return std::nullopt;
  }
  kernel.body.root = WithPackedOperands(kernel, found);
  ShapeMap shapes(module, *kernel.body.context);
  absl::StatusOr<Schedule> s = MakeSchedule(module, calls, kernel, target, shapes);
  if (!s.ok() || s->IsInPlace()) return std::nullopt;
  const std::optional<Axes> axes = FindAxes(*s, found[0]);
  // Each place that reads the sum would have copies of its operands.
  if (!axes || !s->read_once[axes->term]) return std::nullopt;
  ContractionSize size;
  size.batch = axes->batch;
  size.rows = s->base[axes->row].max_size;
  size.lanes = s->base[axes->lane].max_size;
  size.terms = s->base[axes->term].max_size;
  size.bytes = ByteSize(found[0].reduce->dtype.scalar());
  if (size.bytes < 4) return std::nullopt;
  const std::optional<GpuTile> tile = BestGpuTile(size, target);
  if (!tile) return std::nullopt;
  auto directives = Apply(*tile, *axes, target.mem_width / size.bytes, *s, target);
  if (!directives) return std::nullopt;
  kernel.directives = std::move(*directives);
  return *std::move(s);
}

}  // namespace tg
