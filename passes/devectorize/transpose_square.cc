#include "passes/devectorize/transpose_square.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/transpose.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/legalize/forward.h"

namespace tg::devectorize {
namespace {

// The column of a square that `u` may be: k if `u` is a vectorize of lane k of each of its n rows,
// which have n lanes, for a power of two n > 2. Otherwise -1. The
// columns of a square of two rows are single shuffles already.
int64_t ColumnOf(const UOp* u) {
  const size_t n = u->num_srcs;
  if (u->op != Op::kVectorize || u->dtype.is_bool() || n <= 2 || !std::has_single_bit(n)) return -1;
  const auto is_lane = [&](const UOp* s) {
    return s->op == Op::kGep && s->dtype.lanes() == 1 &&
           s->src(0)->dtype.lanes() == static_cast<int>(n) && s->list()[0] == u->src(0)->list()[0];
  };
  return llvm::all_of(u->srcs(), is_lane) ? u->src(0)->list()[0] : -1;
}

// The columns that are made of the same rows.
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

  legalize::Nodes rows;
  legalize::Nodes columns;  // by lane of the rows; null if no node is this column
};

// The squares of which at least one column is among `nodes`.
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
  NodeMap<uint32_t> of_column;  // by column: 1 + its square in `all`
};

legalize::Nodes Transposed(Builder& b, legalize::Nodes v) {
  const auto picks = [](const UOp* from, llvm::ArrayRef<int64_t> lanes, Builder& builder) {
    return builder.Gep(from, {lanes.data(), lanes.size()});
  };
  for (const auto& round : TransposeRounds(v.size(), ByteSize(v[0]->dtype.scalar()))) {
    legalize::Nodes next;
    for (const TransposeStep& step : round) {
      const UOp* const halves[] = {picks(v[step.first], step.lanes, b),
                                   picks(v[step.second], step.lanes, b)};
      next.push_back(picks(b.Cat(halves), step.order, b));
    }
    v = std::move(next);
  }
  return v;
}

}  // namespace

void TransposeSquares(Body& body, RootOrder& root_order) {
  // Few bodies have any. Looking at all nodes of the context first is faster than finding the nodes
  // that the root reaches.
  if (!Squares(body.context->FirstNodes(body.context->num_nodes())).AnyWhole()) return;
  const UOpSpan order = root_order.Get();
  const Squares squares(order);
  if (!squares.AnyWhole()) return;
  Builder b(*body.context);
  std::vector<legalize::Nodes> made(squares.all.size());
  legalize::ForwardRewrite(body, order, [&](const UOp* u, UOpSpan srcs) {
    const uint32_t of = squares.of_column.Get(u);
    if (of == 0 || !squares.all[of - 1].IsWhole()) return legalize::WithSources(b, u, srcs);
    const Square& square = squares.all[of - 1];
    legalize::Nodes& columns = made[of - 1];
    if (columns.empty()) {
      for (const UOp* lane : srcs) columns.push_back(lane->src(0));
      columns = Transposed(b, std::move(columns));
    }
    return columns[static_cast<size_t>(llvm::find(square.columns, u) - square.columns.begin())];
  });
}

}  // namespace tg::devectorize
