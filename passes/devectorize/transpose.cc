#include "passes/devectorize/transpose.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/decompose/forward.h"

namespace tg {
namespace {

// Shuffles find their way faster within so many bytes.
constexpr int64_t kBlockBytes = 16;

// Which lane of each row it has; -1: not one and the same of all.
int64_t ColumnOf(const UOp* u) {
  const size_t n = u->num_srcs;
  if (u->op != Op::kVectorize || u->dtype.is_bool() || n < 4 || !std::has_single_bit(n)) return -1;
  const auto is_lane = [&](const UOp* s) {
    return s->op == Op::kGep && s->dtype.lanes() == 1 &&
           s->src(0)->dtype.lanes() == static_cast<int>(n) && s->list()[0] == u->src(0)->list()[0];
  };
  return llvm::all_of(u->srcs(), is_lane) ? u->src(0)->list()[0] : -1;
}

// Vectors of lanes of the same rows, one lane of each.
struct Square {
  explicit Square(const UOp* column) : columns(column->num_srcs) {
    for (const UOp* lane : column->srcs()) rows.push_back(lane->src(0));
  }
  bool Has(const UOp* column) const {
    return rows.size() == column->num_srcs && llvm::all_of(llvm::enumerate(rows), [&](auto row) {
             return column->src(row.index())->src(0) == row.value();
           });
  }

  bool IsWhole() const { return !llvm::is_contained(columns, nullptr); }

  Nodes rows;
  Nodes columns;  // null: not there
};

// Those that are among some nodes, whole or not.
struct Squares {
  explicit Squares(UOpSpan nodes) {
    NodeMap<uint32_t> of_row;  // by first row: 1 + the last square that begins with it
    for (const UOp* u : nodes) {
      const int64_t column = ColumnOf(u);
      if (column < 0) continue;
      uint32_t& square = of_row[u->src(0)->src(0)];
      if (square == 0 || !all[square - 1].Has(u)) {
        all.emplace_back(u);
        square = static_cast<uint32_t>(all.size());
      }
      all[square - 1].columns[static_cast<size_t>(column)] = u;
      of_column[u] = square;
    }
  }
  bool AnyWhole() const {
    return llvm::any_of(all, [](const Square& s) { return s.IsWhole(); });
  }

  std::vector<Square> all;
  NodeMap<uint32_t> of_column;  // 1 + the square that it is one of
};

using Lanes = llvm::SmallVector<int64_t, 16>;

// These lanes of both, so many of the one and of the other in turn: one shuffle to a compiler, if
// it is written as one of halves.
const UOp* InTurn(Builder& b, const UOp* x, const UOp* y, const Lanes& lanes, size_t run) {
  const std::span<const int64_t> picked(lanes.data(), lanes.size());
  const UOp* const halves[] = {b.Gep(x, picked), b.Gep(y, picked)};
  const UOp* both = b.Cat(halves);
  Lanes order;
  for (size_t at = 0; at < lanes.size(); at += run) {
    for (const size_t first : {at, lanes.size() + at}) {
      for (size_t k = first; k < first + run; ++k) order.push_back(static_cast<int64_t>(k));
    }
  }
  return b.Gep(both, {order.data(), order.size()});
}

// Runs of lanes: every second one of `n` lanes, from the first or from the second on.
Lanes EverySecond(size_t n, size_t run, bool second) {
  Lanes lanes;
  for (size_t at = second ? run : 0; at < n; at += 2 * run) {
    for (size_t k = at; k < at + run; ++k) lanes.push_back(static_cast<int64_t>(k));
  }
  return lanes;
}

// Within blocks by perfect shuffles (Stone, "Parallel Processing with the Perfect Shuffle", 1971),
// blocks by exchanging halves (Eklundh, "A Fast Computer Method for Matrix Transposing", 1972).
Nodes Transposed(Builder& b, Nodes v) {
  const size_t n = v.size();
  const auto in_block = static_cast<size_t>(kBlockBytes / ByteSize(v[0]->dtype.scalar()));
  const size_t block = std::min(n, std::max<size_t>(in_block, 1));
  Nodes next(n);
  for (size_t done = 1; done < block; done *= 2) {
    for (size_t i = 0; i < n; ++i) {
      const size_t first = i / block * block, pair = first + i % block / 2;
      const Lanes half = EverySecond(n, block / 2, i % 2 != 0);
      next[i] = InTurn(b, v[pair], v[pair + block / 2], half, 1);
    }
    std::swap(v, next);
  }
  for (size_t run = block; run < n; run *= 2) {
    for (size_t i = 0; i < n; ++i) {
      const size_t low = i & ~run;
      next[i] = InTurn(b, v[low], v[low + run], EverySecond(n, run, low != i), run);
    }
    std::swap(v, next);
  }
  return v;
}

}  // namespace

void TransposeSquares(Body& body, RootOrder& root_order) {
  // Few bodies have any, and it is faster to look at all nodes than to find those in use.
  if (!Squares(body.context->FirstNodes(body.context->num_nodes())).AnyWhole()) return;
  const UOpSpan order = root_order.Get();
  const Squares squares(order);
  if (!squares.AnyWhole()) return;
  Builder b(*body.context);
  std::vector<Nodes> made(squares.all.size());
  ForwardRewrite(body, order, [&](const UOp* u, UOpSpan srcs) {
    const uint32_t of = squares.of_column.Get(u);
    if (of == 0 || !squares.all[of - 1].IsWhole()) return WithSources(b, u, srcs);
    const Square& square = squares.all[of - 1];
    Nodes& columns = made[of - 1];
    if (columns.empty()) {
      for (const UOp* lane : srcs) columns.push_back(lane->src(0));
      columns = Transposed(b, std::move(columns));
    }
    return columns[static_cast<size_t>(llvm::find(square.columns, u) - square.columns.begin())];
  });
}

}  // namespace tg
