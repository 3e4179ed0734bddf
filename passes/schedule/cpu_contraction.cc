#include "passes/schedule/cpu_contraction.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/arithmetic.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/contraction_blocking.h"

namespace tg {
namespace {

// The ways to choose an axis for vectors: one along which results are adjacent, or else the longest
// one of either operand.
std::vector<Roles> FindRoles(const Schedule& s, const UOp* reduce, const UOp* const (&operands)[2],
                             const std::vector<Access>& accesses) {
  LoopSet varies[2] = {0, 0};
  for (const PackedValue& p : s.packed) {
    for (size_t k = 0; k < 2; ++k) varies[k] |= p.node == operands[k] ? p.varies : 0;
  }
  const auto store = llvm::find_if(accesses, [](const Access& a) { return a.is_store(); });
  if (store == accesses.end()) return {};
  std::vector<size_t> batch, terms, own[2];  // own: axes along which one operand alone varies
  for (size_t n = 0; n < s.base.size(); ++n) {
    if (s.base[n].size.is_symbolic() || n >= 63) return {};
    const bool in[2] = {(varies[0] & LoopBit(n)) != 0, (varies[1] & LoopBit(n)) != 0};
    if (s.base[n].reduce) {
      if (s.base[n].reduce != reduce) return {};
      terms.push_back(n);
    } else if (in[0] == in[1]) {
      batch.push_back(n);
    } else {
      own[in[0] ? 0 : 1].push_back(n);
    }
  }
  std::vector<Roles> out;
  for (size_t k = 0; k < 2 && !terms.empty(); ++k) {
    if (own[k].empty() || own[1 - k].empty()) return {};
    const auto is_adjacent = [&](size_t n) { return std::abs(store->stride[n].value_or(0)) == 1; };
    auto vectors = llvm::find_if(own[k], is_adjacent);
    if (vectors == own[k].end()) {
      vectors = std::max_element(own[k].begin(), own[k].end(), [&](size_t a, size_t b) {
        return s.base[a].max_size < s.base[b].max_size;
      });
    }
    if (!store->stride[*vectors]) continue;
    Roles roles{batch, own[1 - k], own[k], terms, k, std::abs(*store->stride[*vectors])};
    const auto last = roles.lanes.begin() + (vectors - own[k].begin());
    std::rotate(last, last + 1, roles.lanes.end());
    out.push_back(std::move(roles));
  }
  return out;
}

// By the first load that an operand is made of; nullopt if its address is no sum of multiples.
std::optional<OperandAccess> AccessOf(const UOp* operand, const std::vector<Access>& accesses) {
  const UOp* pointer = nullptr;
  for (const UOp* u : PostOrder(operand)) {
    if (u->op != Op::kLoad) continue;
    pointer = u->src(0);
    break;
  }
  while (pointer->num_srcs > 0) pointer = pointer->src(0);
  const auto access = llvm::find_if(accesses, [&](const Access& a) {
    return !a.is_store() && pointer->op == Op::kDefineGlobal && a.slot == pointer->word();
  });
  if (access == accesses.end()) return std::nullopt;
  OperandAccess out;
  out.is_gated = access->is_gated;
  for (const std::optional<int64_t>& stride : access->stride) {
    if (!stride) return std::nullopt;
    out.strides.push_back(std::abs(*stride));
  }
  return out;
}

// Applies directives by axis names; remembers whether all were legal.
class Applier {
 public:
  Applier(Schedule& s, const Target& target) : s_(s), target_(target) {}

  bool ok() const { return ok_; }
  std::vector<Directive> TakeDirectives() { return std::move(directives_); }
  int64_t Size(const std::string& axis) const {
    return s_.axes[static_cast<size_t>(s_.FindAxis(axis))].max_size;
  }
  void Do(std::string name, const std::string& axis, int64_t amount = 0) {
    Directive directive{std::move(name), {{axis, 0}}};
    if (amount != 0) directive.args.push_back({"", amount});
    Keep(std::move(directive));
  }
  void Pack(size_t number, const std::string& axis) {
    Keep({"pack", {{absl::StrCat("p", number), 0}, {axis, 0}}});
  }
  // Marks `n` steps of an axis; returns the rest of it, empty if there is none.
  std::string Mark(std::string name, const std::string& axis, int64_t n) {
    if (!ok_ || n == 1) return axis;
    const bool whole = Size(axis) == n;
    Do(std::move(name), axis, whole ? 0 : n);
    return whole ? std::string() : axis + ".0";
  }
  // Cuts an axis into an outer one and an inner one of `n` steps; an axis of one step is empty.
  std::pair<std::string, std::string> Split(const std::string& axis, int64_t n) {
    if (axis.empty() || !ok_ || n == Size(axis)) return {std::string(), axis};
    if (n == 1) return {axis, std::string()};
    Do("split", axis, n);
    return {axis + ".0", axis + ".1"};
  }
  void Loop(const std::string& axis) {
    if (!axis.empty()) Do("loop", axis);
  }

 private:
  void Keep(Directive directive) {
    ok_ = ok_ && ApplyDirective(s_, directive, target_).ok();
    if (ok_) directives_.push_back(std::move(directive));
  }

  Schedule& s_;
  const Target& target_;
  bool ok_ = true;
  std::vector<Directive> directives_;
};

// Writes a blocking as directives: groups along rows and lanes; in each, loops over blocks of lanes
// and slices of terms, in which the lanes' operand is packed, then over tiles of rows, whose
// operand is packed for each, and over strips.
std::optional<std::vector<Directive>> Apply(const Blocking& b, const Roles& roles, Schedule& s,
                                            const Target& target, int64_t lanes,
                                            const size_t (&packed)[2]) {
  Applier to(s, target);
  const std::string row = s.base[roles.rows.back()].name;
  const std::string lane = s.base[roles.lanes.back()].name;
  const std::string term = s.base[roles.terms.front()].name;
  const auto pad = [&](const std::string& axis, int64_t size) {
    if (to.Size(axis) < size) to.Do("padto", axis, size);
  };
  pad(row, b.rows * b.tiles * b.row_groups);
  pad(lane, lanes * b.vectors * b.strips * b.blocks * b.lane_groups);
  pad(term, b.slices * b.depth);
  std::string strips = to.Mark("vectorize", lane, lanes);
  if (!strips.empty()) strips = to.Mark("upcast", strips, b.vectors);
  const std::string tiles = to.Mark("upcast", row, b.rows);
  if (!to.ok()) return std::nullopt;
  const auto [lane_groups, own_strips] = to.Split(strips, b.strips * b.blocks);
  const auto [blocks, strip_loop] = to.Split(own_strips, b.strips);
  const auto [row_groups, tile_loop] = to.Split(tiles, b.tiles);
  const auto [slices, depth] = to.Split(term, b.depth);
  std::string lines;
  if (b.lines > 1) {
    lines = to.Split(s.base[roles.lanes[roles.lanes.size() - 2]].name, b.lines).second;
  }
  std::string row_lines;
  if (b.row_lines > 1) {
    row_lines = to.Split(s.base[roles.rows[roles.rows.size() - 2]].name, b.row_lines).second;
  }
  if (!to.ok()) return std::nullopt;
  to.Loop(blocks);
  to.Loop(slices);
  std::string around = !slices.empty() ? slices : blocks;
  to.Loop(row_lines);
  to.Loop(tile_loop);
  to.Loop(lines);
  to.Loop(strip_loop);
  // Without a loop around them all, a copy is made at the start of the group.
  if (around.empty() && to.ok()) {
    for (const ScheduledAxis& axis : s.axes) {
      if (axis.kind == AxisKind::kGlobal) around = axis.name;
    }
    if (around.empty()) return std::nullopt;
  }
  to.Pack(packed[roles.lane_operand], around);
  if (b.row_copy != Blocking::RowCopy::kNone) {
    std::string each = b.row_copy == Blocking::RowCopy::kTile ? tile_loop : std::string();
    if (each.empty() && b.row_copy != Blocking::RowCopy::kGroup) each = row_lines;
    to.Pack(packed[1 - roles.lane_operand], each.empty() ? around : each);
  }
  if (!to.ok()) return std::nullopt;
  return to.TakeDirectives();
}

}  // namespace

std::optional<Schedule> ScheduleCpuContraction(const Module& module, const KernelCalls& calls,
                                               Kernel& kernel, const Target& target,
                                               const std::vector<Access>& accesses) {
  const std::optional<Contraction> found = FindContraction(kernel);
  if (!found) return std::nullopt;
  const UOp* const plain = kernel.body.root;
  const UOp* operands[2];
  kernel.body.root = WithPackedOperands(kernel, *found, operands);
  const auto schedule = [&]() -> std::optional<Schedule> {
    ShapeMap shapes(module, *kernel.body.context);
    absl::StatusOr<Schedule> s = MakeSchedule(module, calls, kernel, target, shapes);
    if (!s.ok() || s->IsInPlace()) return std::nullopt;
    const UOp* reduce = nullptr;
    for (const BaseAxis& b : s->base) reduce = b.reduce ? b.reduce : reduce;
    OperandAccess reads[2];
    for (size_t k = 0; k < 2; ++k) {
      std::optional<OperandAccess> access = AccessOf(operands[k], accesses);
      if (!access) return std::nullopt;
      reads[k] = *std::move(access);
    }
    const std::vector<Roles> ways = FindRoles(*s, reduce, operands, accesses);
    const Roles* roles = nullptr;
    std::optional<Blocking> best;
    for (const Roles& way : ways) {
      const auto found_best = BestBlocking(*s, way, target, found->reduce->dtype, reads);
      if (found_best && (!best || found_best->seconds < best->seconds)) {
        best = found_best;
        roles = &way;
      }
    }
    if (!best) return std::nullopt;
    const int64_t lanes = target.alu_width / ByteSize(found->reduce->dtype.scalar());
    size_t packed[2] = {0, 0};
    for (size_t n = 0; n < s->packed.size(); ++n) {
      for (size_t k = 0; k < 2; ++k) packed[k] = s->packed[n].node == operands[k] ? n : packed[k];
    }
    auto directives = Apply(*best, *roles, *s, target, lanes, packed);
    if (!directives) return std::nullopt;
    // Windows are rounded up to whole vectors.
    if (s->PackedBytes() > target.private_memory / 2) return std::nullopt;
    kernel.directives = std::move(*directives);
    return *std::move(s);
  };
  std::optional<Schedule> out = schedule();
  if (!out) kernel.body.root = plain;
  return out;
}

}  // namespace tg
