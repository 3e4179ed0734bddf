// The scheduling directives, each a change of a loop nest.
//
// A directive checks whether it is legal for a nest, with the reason if not, and changes the nest.
// `Apply` does both, and checks what holds for any nest (LoopNest::Check). docs/directives.md
// explains each with an example. A new directive is a struct here, its Check and Apply in a
// .cc file of this folder, and a row in table.cc.
#ifndef TG_PASSES_DIRECTIVES_DIRECTIVES_H_
#define TG_PASSES_DIRECTIVES_DIRECTIVES_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "passes/directives/arguments.h"
#include "passes/loop_nest/loop_nest.h"
#include "passes/target.h"

namespace tg::directive {

// Tiles an axis: `for a` becomes `for a.0 { for a.1 }`. Illegal: split(i0, 3) of 16 steps.
struct Split {
  static constexpr Doc kDoc = {"split", "split(AXIS, N)",
                               "AXIS becomes AXIS.0 and AXIS.1, the latter of size N"};
  std::string axis;
  int64_t size = 0;
  void Visit(auto&& v) { v(axis), v(size); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// `size` steps of an axis, which a directive splits off and binds; 0 or none: the whole axis.
struct BindPart {
  std::string axis;
  std::optional<int64_t> size;
  void Visit(auto&& v) { v(axis), v(size); }

  // Fails if the axis is of none of these kinds or is a loop over blocks of a reduce's terms, if no
  // part of this size can be split off, or if the part has more than `limit` steps. `symbolic`:
  // the whole of a symbolic axis is allowed.
  absl::Status CheckOf(const loop_nest::LoopNest& nest, std::initializer_list<AxisKind> kinds,
                       int64_t limit, bool symbolic = false) const;
  // Splits the part off, as the inner axis unless `is_outer`, and binds it. Returns its position.
  size_t Bind(loop_nest::LoopNest& nest, loop_nest::Binding binding, bool is_outer = false) const;
};

// Illegal: upcast(r0, 4), since terms are no results.
struct Upcast : BindPart {
  static constexpr int64_t kMost = 16;  // copies of the body that a work-item computes
  static constexpr Doc kDoc = {"upcast", "upcast(AXIS[, N])",
                               "N results of an axis, computed by one work-item"};
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: vectorize(i0, 128), which is over 64.
struct Vectorize : BindPart {
  static constexpr int64_t kMost = 64;  // lanes
  static constexpr Doc kDoc = {"vectorize", "vectorize(AXIS[, N])",
                               "as upcast, as the innermost lanes of vectors"};
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: unroll(i0, 4), since results are no terms.
struct Unroll : BindPart {
  static constexpr int64_t kMost = 32;  // terms in a step
  static constexpr Doc kDoc = {"unroll", "unroll(AXIS[, N])", "N terms of a reduce in one step"};
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: local(i0, 2048) on a device whose groups have at most 1024 work-items.
struct Local : BindPart {
  static constexpr Doc kDoc = {"local", "local(AXIS[, N])",
                               "N neighbours on a global axis share a work-group"};
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: loop(r0, 4) if the reduce's results are not what the kernel stores.
struct Loop : BindPart {
  static constexpr Doc kDoc = {
      "loop", "loop(AXIS[, N])",
      "a global axis, or N of it, as a loop inside the work-item; or blocks of a reduce, around "
      "its results"};
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: group(r0, i0.1) if the reduce varies along i0.
struct Group {
  static constexpr Doc kDoc = {
      "group", "group(AXIS[, N|SHARED])",
      "N work-items, or those along a local axis or of another reduce, share a reduce, taking "
      "turns at its terms; or they make what is staged"};
  std::string axis;
  ItemsOrAxis items;
  void Visit(auto&& v) { v(axis), v(items); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
  // Gives work-items their steps, as neighbours or in blocks.
  void Bind(loop_nest::LoopNest& nest, bool owned, bool in_blocks) const;
};

// Illegal: shuffle(r0, 6), since 6 divides no subgroup.
struct Shuffle : Group {
  static constexpr Doc kDoc = {"shuffle", "shuffle(AXIS[, N|SHARED])",
                               "as group, by neighbours in a subgroup, whose shuffles combine the "
                               "parts instead of local memory"};
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

struct GroupTop : Group {
  static constexpr Doc kDoc = {"grouptop", "grouptop(AXIS[, N|SHARED])",
                               "as group, with a block of terms each"};
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: own(s0, i0.1) of other sizes.
struct Own {
  static constexpr Doc kDoc = {
      "own", "own(AXIS, LOCAL)",
      "the work-items along LOCAL each make a part of what is staged along AXIS, and keep it in "
      "private memory, since none reads another's; or terms of a reduce, which shuffles combine"};
  std::string axis;
  std::string items;
  void Visit(auto&& v) { v(axis), v(items); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: pack(p0, r0) in a work-item's memory, since a reduce's axis is no loop around results.
struct Pack {
  static constexpr Doc kDoc = {
      "pack", "pack(VALUE, AXIS[, local[, 2|ahead[, N]]])",
      "in each step of AXIS, a copy of what is read of a `packed` value (p0, p1, ...), in the "
      "order of the loops inside; in local memory, the work-items of a group make it together, in "
      "one or two buffers by turns, the latter also one step ahead; N buffers are filled N - 1 "
      "steps ahead"};
  std::string value;
  std::string axis;
  CopyPlace place;
  void Visit(auto&& v) { v(value), v(axis), v(place); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: matrix(i0, i1, r0) if the factors of the product are floats.
struct Matrix {
  static constexpr Doc kDoc = {
      "matrix", "matrix(ROWS, COLUMNS, TERMS[, LOCAL])",
      "16 rows, 8 columns and 16 terms of a product of halves become one matrix instruction of 32 "
      "work-items. The columns of a staged value are owned by the 4 work-items along LOCAL; "
      "another "
      "sum with the same rows names their upcast axis"};
  std::string rows;
  std::string columns;
  std::string terms;
  std::optional<std::string> items;
  void Visit(auto&& v) { v(rows), v(columns), v(terms), v(items); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: warpgroup(i0, i1, r0, 24), since 24 columns are no power of two.
struct Warpgroup {
  static constexpr Doc kDoc = {
      "warpgroup", "warpgroup(ROWS, COLUMNS, TERMS, N)",
      "64 rows, N columns and 16 terms of a product of halves become one matrix instruction of 128 "
      "work-items, whose factors are copies in local memory"};
  std::string rows;
  std::string columns;
  std::string terms;
  int64_t size = 0;
  void Visit(auto&& v) { v(rows), v(columns), v(terms), v(size); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: stage_in_output(s0) if a result reads another's element.
struct StageInOutput {
  static constexpr Doc kDoc = {
      "stage_in_output", "stage_in_output(AXIS)",
      "keeps the staged value of AXIS in the output, each element where its result will be"};
  std::string axis;
  void Visit(auto&& v) { v(axis); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: padto(i0, 64) of 8 steps, which would more than quadruple the axis.
struct PadTo {
  static constexpr Doc kDoc = {"padto", "padto(AXIS, N)",
                               "rounds an axis up to a multiple of N, guarding what is beyond"};
  std::string axis;
  int64_t size = 0;
  void Visit(auto&& v) { v(axis), v(size); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: overlap(i0, 16) of 12 steps, in which no block fits.
struct Overlap {
  static constexpr Doc kDoc = {"overlap", "overlap(AXIS, N)",
                               "cuts an axis into blocks of N steps, of which the last may overlap "
                               "the one before instead of exceeding the axis"};
  std::string axis;
  int64_t size = 0;
  void Visit(auto&& v) { v(axis), v(size); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: order(i0, r0), since no loop over results is inside of one over terms.
struct Order {
  static constexpr Doc kDoc = {"order", "order(AXIS, AXIS, ...)",
                               "axes of one kind, from the outermost to the innermost"};
  std::vector<std::string> axes;
  void Visit(auto&& v) { v(axes); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: swap(i0, r0), since only global axes are in the grid.
struct Swap {
  static constexpr Doc kDoc = {"swap", "swap(AXIS, AXIS)",
                               "exchanges two global axes in the order of the grid"};
  std::string axis;
  std::string other;
  void Visit(auto&& v) { v(axis), v(other); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: grid(i0, 1), grid(i1, 1).
struct Grid {
  static constexpr std::string_view kDown = "down";
  static constexpr Doc kDoc = {
      "grid", "grid(AXIS, D[, down])",
      "a global axis becomes dimension D of the grid, which goes down from "
      "the axis's last step if it says so"};
  std::string axis;
  int64_t dimension = 0;
  std::optional<std::string> way;
  void Visit(auto&& v) { v(axis), v(dimension), v(way); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// Illegal: neighbours(i0) for a global axis, or for two axes of one kernel.
struct Neighbours {
  static constexpr Doc kDoc = {"neighbours", "neighbours(AXIS)",
                               "the work-items along an axis are neighbours in a group"};
  std::string axis;
  void Visit(auto&& v) { v(axis); }
  absl::Status Check(const loop_nest::LoopNest& nest, const passes::Target& target) const;
  void Apply(loop_nest::LoopNest& nest) const;
};

// ---- What all directives have in common.

// The text of a directive: `local(i0, 4)`.
template <typename D>
Directive ToText(D directive) {
  Directive text{std::string(D::kDoc.name), {}};
  directive.Visit(ArgWriter(text));
  return text;
}

// The directive of that text, whose name has been looked up.
template <typename D>
absl::StatusOr<D> FromText(const Directive& text) {
  D directive;
  ArgReader reader(text);
  directive.Visit(reader);
  if (absl::Status s = reader.Finish(D::kDoc); !s.ok()) return s;
  return directive;
}

// Applies a directive; after an error, which has the reason, the nest is unchanged.
template <typename D>
absl::Status Apply(loop_nest::LoopNest& nest, const D& directive, const passes::Target& target) {
  if (absl::Status s = directive.Check(nest, target); !s.ok()) return s;
  loop_nest::Loops before = nest;
  directive.Apply(nest);
  absl::Status status = nest.Check(target);
  if (!status.ok()) static_cast<loop_nest::Loops&>(nest) = std::move(before);
  return status;
}

}  // namespace tg::directive

namespace tg::directive {

// All directives.
std::span<const directive::Doc> DirectiveDocs();

std::string DirectiveText(const Directive& directive);  // "local(i0, 4)"

// Applies the directive of this text. An unknown or illegal one is an error with the directive and
// the reason, and leaves the nest unchanged.
absl::Status ApplyDirective(loop_nest::LoopNest& nest, const Directive& directive,
                            const passes::Target& target);

// The nest of a kernel's body (Stage::kKernel) and of its directives, applied in order. It refers
// to nodes of the body and to `calls`.
absl::StatusOr<loop_nest::LoopNest> MakeLoopNest(const Module& module, const KernelCalls& calls,
                                                 const Kernel& kernel, const passes::Target& target,
                                                 ShapeMap& shapes);

// Applies directives to a nest, and keeps the legal ones as text.
class DirectiveList {
 public:
  DirectiveList(loop_nest::LoopNest& nest, const passes::Target& target)
      : nest_(nest), target_(target) {}

  template <typename D>
  bool Try(const D& directive) {
    const bool legal = directive::Apply(nest_, directive, target_).ok();
    if (legal) list_.push_back(directive::ToText(directive));
    all_legal_ &= legal;
    return legal;
  }
  bool all_legal() const { return all_legal_; }
  std::vector<Directive> Take() { return std::move(list_); }
  // Splits an axis into an outer one and an inner one of `n` iterations. Returns both names; the
  // name of an axis of one iteration is empty. After an illegal directive, splits nothing and
  // returns the axis as the inner one. The names do not exist if this split is illegal.
  std::pair<std::string, std::string> Split(const std::string& axis, int64_t n);
  // Steps of an axis; 0 if there is none of that name.
  int64_t Size(const std::string& axis) const {
    const int at = nest_.FindAxis(axis);
    return at < 0 ? 0 : nest_.axes[static_cast<size_t>(at)].max_size;
  }
  // Pads an axis to a multiple of `n`; one of a symbolic size always, so that it can be split.
  void Pad(const std::string& axis, int64_t n);

 private:
  loop_nest::LoopNest& nest_;
  const passes::Target& target_;
  std::vector<Directive> list_;
  bool all_legal_ = true;
};

}  // namespace tg::directive

#endif  // TG_PASSES_DIRECTIVES_DIRECTIVES_H_
