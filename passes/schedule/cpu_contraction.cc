#include "passes/schedule/cpu_contraction.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/arithmetic.h"
#include "ir/check.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace tg {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// The axes of a contraction by role, as base axes, the outermost first.
struct Roles {
  std::vector<size_t> batch;  // both operands vary along them
  std::vector<size_t> rows;   // the operand of rows alone does
  std::vector<size_t> lanes;  // the operand of lanes alone does; the last has the vectors
  std::vector<size_t> terms;
  size_t lane_operand = 0;
  int64_t result_stride = 1;  // elements between results along the vectors' axis
};

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

// One way to block a contraction. Rows and lanes are in tiles that stay in registers; `strip`: the
// results of a tile along the lanes; `lines`: steps of the lanes' last axis but one.
struct Blocking {
  int64_t vectors = 1, rows = 1;            // of a tile
  int64_t row_groups = 1, lane_groups = 1;  // work-groups along either
  int64_t tiles = 1;                        // of rows, in a group
  int64_t blocks = 1, strips = 1;           // of lanes in a group, and of a block
  int64_t lines = 1;                        // in a block
  int64_t row_lines = 1;                    // steps of the rows' last axis but one, in a group
  int64_t slices = 1, depth = 1;  // of terms along their outermost axis, and its steps in each
  enum class RowCopy { kNone, kTile, kLine, kGroup } row_copy = RowCopy::kTile;
  double seconds = 0;
};

// A loop over an access: the distance of its steps in memory, and their number.
using Steps = llvm::SmallVector<std::pair<int64_t, int64_t>, 8>;

// The number of elements that loops meet, where those of some may overlap.
double DistinctElements(Steps steps) {
  llvm::sort(steps);
  double count = 1;
  int64_t reach = 1;  // from the first of them to behind the last
  for (const auto& [stride, size] : steps) {
    if (stride == 0) continue;
    const int64_t whole = SaturatingAdd(SaturatingMul(stride, size - 1), reach);
    count *= static_cast<double>(size);
    if (stride < reach) count = std::min(count, static_cast<double>(whole));
    reach = whole;
  }
  return count;
}

// The strides of an operand along the base axes, and whether some of it is padding.
struct OperandAccess {
  std::vector<int64_t> strides;
  bool is_gated = false;
};

// How an operand is traversed: the distances in memory of the steps of its tiled axis, of its last
// axis but one, and of the terms.
struct Traversal {
  int64_t tiled = 0, line = 0, outer_term = 0;
  Steps inner_terms;  // inside the outermost axis of terms
  bool is_gated = false;

  // Whether neighbours along the tiled axis share terms, as pixels do in a window.
  bool HasWindow() const {
    return llvm::any_of(inner_terms, [&](const auto& step) {
      return step.first != 0 && step.first <= tiled &&
             SaturatingMul(step.first, step.second - 1) >= tiled;
    });
  }

  // Accesses to memory for each element of a copy: one, as what is written stays in a cache; twice
  // the time where neighbours in the copy are apart in memory.
  double CopyAccesses() const { return tiled == 1 || HasWindow() ? 1 : 2; }

  // Elements that are read for so many steps of each.
  double Elements(int64_t terms, int64_t lines, int64_t steps) const {
    Steps all = inner_terms;
    all.emplace_back(outer_term, terms);
    all.emplace_back(line, lines);
    all.emplace_back(tiled, steps);
    return DistinctElements(std::move(all));
  }
};

class Blocker {
 public:
  // `strides`: of the operands along the base axes.
  Blocker(const Schedule& s, const Roles& roles, const Target& target, DType type,
          const OperandAccess (&operands)[2])
      : target_(target), may_slice_(s.accumulates[roles.terms.front()]) {
    const auto size = [&](size_t n) { return s.base[n].max_size; };
    lanes_ = target.alu_width / ByteSize(type.scalar());
    bytes_ = ByteSize(type.scalar());
    for (size_t n : roles.batch) batch_ *= size(n);
    for (size_t n : roles.rows) others_ *= size(n);
    for (size_t n : roles.lanes) images_ *= size(n);
    for (size_t n : roles.terms) terms_ *= size(n);
    rows_ = size(roles.rows.back());
    others_ /= rows_;
    if (roles.rows.size() > 1) {
      row_lines_ = size(roles.rows[roles.rows.size() - 2]);
      others_ /= row_lines_;
    }
    result_stride_ = roles.result_stride;
    adjacent_ = size(roles.lanes.back());
    images_ /= adjacent_;
    if (roles.lanes.size() > 1) {
      const size_t line = roles.lanes[roles.lanes.size() - 2];
      lines_ = size(line);
      images_ /= lines_;
    }
    outer_terms_ = size(roles.terms.front());
    const auto traversal = [&](const std::vector<size_t>& axes, const OperandAccess& operand) {
      Traversal t;
      const std::vector<int64_t>& of = operand.strides;
      t.is_gated = operand.is_gated;
      t.tiled = of[axes.back()];
      if (axes.size() > 1) t.line = of[axes[axes.size() - 2]];
      t.outer_term = of[roles.terms.front()];
      for (size_t n : roles.terms) {
        if (n != roles.terms.front()) t.inner_terms.emplace_back(of[n], size(n));
      }
      return t;
    };
    of_lanes_ = traversal(roles.lanes, operands[roles.lane_operand]);
    of_rows_ = traversal(roles.rows, operands[1 - roles.lane_operand]);
  }

  std::optional<Blocking> Best() const {
    // A copy that serves fewer results costs as much as their products.
    constexpr int64_t kFewestUses = 16;
    if (lanes_ < 4 || rows_ * row_lines_ * others_ < kFewestUses ||
        adjacent_ * lines_ * images_ < kFewestUses || adjacent_ < lanes_ / 2 || terms_ < 4) {
      return std::nullopt;
    }
    // Lanes of a window that are apart would be loaded one by one from its copy.
    if (of_lanes_.HasWindow() && of_lanes_.tiled > 1) return std::nullopt;
    std::vector<Blocking> tiles = Tiles();
    constexpr size_t kMostTiles = 16;
    if (tiles.size() > kMostTiles) tiles.resize(kMostTiles);
    std::optional<Blocking> best;
    for (Blocking b : tiles) {
      for (int64_t parts = 1; parts <= 4 * target_.compute_units; parts *= 2) {
        for (b.row_groups = 1; b.row_groups <= parts; b.row_groups *= 2) {
          b.lane_groups = parts / b.row_groups;
          for (const int64_t lines : Divisors(lines_)) {
            for (const int64_t row_lines : Divisors(row_lines_)) {
              b.lines = lines, b.row_lines = row_lines;
              using enum Blocking::RowCopy;
              for (const auto copy : {kNone, kTile, kLine, kGroup}) {
                b.row_copy = copy;
                for (const bool slices : {false, true}) {
                  const Blocking c = Costed(b, slices);
                  if (!best || c.seconds < best->seconds) best = c;
                }
              }
            }
          }
        }
      }
    }
    return best;
  }

 private:
  // Register tiles, the best first, by the share of the multiply-adds that are needed and the rate
  // at which they are done: an addition waits for the one before it in its accumulator, or for its
  // loads.
  std::vector<Blocking> Tiles() const {
    std::vector<Blocking> tiles;
    // The other half is for operands, each element of a row in a vector of its own.
    const int64_t registers = target_.MaxAccumulators() * 4 / target_.alu_width;
    for (int64_t vectors = 1; vectors <= 4; ++vectors) {
      for (int64_t rows = 2; rows * vectors <= registers && rows <= 16; ++rows) {
        Blocking b;
        b.vectors = vectors, b.rows = rows;
        const auto done =
            static_cast<double>(RoundUp(rows_, rows) * RoundUp(adjacent_, vectors * lanes_));
        b.seconds = done * Stall(b);
        tiles.push_back(b);
      }
    }
    llvm::stable_sort(tiles,
                      [](const Blocking& a, const Blocking& b) { return a.seconds < b.seconds; });
    return tiles;
  }

  static std::vector<int64_t> Divisors(int64_t n) {
    std::vector<int64_t> out;
    for (int64_t d = 1; d <= n; ++d) {
      if (n % d == 0) out.push_back(d);
    }
    return out;
  }

  double Stall(const Blocking& b) const {
    const auto sums = static_cast<double>(b.vectors * b.rows);
    return std::max({1.0, static_cast<double>(target_.fma_accumulators) / sums,
                     static_cast<double>(b.vectors + b.rows) / sums}) +
           static_cast<double>(b.vectors + b.rows) / sums / kLoadsHidden;
  }

  // With `slices`, the terms of a strip are cut to stay in the nearest cache.
  Blocking Costed(Blocking b, bool slices) const {
    const int64_t strip = b.vectors * lanes_, inner = terms_ / outer_terms_;
    const auto bytes = static_cast<double>(bytes_);
    b.tiles = CeilDiv(rows_, b.rows * b.row_groups);
    b.depth = outer_terms_;
    if (slices && may_slice_) {
      const double each = of_lanes_.Elements(1, 1, strip) * bytes;
      b.depth = static_cast<int64_t>(static_cast<double>(target_.near_cache_bytes) / each);
      b.depth = std::clamp<int64_t>(b.depth, 1, outer_terms_);
    }
    b.slices = CeilDiv(outer_terms_, b.depth);
    b.depth = CeilDiv(outer_terms_, b.slices);
    // Rows are transposed in squares if their terms are many enough.
    if (inner == 1 && b.slices > 1) b.depth = RoundUp(b.depth, lanes_);
    const int64_t all = CeilDiv(adjacent_, strip * b.lane_groups);
    const double most = static_cast<double>(target_.core_cache_bytes) / 2 /
                        (of_lanes_.Elements(b.depth, b.lines, strip) * bytes);
    if (most < 1 && b.lines > 1) {
      b.seconds = std::numeric_limits<double>::infinity();
      return b;
    }
    b.blocks = CeilDiv(all, std::max<int64_t>(1, static_cast<int64_t>(most)));
    b.strips = CeilDiv(all, b.blocks);
    const double groups = Product({batch_, others_, row_lines_ / b.row_lines, images_,
                                   lines_ / b.lines, b.row_groups, b.lane_groups});
    const double rows = Product({others_, row_lines_, b.tiles, b.rows, b.row_groups});
    const double lanes = Product({images_, lines_, b.strips, b.blocks, b.lane_groups, strip});
    const double terms = Product({batch_, b.slices, b.depth, inner});
    const double compute = 2 * rows * lanes * terms * Stall(b) / target_.flops_per_second;
    const double passes = groups * Product({b.blocks, b.slices});
    // A copy reads and writes an element; so does each slice but the first one to a result.
    const double lane_copies = passes * of_lanes_.Elements(b.depth, b.lines, b.strips * strip);
    const double row_reads = passes * RowReads(b);
    const double results = rows * lanes * static_cast<double>(batch_);
    const double result_accesses = results * static_cast<double>(2 * b.slices - 1);
    const double moved = of_lanes_.CopyAccesses() * lane_copies + row_reads + result_accesses;
    const double apart = result_accesses * StoresApart() * 2 * static_cast<double>(lanes_) /
                         target_.flops_per_second;
    const auto units = static_cast<double>(target_.compute_units);
    const double rounds = std::ceil(groups / units) * units / groups;
    b.seconds = (compute + apart + moved * bytes / target_.bytes_per_second) * rounds;
    return b;
  }

  // Whether elements so far apart evict each other from the nearest cache: by a multiple of one of
  // its ways.
  bool Conflicts(int64_t stride) const {
    constexpr int64_t kWays = 8;
    return stride != 0 && stride * bytes_ % (target_.near_cache_bytes / kWays) == 0;
  }

  // Multiply-adds of vectors in the time of storing one result, beyond those of vectors of results.
  // Results that are apart are stored one by one; what evicts each other comes back for each.
  double StoresApart() const {
    if (result_stride_ == 1) return 0;
    return Conflicts(result_stride_) ? 32 : 2;
  }

  // Accesses to memory for the rows of a group in one pass over a block.
  double RowReads(const Blocking& b) const {
    const auto most = static_cast<double>(target_.core_cache_bytes) / 4;
    const auto copies = [&](int64_t times, int64_t lines, int64_t steps) {
      const double elements = of_rows_.Elements(b.depth, lines, steps);
      if (elements * static_cast<double>(bytes_) > most)
        return std::numeric_limits<double>::infinity();
      return of_rows_.CopyAccesses() * static_cast<double>(times) * elements;
    };
    switch (b.row_copy) {
      case Blocking::RowCopy::kNone: {
        // A predicate would be in the innermost loop.
        if (of_rows_.is_gated || Conflicts(of_rows_.tiled) || Conflicts(of_rows_.outer_term))
          return std::numeric_limits<double>::infinity();
        return of_rows_.Elements(b.depth, b.row_lines, b.tiles * b.rows);
      }
      case Blocking::RowCopy::kTile:
        return copies(b.tiles * b.row_lines, 1, b.rows);
      case Blocking::RowCopy::kLine:
        return copies(b.row_lines, 1, b.tiles * b.rows);
      case Blocking::RowCopy::kGroup:
        return copies(1, b.row_lines, b.tiles * b.rows);
    }
    TG_UNREACHABLE();
  }

  static double Product(std::initializer_list<int64_t> factors) {
    double product = 1;
    for (int64_t f : factors) product *= static_cast<double>(f);
    return product;
  }

  // Of so many loads one delays the multiply-adds.
  static constexpr double kLoadsHidden = 8;

  const Target& target_;
  const bool may_slice_;
  int64_t lanes_ = 1, bytes_ = 4;
  int64_t result_stride_ = 1;
  int64_t batch_ = 1, rows_ = 1, row_lines_ = 1, others_ = 1, adjacent_ = 1, lines_ = 1,
          images_ = 1, terms_ = 1;
  int64_t outer_terms_ = 1;
  Traversal of_lanes_, of_rows_;
};

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
      const auto found_best = Blocker(*s, way, target, found->reduce->dtype, reads).Best();
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
    kernel.directives = std::move(*directives);
    return *std::move(s);
  };
  std::optional<Schedule> out = schedule();
  if (!out) kernel.body.root = plain;
  return out;
}

}  // namespace tg
