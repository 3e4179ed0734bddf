#include "runtime/plan/kernel_stats.h"

#include <charconv>
#include <utility>
#include <vector>

#include "base/status.h"
#include "codegen/launch_data.h"
#include "ir/walk.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/plan/needed_shares.h"

namespace tg::runtime {
namespace {

// Returns the values that are the same whatever the memory holds.
NodeSet FindIndexArithmetic(const Body& body) {
  NodeSet of_indices;
  for (const UOp* u : body.linear) {
    const auto is_of_indices = [&](const UOp* s) { return of_indices.Contains(s); };
    const bool leaf = IsConst(u) || u->op == Op::kVConst || u->op == Op::kVar ||
                      u->op == Op::kSpecial || u->op == Op::kRange;
    const bool lanes = u->op == Op::kVectorize || u->op == Op::kSplat || u->op == Op::kGep;
    const bool moves = IsElementwise(u->op) || lanes;
    if (leaf || (moves && llvm::all_of(u->srcs(), is_of_indices))) of_indices.Insert(u);
  }
  return of_indices;
}

// Whether the node selects a value or a constant by index arithmetic: a mask, like a gate.
bool IsMask(const UOp* u, const NodeSet& of_indices) {
  return u->op == Op::kWhere && of_indices.Contains(u->src(0)) &&
         (of_indices.Contains(u->src(1)) || of_indices.Contains(u->src(2)));
}

// Returns the nodes from which addresses, gates and masks are computed, and the masks.
NodeSet AddressNodes(const Body& body) {
  NodeSet seen;
  std::vector<const UOp*> order;
  const NodeSet of_indices = FindIndexArithmetic(body);
  for (const UOp* u : body.linear) {
    if (IsMask(u, of_indices)) {
      AppendPostOrder(u->srcs().first(1), seen, order);
      seen.Insert(u);
    }
    if (u->op == Op::kIndex || u->op == Op::kIf) {
      AppendPostOrder(u->srcs().subspan(u->op == Op::kIndex ? 1 : 0), seen, order);
    }
    if (u->op == Op::kRange || u->op == Op::kSpecial) AppendPostOrder(u->srcs(), seen, order);
  }
  return seen;
}

// Returns the share of one work-item in 2 * M * N * K of a matrix instruction with a name like
// "m16n8k16_..."; 0 for other names.
double MatrixOps(std::string_view name, int subgroup) {
  double product = 2;
  for (const char letter : {'m', 'n', 'k'}) {
    if (name.empty() || name[0] != letter) return 0;
    int extent = 0;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), extent);
    if (error != std::errc()) return 0;
    product *= extent;
    name.remove_prefix(static_cast<size_t>(end - name.data()));
  }
  return product / subgroup;
}

bool IsGlobal(const UOp* address) {
  return address->dtype.is_image() || address->dtype.space() == AddrSpace::kGlobal;
}

double AccessBytes(const UOp* address, DType value) {
  // An element in memory has the pointer's type, even if the access converts it.
  return static_cast<double>(ByteSize(address->dtype.scalar())) * value.lanes();
}

// Returns whether the node negates a comparison. The negation costs nothing, since the comparison
// can be inverted.
bool IsOpposite(const UOp* u) {
  if (u->op != Op::kCmpNe && u->op != Op::kXor) return false;
  const UOp *of = u->src(0), *with = u->src(1);
  if (IsConst(of)) std::swap(of, with);
  return of->dtype.is_bool() && (of->op == Op::kCmpLt || of->op == Op::kCmpNe) && IsConst(with) &&
         with->word() != 0;
}

bool CountsAsOp(const UOp* u) {
  return IsElementwise(u->op) && u->op != Op::kCast && u->op != Op::kBitcast && !IsOpposite(u);
}

// Returns the single special on which a loop's size or a block's condition depends; null if it
// depends on other values.
const UOp* ItemOf(const UOp* opener) {
  const UOp* item = nullptr;
  for (const UOp* u : PostOrder(opener->src(0))) {
    if (u->op != Op::kSpecial) continue;
    if (item) return nullptr;
    item = u;
  }
  return item;
}

// An enclosing `if`.
struct Block {
  const UOp* item;  // the special that alone decides the predicate, or null
  codegen::SizeExpr condition;
};

}  // namespace

absl::StatusOr<KernelWork> CountWork(const Kernel& kernel, const VarLookup& var) {
  constexpr int kSubgroup = 32;
  const Body& body = kernel.body;
  const auto size_of = [&](const UOp* u) -> absl::StatusOr<double> {
    TG_ASSIGN_OR_RETURN(const codegen::SizeExpr size,
                        codegen::SizeExpr::From(u->src(0), *body.context));
    return static_cast<double>(std::max<int64_t>(0, size.Evaluate(var)));
  };
  std::vector<Block> blocks;  // the enclosing blocks
  // Returns the mean of `size` over the values of `item` for which the enclosing blocks are
  // entered. If there are very many values, it uses the first ones.
  const auto mean_of = [&](const codegen::SizeExpr& size,
                           const UOp* item) -> absl::StatusOr<double> {
    constexpr double kMaxItems = 1 << 16;
    TG_ASSIGN_OR_RETURN(const double all, size_of(item));
    double sum = 0, number = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(std::min(all, kMaxItems)); ++i) {
      if (std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
            return block.item == item && block.condition.Evaluate(var, i) == 0;
          })) {
        continue;
      }
      sum += static_cast<double>(std::max<int64_t>(0, size.Evaluate(var, i)));
      ++number;
    }
    return number > 0 ? sum / number : 0;
  };
  const auto trips_of = [&](const UOp* range) -> absl::StatusOr<double> {
    const UOp* item = ItemOf(range);
    if (!item) return size_of(range);
    TG_ASSIGN_OR_RETURN(const codegen::SizeExpr size,
                        codegen::SizeExpr::From(range->src(0), *body.context, item));
    return mean_of(size, item);
  };
  // Returns the fraction of the executions that enter a block if one work-item id decides the
  // predicate; else 1.
  const auto open_block = [&](const UOp* open) -> absl::StatusOr<double> {
    const UOp* item = ItemOf(open);
    absl::StatusOr<codegen::SizeExpr> condition =
        codegen::SizeExpr::From(open->src(0), *body.context, item);
    if (!item || !condition.ok()) {
      blocks.push_back({nullptr, codegen::SizeExpr()});
      return condition.ok() && condition->Evaluate(var) == 0 ? 0.0 : 1.0;
    }
    TG_ASSIGN_OR_RETURN(const double share, mean_of(*condition, item));
    blocks.push_back({item, *std::move(condition)});
    return share;
  };
  double items = 1;
  for (const UOp* u : body.linear) {
    if (u->op != Op::kSpecial) continue;
    TG_ASSIGN_OR_RETURN(const double size, size_of(u));
    items *= size;
  }
  const NodeSet addresses = AddressNodes(body);
  const NeededShares needed = FindNeededShares(kernel, addresses);
  KernelWork work;
  // How often a node runs, and how often its result is needed.
  struct Times {
    double run, needed;
  };
  Times times = {items, items * needed.of_items};
  std::vector<Times> outer;  // `times` outside each enclosing loop and block
  for (const UOp* u : body.linear) {
    if (u->op == Op::kRange) {
      TG_ASSIGN_OR_RETURN(const double trips, trips_of(u));
      outer.push_back(times);
      times.run *= trips;
      times.needed *= trips * needed.Of(u);
    } else if (u->op == Op::kEnd) {
      for (size_t i = 1; i < u->num_srcs && !outer.empty(); ++i) {
        times = outer.back();
        outer.pop_back();
      }
    } else if (u->op == Op::kIf) {
      TG_ASSIGN_OR_RETURN(const double share, open_block(u));
      outer.push_back(times);
      times.run *= share;
      times.needed *= share;
    } else if (u->op == Op::kEndIf && !blocks.empty()) {
      times = outer.back();
      outer.pop_back();
      blocks.pop_back();
    } else if (u->op == Op::kLoad && IsGlobal(u->src(0))) {
      work.load_bytes += times.run * AccessBytes(u->src(0), u->dtype);
    } else if (u->op == Op::kStore && IsGlobal(u->src(0))) {
      work.store_bytes += times.run * AccessBytes(u->src(0), u->src(1)->dtype);
    } else if (u->op == Op::kCopyAsync) {
      const UOp* from = u->src(1);
      work.load_bytes +=
          times.run * static_cast<double>(u->word() * ByteSize(from->dtype.scalar()));
    } else if (u->op == Op::kCopyTransposed) {
      const auto bytes =
          static_cast<double>(u->word(0) * u->word(1) * ByteSize(u->src(1)->dtype.scalar()));
      if (IsGlobal(u->src(1))) work.load_bytes += times.run * bytes;
      if (IsGlobal(u->src(0))) work.store_bytes += times.run * bytes;
    } else if (u->op == Op::kWmma) {
      work.ops += times.needed *
                  MatrixOps(body.context->String(static_cast<StringId>(u->word())), kSubgroup);
    } else if (u->op == Op::kWgmma) {
      // Its name is that of an instruction of eight columns for four subgroups.
      const std::string_view name = body.context->String(static_cast<StringId>(u->word(0)));
      work.ops +=
          times.needed * MatrixOps(name, 4 * kSubgroup) * static_cast<double>(u->word(1)) / 8;
    } else if (CountsAsOp(u) && !addresses.Contains(u)) {
      const double ops = u->op == Op::kMulAcc ? 2 : u->op == Op::kDot4 ? 8 : 1;
      work.ops += times.needed * u->dtype.lanes() * ops;
    }
  }
  return work;
}

}  // namespace tg::runtime
