// V501-V506, V509, and the lanes of contract: what holds for a kernel's body as a whole.
#include <algorithm>
#include <tuple>

#include "ir/verify/body_check.h"

namespace tg::verify {
namespace {

// Memory that each address points into. Sources come first, so one pass is enough.
MemoryRoots FindRoots(const std::vector<const UOp*>& order) {
  MemoryRoots roots;
  for (const UOp* u : order) {
    if (u->op == Op::kDefineGlobal || u->op == Op::kScratch) {
      roots[u] = u;
    } else if (u->dtype.is_memory() && u->num_srcs) {
      if (const UOp* root = roots.Get(u->src(0))) roots[u] = root;
    }
  }
  return roots;
}

void CheckRoots(BodyCheck& c, const MemoryRoots& roots) {
  for (const UOp* u : c.order) {
    if (!u->dtype.is_memory() || (u->op != Op::kVectorize && u->op != Op::kCat)) continue;
    for (const UOp* s : u->srcs()) {
      if (roots.Get(s) == roots.Get(u)) continue;
      c.Error(Rule::kMemoryRoot, u,
              "addresses in different memory: " + c.Name(roots.Get(u)) + " and " +
                  c.Name(roots.Get(s)));
      return;
    }
  }
}

void CheckSlots(BodyCheck& c) {
  std::vector<const UOp*> slots;
  for (const UOp* u : c.order) {
    if (u->op == Op::kDefineGlobal) slots.push_back(u);
  }
  std::sort(slots.begin(), slots.end(), [](const UOp* a, const UOp* b) {
    return std::pair(a->word(0), a->id) < std::pair(b->word(0), b->id);
  });
  // There may be gaps: a pass may find that a load is not needed.
  for (size_t i = 1; i < slots.size(); ++i) {
    if (slots[i]->word(0) != slots[i - 1]->word(0)) continue;
    return c.Error(Rule::kSlots, slots[i],
                   "slot " + std::to_string(slots[i]->word(0)) + " has another type elsewhere (" +
                       slots[i - 1]->dtype.ToString() + ")");
  }
}

// One id, one node: ranges and scratch; one coordinate, one size: unroll axes and specials.
void CheckIds(BodyCheck& c) {
  std::vector<const UOp*> leaves;
  for (const UOp* u : c.order) {
    if (IsVaryingLeaf(u->op) || u->op == Op::kScratch || u->op == Op::kStage) {
      leaves.push_back(u);
    }
  }
  std::sort(leaves.begin(), leaves.end(), [](const UOp* a, const UOp* b) {
    return std::tuple(a->op, a->word(0), a->id) < std::tuple(b->op, b->word(0), b->id);
  });
  for (size_t i = 1; i < leaves.size(); ++i) {
    const UOp* u = leaves[i];
    if (leaves[i - 1]->op != u->op || leaves[i - 1]->word(0) != u->word(0)) continue;
    const bool scratch = u->op == Op::kScratch || u->op == Op::kStage;
    return c.Error(scratch ? Rule::kScratch : Rule::kLeafIds, u,
                   c.Name(leaves[i - 1]) + " is the same " +
                       (scratch || u->op == Op::kRange ? "id" : "coordinate") +
                       " with another size or type");
  }
}

void CheckScratch(BodyCheck& c) {
  for (const UOp* u : c.order) {
    if (u->op != Op::kScratch) continue;
    if (u->dtype.size() == DType::kUnknownSize || u->dtype.size() == 0) {
      return c.Error(Rule::kScratch, u, "it has no size");
    }
    if (u->dtype.space() == AddrSpace::kGlobal) {
      return c.Error(Rule::kScratch, u, "it is in global memory; scratch is local, private or reg");
    }
  }
}

void CheckBounds(BodyCheck& c) {
  const auto outside = [&](const UOp* u, const UOp* index, int64_t element) {
    c.Error(Rule::kBounds, u,
            "element " + std::to_string(element) + " of " + index->src(0)->dtype.ToString() + " (" +
                c.Name(index->src(0)) + ")");
  };
  for (const UOp* u : c.order) {
    // Which elements: an address alone reaches one, an access from it may reach more.
    const bool access = u->op == Op::kLoad || u->op == Op::kStore;
    const UOp* index = access ? u->src(0) : u;
    if (index->op != Op::kIndex || index->num_srcs > 2) continue;
    const UOp* where = index->src(1);
    if (where->op != Op::kConst && where->op != Op::kVConst) continue;
    const auto at = where->op == Op::kConst ? where->words() : where->list();
    const DType memory = index->src(0)->dtype;
    const bool elements = where->dtype.lanes() == index->dtype.lanes();
    if (memory.is_image() && !elements) {
      for (size_t i = 0; i + 1 < at.size(); i += 2) {
        if (at[i] < 0 || at[i] >= memory.width() || at[i + 1] < 0 || at[i + 1] >= memory.height()) {
          c.Error(Rule::kBounds, u,
                  "texel (" + std::to_string(at[i]) + ", " + std::to_string(at[i + 1]) + ") of " +
                      memory.ToString());
          return;
        }
      }
      continue;
    }
    if (memory.size() == DType::kUnknownSize) continue;
    const int64_t reach = access ? ReachOf(u) : 0;
    for (int64_t first : at) {
      if (first < 0 || first >= memory.size()) return outside(u, index, first);
      const int64_t last = first + reach;
      if (last < 0 || last >= memory.size()) return outside(u, index, last);
    }
  }
}

// A contract's lanes: those of its source for each combination of its axes.
void CheckContracts(BodyCheck& c) {
  std::vector<const UOp*> unrolls;
  for (const UOp* u : c.order) {
    if (u->op == Op::kUnroll) unrolls.push_back(u);
  }
  for (const UOp* u : c.order) {
    if (u->op != Op::kContract) continue;
    int64_t lanes = u->src(0)->dtype.lanes();
    bool varies = true;  // over all axes
    std::vector<int64_t> axes(u->list().begin(), u->list().end());
    for (int64_t axis : axes) {
      const auto it = std::find_if(unrolls.begin(), unrolls.end(),
                                   [&](const UOp* x) { return x->word(0) == axis; });
      // Nothing varies over an axis without a leaf; its size is what the type leaves for it.
      varies &= it != unrolls.end();
      if (it == unrolls.end()) continue;
      if (__builtin_mul_overflow(lanes, (*it)->word(1), &lanes)) lanes = 0;
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
      return c.Error(Rule::kTypeLanes, u, "an axis is listed twice");
    }
    if (varies ? lanes != u->dtype.lanes() : lanes == 0 || u->dtype.lanes() % lanes != 0) {
      return c.Error(Rule::kTypeLanes, u,
                     std::to_string(lanes) + " lanes for the type " + u->dtype.ToString());
    }
  }
}

// Checks rule V509: a kernel over shapes consists of its stores, whose axes are the kernel's.
void CheckStores(BodyCheck& c) {
  const UOp* sink = c.body.root;
  if (sink->num_srcs == 0) return c.Error(Rule::kKernelStores, sink, "the kernel stores nothing");
  for (const UOp* s : sink->srcs()) {
    if (s->op == Op::kStore) continue;
    return c.Error(Rule::kKernelStores, sink,
                   "it takes stores, not " + c.Name(s) + ", " + std::string(Mnemonic(s->op)));
  }
}

}  // namespace

KernelFacts FactsOf(const Body& kernel) {
  std::vector<const UOp*> order;
  NodeSet seen;
  AppendPostOrder(kernel.linear, seen, order);
  if (kernel.root) AppendPostOrder(UOpSpan(&kernel.root, 1), seen, order);
  const MemoryRoots roots = FindRoots(order);
  KernelFacts facts;
  for (const UOp* u : order) {
    if (u->op == Op::kDefineGlobal) {
      const auto slot = static_cast<size_t>(u->word(0));
      if (slot >= facts.slots.size()) facts.slots.resize(slot + 1);
      facts.slots[slot] = u;
    }
    if (u->op == Op::kVar) {
      facts.vars.push_back(kernel.context->String(static_cast<StringId>(u->word(0))));
    }
  }
  facts.written.resize(facts.slots.size());
  for (const UOp* u : order) {
    if (!WritesMemory(u->op)) continue;
    const UOp* root = roots.Get(u->src(0));
    if (!root) continue;
    for (const UOp* a : ArgumentsOf(root)) facts.written[static_cast<size_t>(a->word(0))] = true;
  }
  return facts;
}

void CheckKernelBody(BodyCheck& c) {
  CheckSlots(c);
  CheckIds(c);
  CheckScratch(c);
  const MemoryRoots roots = FindRoots(c.order);
  CheckRoots(c, roots);
  if (c.has_shapes()) {
    CheckStores(c);
  } else {
    CheckBounds(c);
    CheckContracts(c);
  }
}

}  // namespace tg::verify
