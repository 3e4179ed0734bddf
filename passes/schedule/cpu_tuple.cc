#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "passes/schedule/cpu_axes.h"
#include "passes/schedule/rules.h"

namespace tg::schedule {
namespace {

bool IsTuple(const UOp* u) { return u && u->op == Op::kReduceTuple; }

// Whether the staged value is a sum, or what reads one: a reduce is between it and the staged
// values that it is made of.
bool IsStagedSum(const UOp* staged) {
  NodeSet seen;
  std::vector<const UOp*> stack = {staged->src(0)};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (u->op == Op::kReduceAxis) return true;
    if (u->op == Op::kStaged || IsMovement(u->op) || !seen.Insert(u)) {
      if (IsMovement(u->op)) stack.push_back(u->src(0));
      continue;
    }
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  return false;
}

// The global axis along which the tuple varies that fills vectors and along which most loads
// repeat; of several, the longest.
size_t VectorAxis(const ScheduleBuilder& t, analysis::LoopSet varies) {
  size_t best = kNoAxis;
  std::tuple<bool, int64_t, int64_t> best_score;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    if ((varies & analysis::LoopBit(t.nest().axes[i].base)) == 0) continue;
    const int64_t repeats = llvm::count_if(t.accesses(), [&](const analysis::Access& a) {
      return !a.is_store() && t.Stride(a, i) == 0;
    });
    const bool fills = t.Size(i) >= t.target().RegisterWords();
    const std::tuple<bool, int64_t, int64_t> score = {fills, repeats, t.Size(i)};
    if (best == kNoAxis || score > best_score) best = i, best_score = score;
  }
  return best;
}

// Upcasts the axis so that, times `vectors`, it fills a register tile.
void UpcastTile(ScheduleBuilder& t, const std::string& axis, int64_t vectors) {
  const int64_t most = t.target().MaxTile() / t.target().RegisterWords() / vectors;
  const size_t at = t.nest().AxisNamed(axis);
  const int64_t rows = GreatestDivisor(t.Size(at), std::min(most, directive::Upcast::kMost));
  if (rows > 1) t.Try<directive::Upcast>(at, rows);
}

// Results along the axis along which most operands of the terms repeat become vectors, and the
// operands are read where they are, a scalar at a time. Each sum of products of a block is a
// register tile: these vectors by neighbouring terms, or by neighbouring results along the tuple's
// inner axis.
void Schedule(ScheduleBuilder& t, analysis::LoopSet varies) {
  const size_t axis = VectorAxis(t, varies);
  if (axis == kNoAxis) return;
  const std::string name = t.nest().axes[axis].name;
  const int64_t lanes = t.target().RegisterWords();
  const int64_t vectors = t.Size(axis) > lanes ? 2 : 1;
  if (t.IsSymbolic(axis) || t.Size(axis) % (lanes * vectors) != 0) {
    t.Try<directive::PadTo>(axis, lanes * vectors);
  }
  if (!t.Try<directive::Vectorize>(t.nest().AxisNamed(name), lanes)) return;
  if (vectors > 1) {
    const int outer = t.nest().FindAxis(name + ".0");
    if (outer >= 0) t.Try<directive::Upcast>(static_cast<size_t>(outer), vectors);
  }
  // Names, since directives change the positions of axes.
  std::vector<std::string> sums, others;
  for (size_t i : t.Axes(AxisKind::kStage)) {
    const UOp* staged = t.nest().base[t.nest().axes[i].base].staged;
    (IsTuple(staged) || IsStagedSum(staged) ? sums : others).push_back(t.nest().axes[i].name);
  }
  for (const std::string& sum : sums) UpcastTile(t, sum, vectors);
  // Short loops of few instructions: a block's terms are unrolled too, those of sums without a tile
  // further, so that additions need not wait for each other.
  std::vector<std::string> terms;
  for (size_t i : t.Axes(AxisKind::kReduce)) {
    if (!IsTuple(t.nest().base[t.nest().axes[i].base].reduce)) {
      terms.push_back(t.nest().axes[i].name);
    }
  }
  for (const std::string& term : terms) {
    const size_t at = t.nest().AxisNamed(term);
    const UOp* reduce = t.nest().base[t.nest().axes[at].base].reduce;
    const bool is_product = reduce->src(0)->op == Op::kMul;
    const int64_t side = t.target().tile_side;
    const int64_t together = GreatestDivisor(t.Size(at), is_product ? side : 2 * side);
    if (!t.IsSymbolic(at) && together > 1) t.Try<directive::Unroll>(at, together);
  }
  // The results of a work-item: along the axes along which the tuple does not vary.
  std::vector<std::string> results;
  for (size_t i : t.Axes(AxisKind::kGlobal)) {
    const size_t base = t.nest().axes[i].base;
    if ((varies & analysis::LoopBit(base)) == 0) results.push_back(t.nest().axes[i].name);
  }
  for (const std::string& result : results) {
    const size_t at = t.nest().AxisNamed(result);
    const int64_t together = GreatestDivisor(t.Size(at), t.target().tile_side);
    if (!t.IsSymbolic(at) && together > 1 && together < t.Size(at)) {
      t.Try<directive::Upcast>(at, together);
      t.Try<directive::Loop>(t.nest().AxisNamed(result + ".0"));
    } else {
      t.Try<directive::Loop>(at);
    }
  }
}

}  // namespace

void ProposeCpuTuple(ScheduleBuilder& t, Proposals& to) {
  analysis::LoopSet varies = 0;
  for (size_t i = 0; i < t.nest().base.size(); ++i) {
    if (IsTuple(t.nest().base[i].reduce)) varies |= t.nest().varies[i];
  }
  if (t.target().HasVectors()) Schedule(t, varies);
  to.Add();
}

}  // namespace tg::schedule
