// The part of IndexLowering that combines tuples.
//
// Unlike a reduce, whose accumulator LowerReduces makes, a tuple gets its accumulators here: they
// are read and written together in each iteration of one loop. A number that varies along the
// tuple's inner axes has an accumulator for each index, and a loop along these axes inside the loop
// over terms:
//
//   m = -inf; for d { a[d] = 0 }
//   for terms { n = max(m, m'); for d { a[d] = a[d] * f(m, n) + a'(d) * f(m', n) }; m = n }
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/tuple.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/indexing.h"
#include "passes/indices/index_lowering.h"
#include "passes/indices/rebuild.h"
#include "passes/indices/running_tuple.h"
#include "passes/simplify/affine_sums.h"

namespace tg::indices {
namespace {

void AddMissing(std::vector<const UOp*>& to, const std::vector<const UOp*>& from) {
  for (const UOp* u : from) {
    if (!llvm::is_contained(to, u)) to.push_back(u);
  }
}

// The index expression that is above 0 where a term may be other than the identities: each value
// selects its identity by one comparison of indices. Null if they do not.
const UOp* ChangesResult(Builder& b, const std::vector<const UOp*>& x, UOpSpan identities) {
  const UOp* compared = nullptr;
  bool where_true = false;  // whether the comparison selects identities where it holds
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i]->op != Op::kWhere) return nullptr;
    const bool first = x[i]->src(1) == identities[i];
    if (!first && x[i]->src(2) != identities[i]) return nullptr;
    if (compared && (compared != x[i]->src(0) || where_true != first)) return nullptr;
    compared = x[i]->src(0);
    where_true = first;
  }
  while (compared->op == Op::kXor && IsConst(compared->src(1)) && compared->src(1)->word() != 0) {
    compared = compared->src(0);
    where_true = !where_true;
  }
  if (compared->op != Op::kCmpLt || !compared->src(0)->dtype.is_index()) return nullptr;
  const UOp *less = compared->src(0), *greater = compared->src(1);
  return where_true ? b.Add(b.Sub(less, greater), b.Index(1)) : b.Sub(greater, less);
}

// Whether an expression is the same in the whole launch.
bool IsOfVariables(const UOp* u) {
  return llvm::all_of(PostOrder(u), [](const UOp* v) {
    return v->num_srcs > 0 ? IsElementwise(v->op) : IsConst(v) || v->op == Op::kVar;
  });
}

// By number of the tuple: the numbers that its combined value is computed from, in any number of
// terms, itself included.
std::vector<std::vector<bool>> Dependences(const UOp* u) {
  const size_t n = TupleSize(u);
  std::vector<std::vector<bool>> on(n, std::vector<bool>(n));
  for (size_t i = 0; i < n; ++i) {
    on[i][i] = true;
    const UOp* combined = CombinedTuple(u)[i];
    for (const UOp* v : PostOrder(combined)) {
      if (v->op == Op::kCarried) on[i][static_cast<size_t>(v->word(0)) % n] = true;
    }
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) on[i][j] = on[i][j] || (on[i][k] && on[k][j]);
    }
  }
  return on;
}

}  // namespace

IndexLowering::TupleAt& IndexLowering::PlanTuple(const Key& key) {
  const UOp* first = key.node;
  std::vector<size_t> terms, own;
  for (size_t i = 0; i < nest_.base.size(); ++i) {
    const analysis::BaseAxis& base = nest_.base[i];
    if (base.reduce && IsSameTuple(base.reduce, key.node)) terms.push_back(i), first = base.reduce;
    if (base.staged && IsSameTuple(base.staged, key.node)) own.push_back(i), first = base.staged;
  }
  analysis::Position from = positions_[key.at];
  for (int64_t k : first->list(1)) from.index[static_cast<size_t>(k)] = b_.Index(0);
  for (size_t i : own) from.index[nest_.base[i].dim] = b_.Index(0);
  const auto [it, fresh] = tuples_.try_emplace(Key{first, Intern(from)}.bits());
  TupleAt& plan = it->second;
  if (!fresh) return plan;
  plan.own = own;
  std::vector<const UOp*> unrolls, ranges, specials;
  const std::vector<const UOp*> axis = OwnAxes(first, unrolls, ranges, specials);
  for (const UOp* item : OwnersOf(first)) llvm::erase_value(specials, item);
  const auto is_inner = [&](const UOp* leaf) {
    return nest_.base[nest_.axes[*AxisOfLeaf(leaf)].base].staged != nullptr;
  };
  if (!specials.empty() || !llvm::all_of(unrolls, is_inner)) {
    status_ = absl::InvalidArgumentError("the terms of a reduce_tuple are combined in one loop");
  }
  plan.unrolls = std::move(unrolls);
  for (const UOp* range : ranges) (is_inner(range) ? plan.inner : plan.terms).push_back(range);
  for (size_t i : own) {
    const UOp* value = BaseAxisValue(b_, nest_, i, axis, simplify_);
    from.index[nest_.base[i].dim] = value;
    if (NeedsGuard(i)) {
      from.valid = simplify_(analysis::Both(b_, from.valid, Guard(nest_.base[i], value)));
    }
  }
  for (size_t i : terms) {
    const analysis::BaseAxis& base = nest_.base[i];
    const UOp* value = BaseAxisValue(b_, nest_, i, axis, simplify_);
    from.index[base.dim] = value;
    if (NeedsGuard(i)) {
      const UOp* guard = simplify_(Guard(base, value));
      if (nest_.maps[i].IsPadded()) padded_terms_.emplace_back(guard, value);
      plan.valid = simplify_(analysis::Both(b_, plan.valid, guard));
    }
    from.valid = InLoopsOver(i, PartsOfAxis(i, axis), from.valid);
  }
  if (plan.valid) from.valid = simplify_(analysis::Both(b_, from.valid, plan.valid));
  plan.source = Intern(std::move(from));
  return plan;
}

const UOp* IndexLowering::ElementOf(const TupleAt& plan, const TupleAt::Number& number,
                                    const std::vector<const UOp*>& index) {
  int64_t lanes = 1;
  const UOp* lane = LaneNumber(b_, number.lanes, lanes);
  if (!number.is_inner) return lane;
  Shape extents;
  for (size_t i : plan.own) extents.push_back(nest_.base[i].max_size);
  const UOp* element =
      AmongOwn(analysis::Flatten(b_, extents, index, simplify_), OwnedParts(plan.own));
  return simplify_(b_.Add(b_.Mul(element, b_.Index(lanes)), lane));
}

void IndexLowering::SkipLastTerms(const UOp* u, TupleAt& plan, std::vector<const UOp*>& x) {
  if (plan.terms.size() != 1) return;
  const UOp *range = plan.terms[0], *positive = ChangesResult(b_, x, TupleIdentities(u));
  if (!positive) return;
  const std::optional<analysis::AffineExpr> form = analysis::ParseAffine(simplify_(positive));
  if (!form) return;
  // The greatest value of any lane, without the part of the terms' loop.
  const UOp* most = b_.Index(form->constant);
  int64_t decrease = 0;
  for (const analysis::AffineExpr::Term& term : form->terms) {
    const UOp* leaf = term.node;
    // A group's work-items take as many steps, since they copy and multiply together.
    const bool local = llvm::is_contained(locals_, leaf);
    const bool inside = leaf->op == Op::kUnroll || local || llvm::is_contained(plan.inner, leaf);
    if (leaf == range) {
      decrease = -term.coef;
    } else if (inside && leaf->op != Op::kUnroll && !IsConst(leaf->src(0))) {
      return;
    } else if (inside) {
      const int64_t size = leaf->op == Op::kUnroll ? leaf->word(1) : leaf->src(0)->word();
      if (term.coef > 0) most = b_.Add(most, b_.Index(term.coef * (size - 1)));
    } else if (leaf->op == Op::kRange || leaf->op == Op::kSpecial || IsOfVariables(leaf)) {
      most = b_.Add(most, b_.Mul(leaf, b_.Index(term.coef)));
    } else {
      return;
    }
  }
  if (decrease <= 0) return;
  // most - decrease * i > 0 holds for the first ceil(most / decrease) terms i.
  const UOp* count =
      b_.Alu(Op::kFloorDiv, {b_.Add(most, b_.Index(decrease - 1)), b_.Index(decrease)});
  count = b_.Alu(Op::kMax, {b_.Alu(Op::kMin, {count, range->src(0)}), b_.Index(0)});
  const UOp* fewer = b_.Range(simplify_(count));
  axis_of_range_[fewer] = axis_of_range_.Get(range);
  NodeMap<const UOp*> changed;
  changed[range] = fewer;
  for (const UOp*& value : x) value = Rebuilt(body_, value, changed);
  plan.terms = {fewer};
}

void IndexLowering::EmitTuple(const UOp* u, TupleAt& plan, std::vector<const UOp*> x) {
  const size_t n = x.size();
  if (!plan.valid) SkipLastTerms(u, plan, x);
  if (plan.valid) {
    for (size_t i = 0; i < n; ++i) x[i] = b_.Where(plan.valid, x[i], TupleIdentities(u)[i]);
  }
  const std::vector<std::vector<bool>> on = Dependences(u);
  std::vector<const UOp*> outer;
  plan.numbers.resize(n);
  for (size_t i = 0; i < n; ++i) {
    TupleAt::Number& number = plan.numbers[i];
    for (size_t j = 0; j < n; ++j) {
      if (!on[i][j]) continue;
      AddMissing(number.lanes, free_.UnrollsOf(x[j]));
      for (const UOp* range : free_.RangesOf(x[j])) {
        if (llvm::is_contained(plan.inner, range))
          number.is_inner = true;
        else if (!llvm::is_contained(plan.terms, range))
          AddMissing(outer, {range});
      }
    }
    for (const UOp* lane : plan.unrolls) {
      if (llvm::erase_value(number.lanes, lane); llvm::is_contained(free_.UnrollsOf(x[i]), lane))
        number.is_inner = true;
    }
  }
  // The accumulators before the first term, and in an iteration.
  std::vector<const UOp*> index, mem(n), at(n), before(n), scratch(n);
  for (size_t i : plan.own) index.push_back(positions_[plan.source].index[nest_.base[i].dim]);
  NodeMap<const UOp*> carried;
  std::vector<const UOp*> inits;
  for (size_t i = 0; i < n; ++i) {
    const TupleAt::Number& number = plan.numbers[i];
    int64_t size = 1;
    LaneNumber(b_, number.lanes, size);
    if (number.is_inner) {
      for (size_t k : plan.own) size *= nest_.base[k].max_size;
      for (const OwnedPart& part : OwnedParts(plan.own)) size /= part.size;
    }
    scratch[i] = b_.Scratch(DType::Pointer(x[i]->dtype.scalar(), size, AddrSpace::kReg));
    const UOp* element = at[i] = ElementOf(plan, number, index);
    std::vector<const UOp*> loops;
    NodeMap<const UOp*> fresh;
    for (const UOp* range : number.is_inner ? plan.inner : std::vector<const UOp*>()) {
      loops.push_back(b_.Range(range->src(0)));
      fresh[range] = loops.back();
    }
    if (!loops.empty()) element = Replaced(element, fresh);
    const UOp* init =
        b_.Store(b_.IndexPtr(b_.After(scratch[i], outer), element), TupleIdentities(u)[i]);
    inits.push_back(loops.empty() ? init : b_.End(init, loops));
  }
  for (size_t i = 0; i < n; ++i) {
    std::vector<const UOp*> tokens = {inits[i]};
    tokens.insert(tokens.end(), plan.terms.begin(), plan.terms.end());
    mem[i] = b_.After(scratch[i], tokens);
    before[i] = b_.Load(b_.IndexPtr(mem[i], at[i]));
  }
  const bool runs = RunWithMaximum(u, plan, before[0], x);
  for (const UOp* v : CombiningOrder(u)) {
    if (runs && v == CombinedTuple(u)[0]) {
      carried[v] = x[0];
    } else if (runs && IsFactorOfBlock(u, v)) {
      carried[v] = b_.Const(v->dtype, 1);
    } else if (v->op == Op::kCarried) {
      const auto arg = static_cast<size_t>(v->word(0));
      carried[v] = arg < n ? before[arg] : x[arg - n];
    } else {
      llvm::SmallVector<const UOp*, 4> srcs;
      for (const UOp* s : v->srcs()) srcs.push_back(carried.Get(s));
      carried[v] = b_.context().Rebuild(v, b_.context(), {srcs.data(), srcs.size()});
    }
  }
  // The inner loops read the other numbers as they were before this term.
  std::vector<const UOp*> stores;
  const auto store = [&](size_t i, const UOp* memory) {
    const UOp* combined = CombinedTuple(u)[i];
    const UOp* value = runs && i > 0 ? Accumulated(carried.Get(combined->src(0)), x[i]) : nullptr;
    return b_.Store(b_.IndexPtr(memory, at[i]), value ? value : simplify_(carried.Get(combined)));
  };
  for (size_t i = 0; i < n; ++i) {
    if (!plan.numbers[i].is_inner) continue;
    const UOp* done = store(i, mem[i]);
    stores.push_back(plan.inner.empty() ? done : b_.End(done, plan.inner));
  }
  const std::vector<const UOp*> inside = stores;
  for (size_t i = 0; i < n; ++i) {
    if (plan.numbers[i].is_inner) continue;
    stores.push_back(store(i, inside.empty() ? mem[i] : b_.After(mem[i], inside)));
  }
  const UOp* done = stores.size() == 1 ? stores[0] : b_.context().Make(Op::kNoop, kVoid, stores);
  if (!plan.terms.empty()) done = b_.End(done, plan.terms);
  for (size_t i = 0; i < n; ++i) {
    plan.numbers[i].memory = b_.After(scratch[i], UOpSpan(&done, 1));
  }
}

bool IndexLowering::RunWithMaximum(const UOp* u, const TupleAt& plan, const UOp* before,
                                   std::vector<const UOp*>& x) {
  if (nest_.matrices.empty() || plan.valid || !IsRelativeToMaximum(u)) return false;
  std::vector<const UOp*> values = {b_.Alu(Op::kMax, {before, x[0]})};
  const UOp* maximum = WithoutIdentity(x[0], TupleIdentities(u)[0]);
  NodeMap<const UOp*> changed;
  changed[maximum] = values[0];
  for (size_t i = 1; i < x.size(); ++i) {
    // A block without scores has exponentials of 0.
    values.push_back(WithoutIdentity(x[i], TupleIdentities(u)[i]));
    if (MaximumIn(values[i]) != maximum) return false;
  }
  for (size_t i = 1; i < x.size(); ++i) values[i] = Rebuilt(body_, values[i], changed);
  x = std::move(values);
  return true;
}

const UOp* IndexLowering::StepTuple(const Key& key, std::vector<Key>& missing) {
  const analysis::Position& at = positions_[key.at];
  if (const UOp* valid = ValidToRead(at); valid != at.valid) {
    return Find(key.node, Intern({at.index, valid}), missing);
  }
  TupleAt& plan = PlanTuple(key);
  if (!status_.ok()) return nullptr;
  if (plan.numbers.empty()) {
    std::vector<const UOp*> x;
    for (const UOp* value : TupleValues(key.node)) x.push_back(Find(value, plan.source, missing));
    if (!missing.empty()) return nullptr;
    EmitTuple(key.node, plan, std::move(x));
  }
  const TupleAt::Number& number = plan.numbers[static_cast<size_t>(key.node->word(0))];
  std::vector<const UOp*> index;
  for (size_t i : plan.own) index.push_back(positions_[key.at].index[nest_.base[i].dim]);
  return b_.Load(b_.IndexPtr(number.memory, ElementOf(plan, number, index)));
}

}  // namespace tg::indices
