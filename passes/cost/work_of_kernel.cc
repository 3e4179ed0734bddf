// From a kernel's body and schedule to the loops, accesses and operations that it executes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "ir/tuple.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "passes/cost/access_strides.h"
#include "passes/cost/kernel_copies.h"
#include "passes/cost/kernel_nests.h"
#include "passes/cost/predict_cost.h"

namespace tg::cost {
namespace {

bool IsConversion(const UOp* u) {
  return u->op == Op::kCast && u->dtype.scalar() != u->src(0)->dtype.scalar();
}

class WorkBuilder {
 public:
  WorkBuilder(const Body& body, const loop_nest::LoopNest& nest,
              const std::vector<analysis::Access>& accesses, const passes::Target& target,
              const NodeSet& closed)
      : body_(body),
        s_(nest),
        accesses_(accesses),
        target_(target),
        nests_(nest),
        strides_(nest, nests_, closed),
        copies_(nest, nests_, work_.loops),
        reads_several_(llvm::any_of(nest.reads, [](uint32_t reads) { return reads > 1; })) {
    work_.loops = nests_.loops();
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      if (strides_.IsClosed(i)) work_.loops[i].trips = 1;
    }
  }

  ScheduledWork Build() {
    for (const UOp* store : body_.root->srcs()) Visit(store->src(1), nullptr);
    for (const analysis::Access& a : accesses_) AddAccess(a);
    for (const loop_nest::Copy& copy : copies_.all()) AddPackedReads(copy);
    return std::move(work_);
  }

 private:
  // A reduce or a staged value, which has separate loops; null: what is stored.
  using Scope = const UOp*;

  void Count(const UOp* u, const AxisSet& set, const loop_nest::Copy* copy, double weight,
             double sums = 0) {
    if (weight == 0) return;
    Scalar type = u->dtype.is_bool() ? u->src(0)->dtype.scalar() : u->dtype.scalar();
    if (IsConversion(u) && ByteSize(u->src(0)->dtype.scalar()) > ByteSize(type)) {
      type = u->src(0)->dtype.scalar();
    }
    if (!passes::ComputesIn(target_, type)) type = Scalar::kF32;
    work_.arithmetic.push_back({copy ? nests_.NestOfCopy(*copy) : nests_.NestOf(set),
                                weight * times_, type, sums, copy != nullptr,
                                u->op == Op::kReduceAxis && !s_.matrices.empty()});
  }

  // Counts the operations of a value in a scope, once, and returns the axes that it depends on.
  const AxisSet& Visit(const UOp* u, Scope scope, const loop_nest::Copy* copy = nullptr) {
    const auto [known, is_new] = axes_.try_emplace({u, scope}, nests_.None());
    if (!is_new) return known->second;
    AxisSet set = AxesAndOperations(u, scope, copy);
    return axes_[{u, scope}] = std::move(set);
  }

  AxisSet AxesAndOperations(const UOp* u, Scope scope, const loop_nest::Copy* copy) {
    if (u->op == Op::kLoad) return AxesOfReads(u, scope);
    if (u->op == Op::kIota) return nests_.AxesOfOwner(scope);
    if (u->op == Op::kReduceTuple) return AddTuple(u, scope);
    if (u->op == Op::kReduceAxis || u->op == Op::kStaged) {
      const AxisSet own = nests_.AxesOfOwner(u);
      if (own.none()) return Visit(u->src(0), scope, copy);
      if (u->op == Op::kReduceAxis) {
        AddReduce(u);
        AxisSet around = nests_.None();
        for (const unsigned i : own.set_bits()) {
          if (nests_.OwnerOf(i) != u) around.set(i);
        }
        return around;
      }
      if (staged_.insert({u, NumberOfBuffer()}).second) {
        // In a loop over a tuple's terms it is computed anew in each step.
        AxisSet steps = TermsOf(Visit(u->src(0), u));
        steps |= own;
        AddStagedStore(u, steps);
      }
      return AxesOfReads(u, scope);
    }
    if (u->op == Op::kPacked) {
      const auto* own = copies_.Of(u, scope ? nests_.AxesOfOwner(scope) : nests_.None());
      copy = own ? own : copy;
    }
    AxisSet set = nests_.None();
    for (const UOp* source : u->srcs()) set |= Visit(source, scope, copy);
    if (!IsElementwise(u->op) || u->op == Op::kPacked || fused_.Contains(u)) return set;
    const bool same = u->op == Op::kCast && !IsConversion(u);
    if (set.any() && !same) Count(u, set, copy, passes::OpWeight(u->op));
    return set;
  }

  // The axes of the reads of a load, or of a staged value, in a scope.
  AxisSet AxesOfReads(const UOp* u, Scope scope) const {
    const AxisSet within = scope ? nests_.Closed(nests_.AxesOfOwner(scope)) : nests_.None();
    AxisSet set = nests_.None();
    for (const analysis::Access& a : accesses_) {
      if (a.node != u) continue;
      const AxisSet axes = nests_.AxesOf(a);
      bool is_inside = true;
      for (const unsigned i : axes.set_bits()) {
        is_inside &= scope ? within.test(i) : nests_.OwnerOf(i) == nullptr;
      }
      if (is_inside) set |= axes;
    }
    return set;
  }

  // Combines a tuple with each next one, and returns the axes of the result that is read. What does
  // not vary along the results' own axes is combined once for all of them.
  AxisSet AddTuple(const UOp* u, Scope scope) {
    const auto axis = llvm::find_if(s_.base, [&](const analysis::BaseAxis& base) {
      return base.reduce && IsSameTuple(base.reduce, u);
    });
    const auto result = static_cast<size_t>(u->word());
    if (axis == s_.base.end()) return Visit(u->src(result), scope);
    const UOp* owner = axis->reduce;
    const AxisSet own = nests_.AxesOwnedBy(owner), terms = TermsOf(own);
    if (reduces_.Insert(owner)) {
      llvm::SmallVector<AxisSet, 4> values;
      for (const UOp* x : TupleValues(u)) {
        values.push_back(Visit(x, owner));
        values.back() |= terms;
      }
      for (const UOp* x : CombiningOrder(u)) {
        if (x->op != Op::kCarried) continue;
        axes_[{x, owner}] = values[static_cast<size_t>(x->word()) % values.size()];
      }
    }
    AxisSet set = Visit(CombinedTuple(u)[result], owner);
    set.reset(terms);
    if (!set.anyCommon(own)) return set;
    set.reset(own);
    return set |= nests_.AxesOfOwner(scope);
  }

  AxisSet TermsOf(const AxisSet& axes) const {
    AxisSet terms = axes;
    for (const unsigned i : axes.set_bits()) {
      if (!s_.base[s_.axes[i].base].reduce) terms.reset(i);
    }
    return terms;
  }

  void AddReduce(const UOp* reduce) {
    if (!reduces_.Insert(reduce)) return;
    const UOp* terms = reduce->src(0);
    while (IsMovement(terms->op)) terms = terms->src(0);
    const bool adds = static_cast<Op>(reduce->word()) == Op::kAdd;
    if (adds && terms->op == Op::kMul && (target_.fast_fma || !s_.matrices.empty()))
      fused_.Insert(terms);
    double weight = passes::OpWeight(static_cast<Op>(reduce->word()));
    if (adds && terms->op == Op::kDot4 && target_.dot4_rate > 0) {
      fused_.Insert(terms);
      weight *= target_.int_rate / target_.dot4_rate;
    }
    if (!s_.matrices.empty()) {
      // Matrix instructions take what is cast, at another rate.
      for (const UOp* factor : terms->srcs()) {
        while (IsMovement(factor->op)) factor = factor->src(0);
        if (factor->op == Op::kCast) fused_.Insert(factor);
      }
      const MatrixInstruction& instruction = s_.matrices[0].instruction;
      weight *= target_.flops_per_second /
                target_.MatrixOperationsPerSecond(instruction.RateBits(), instruction.is_warpgroup);
    }
    const double around = times_;
    times_ *= ReadsOf(reduce);
    AxisSet set = Visit(reduce->src(0), reduce);
    set |= nests_.AxesOfOwner(reduce);
    double sums = 1;
    for (const unsigned i : set.set_bits()) {
      if (nests_.IsLanes(i)) sums *= work_.loops[i].trips;
    }
    Count(reduce, set, nullptr, weight, sums);
    times_ = around;
  }

  // At how many indices the result of a reduce is read, for each of which it is computed.
  double ReadsOf(const UOp* reduce) const {
    if (!reads_several_) return 1;
    uint32_t reads = 1;
    for (size_t n = 0; n < s_.base.size(); ++n) {
      if (s_.base[n].reduce == reduce) reads = std::max(reads, s_.reads[n]);
    }
    return reads;
  }
  // How often an access is executed for the indices at which the reduce around it is read, where it
  // is the same for several of them.
  double RepeatsOf(const analysis::Access& a, const AxisSet& axes) const {
    if (!reads_several_) return 1;
    double reads = 1;
    for (const unsigned i : axes.set_bits()) {
      const UOp* reduce = s_.base[s_.axes[i].base].reduce;
      if (reduce) reads = std::max(reads, ReadsOf(reduce));
    }
    if (reads == 1) return 1;
    const auto places =
        llvm::count_if(accesses_, [&](const auto& other) { return other.node == a.node; });
    return std::max(1.0, std::floor(reads / static_cast<double>(places)));
  }

  // An access to a copy, in each of the copies that are made for these indices.
  void AddForEachRead(const loop_nest::Copy& copy, const MemoryAccess& m) {
    const double reads = ReadsOf(copy);
    for (int64_t n = 0; static_cast<double>(n) < reads; ++n) {
      work_.accesses.push_back(m);
      work_.accesses.back().buffer -= n * static_cast<int64_t>(copies_.all().size());
    }
  }
  // The same of the reduce that reads a copy.
  double ReadsOf(const loop_nest::Copy& copy) const {
    if (!reads_several_) return 1;
    double reads = 1;
    for (size_t n = 0; n < s_.base.size(); ++n) {
      const bool varies = (copy.varies & analysis::LoopBit(n)) != 0;
      if (varies && s_.base[n].reduce) reads = std::max(reads, ReadsOf(s_.base[n].reduce));
    }
    return reads;
  }

  int64_t NumberOfBuffer() { return --last_buffer_; }

  // A copy is filled in vectors of its elements.
  bool IsBroadcast(const MemoryAccess& m, const loop_nest::Copy* copy, const AxisSet& axes) const {
    return target_.alu_width > 0 && !m.is_store && !copy && nests_.IsBroadcast(axes);
  }

  // Whether an access needs a predicate for its steps along the base of an axis: they are masked or
  // padded, and not all of them lanes, which are known when the kernel is compiled.
  bool IsGatedAlong(const analysis::Access& a, size_t axis) const {
    const size_t base = s_.axes[axis].base;
    if (!s_.maps[base].IsPadded() && !(a.is_gated && a.masked[base])) return false;
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      if (s_.axes[i].base == base && !nests_.IsLanes(i) && s_.axes[i].max_size > 1) return true;
    }
    return false;
  }

  // MemoryAccess::parts for vectors along an axis. Where a padded axis ends, a vector is cut at a
  // lane that is known. At the edges of a window most vectors are cut once. Masked accesses of
  // neighbouring results are not cut.
  double PartsOf(const analysis::Access& a, size_t axis) const {
    const size_t base = s_.axes[axis].base;
    if (!IsGatedAlong(a, axis)) return 1;
    if (target_.masked_access && s_.base[base].IsStored()) return 1;
    if (s_.maps[base].IsPadded()) {
      const auto lanes = static_cast<uint64_t>(s_.axes[axis].max_size);
      const auto rest = static_cast<uint64_t>(s_.base[base].max_size) % lanes;
      if (rest != 0) return std::popcount(rest) + std::popcount(lanes - rest);
    }
    return 2;
  }

  // MemoryAccess::term_vector.
  int TermVectorOf(const LoopNestOf& nest) const {
    int vector = -1;
    double lanes = 1;
    for (const uint16_t i : nest.lanes) {
      const WorkLoop& loop = work_.loops[i];
      if (!loop.is_term || loop.is_vector || loop.trips <= lanes) continue;
      const AxisSet axes = nests_.AxesOfOwner(nests_.OwnerOf(i));
      bool has_vectors = false;
      for (const unsigned axis : axes.set_bits()) has_vectors |= work_.loops[axis].is_vector;
      if (!has_vectors) vector = i, lanes = loop.trips;
    }
    return vector;
  }

  void AddAccess(const analysis::Access& a) {
    MemoryAccess m;
    const loop_nest::Copy* copy = a.packed ? copies_.Of(a.packed, nests_.AxesOf(a)) : nullptr;
    m.nest = copy ? nests_.NestOfCopy(*copy) : nests_.NestOf(nests_.AxesOf(a));
    m.strides = strides_.Of(a);
    m.element_bytes = static_cast<double>(ByteSize(a.node->src(0)->dtype.scalar()));
    m.is_store = a.is_store();
    m.quotients = AccessStrides::QuotientsOf(a);
    const AxisSet axes = nests_.AxesOf(a);
    for (const unsigned i : axes.set_bits()) m.is_gated |= IsGatedAlong(a, i);
    for (const uint16_t i : m.nest.lanes) {
      if (m.strides[i] == 1) m.parts = std::max(m.parts, PartsOf(a, i));
    }
    if (target_.HasVectors() && !copy) m.term_vector = TermVectorOf(m.nest);
    m.is_transposed = copy && !m.is_gated && copies_.HasAdjacentTerms(m);
    m.is_ahead = copy && copy->ahead;
    m.in_turns = copy && copy->buffers > 1;
    m.is_fill = copy && !a.is_staged();
    if (m.is_fill) {
      distinct_[copy] = m.distinct = copies_.DistinctPart(*copy, m.strides);
      if (m.distinct < 1) m.box = nests_.AroundCopy(*copy);
    }
    if (copy && copy->is_local) m.around_copy = nests_.AroundCopy(*copy);
    m.is_broadcast = IsBroadcast(m, copy, axes);
    if (a.is_staged()) {
      const auto staged = staged_.find(a.node);
      if (staged == staged_.end()) return;  // it is kept in registers
      m.buffer = staged->second;
      m.buffer_bytes = StagedBytes(a.node);
    } else {
      const UOp* memory = a.node->src(0);
      while (memory->num_srcs > 0) memory = memory->src(0);
      m.buffer = a.slot;
      m.buffer_bytes = m.element_bytes * static_cast<double>(memory->dtype.size());
    }
    // Sums that a loop around results adds to are read back in its steps.
    const bool accumulates =
        m.is_store && llvm::any_of(m.nest.loops, [&](uint16_t i) { return s_.IsReduceLoop(i); });
    if (accumulates) {
      MemoryAccess sums = m;
      sums.is_store = false;
      work_.accesses.push_back(std::move(sums));
    }
    for (double n = RepeatsOf(a, axes); n > 0; --n) work_.accesses.push_back(m);
    if (m.is_fill && copied_.insert(copy).second) AddCopyStore(*copy, m);
  }

  double StagedBytes(const UOp* staged) const {
    double bytes = static_cast<double>(ByteSize(staged->dtype.scalar()));
    for (const analysis::BaseAxis& base : s_.base) {
      if (base.staged == staged) bytes *= static_cast<double>(base.max_size);
    }
    return bytes;
  }

  void AddStagedStore(const UOp* staged, const AxisSet& axes) {
    MemoryAccess m;
    m.nest = nests_.NestOf(axes);
    m.strides.assign(s_.axes.size(), 0);
    int64_t row = 1;
    for (size_t n = s_.base.size(); n-- > 0;) {
      if (s_.base[n].staged != staged) continue;
      for (const loop_nest::Digit& digit : s_.maps[n].digits)
        m.strides[digit.axis] = digit.stride * row;
      row *= s_.base[n].max_size;
    }
    m.buffer = staged_[staged];
    m.element_bytes = static_cast<double>(ByteSize(staged->dtype.scalar()));
    m.buffer_bytes = StagedBytes(staged);
    m.is_store = true;
    work_.accesses.push_back(std::move(m));
  }

  MemoryAccess InCopy(const loop_nest::Copy& value) const {
    MemoryAccess m;
    m.strides = copies_.StridesIn(value);
    m.element_bytes = static_cast<double>(ByteSize(value.node->dtype.scalar()));
    m.buffer = kFirstCopy - (&value - copies_.all().data());
    m.buffer_bytes = m.element_bytes;
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      if (s_.IsCopied(value, i)) m.buffer_bytes *= static_cast<double>(s_.axes[i].max_size);
    }
    const auto distinct = distinct_.find(&value);
    if (distinct != distinct_.end()) m.buffer_bytes *= distinct->second;
    m.is_local = value.is_local;
    m.is_ahead = value.is_local && value.ahead;
    return m;
  }

  void AddCopyStore(const loop_nest::Copy& value, const MemoryAccess& load) {
    MemoryAccess m = InCopy(value);
    m.nest = nests_.NestOfCopy(value);
    m.is_store = true;
    m.is_fill = true;
    m.distinct = distinct_[&value];
    m.box = load.box;
    m.around_copy = load.around_copy;
    m.is_transposed =
        value.is_local && llvm::none_of(llvm::seq<size_t>(0, m.strides.size()), [&](size_t i) {
          return m.strides[i] == 1 && load.strides[i] == 1;
        });
    AddForEachRead(value, m);
  }

  void AddPackedReads(const loop_nest::Copy& value) {
    MemoryAccess m = InCopy(value);
    const AxisSet axes = nests_.AxesOfBases(value.varies);
    m.nest = nests_.NestOf(axes);
    if (!s_.matrices.empty()) AddFragments(axes, m);
    m.is_broadcast = IsBroadcast(m, nullptr, axes);
    AddForEachRead(value, m);
  }

  // The fragments that a matrix instruction reads of a copy. Each work-item divides its elements
  // into the parts that the instruction takes.
  void AddFragments(const AxisSet& axes, MemoryAccess& m) {
    const bool in_parts = s_.matrices[0].instruction.in_parts;
    m.spread = ItemsOfMatrix(axes);
    if (s_.matrices[0].IsWarpgroup()) {
      // Each instruction reads its factors again. A work-item holds their descriptors.
      m.by_instruction = true;
      m.spread /= Instructions(axes);
      m.fragment_registers = 2;
      return;
    }
    m.fragment_registers =
        work_.Lanes(m.nest) / m.spread * m.element_bytes / 4 * (in_parts ? 2 : 1);
    if (!in_parts) return;
    work_.arithmetic.push_back({m.nest, kPartInstructions / m.spread, Scalar::kF32, 0, false});
  }

  // The work-items of a matrix instruction along whose axes `axes` do not vary: they share the
  // elements of a fragment.
  double ItemsOfMatrix(const AxisSet& axes) const {
    double items = 1;
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      const std::string& name = s_.axes[i].name;
      if (!s_.IsMatrixLane(name) && !s_.IsMatrixUnit(name)) continue;
      if (!axes.test(static_cast<unsigned>(i))) items *= work_.loops[i].trips;
    }
    return items;
  }

  // The instructions of a warpgroup along whose results `axes` do not vary.
  double Instructions(const AxisSet& axes) const {
    const loop_nest::MatrixAxes& m = s_.matrices[0];
    double count = 1;
    for (size_t i = 0; i < s_.axes.size(); ++i) {
      const std::string& name = s_.axes[i].name;
      const bool inside = name == m.row || name == m.column || llvm::is_contained(m.columns, name);
      const bool tiles = s_.axes[i].kind == AxisKind::kUpcast && !inside;
      if (tiles && !axes.test(static_cast<unsigned>(i))) count *= work_.loops[i].trips;
    }
    return count;
  }

  static constexpr int64_t kFirstCopy = -1000000;

  const Body& body_;
  const loop_nest::LoopNest& s_;
  const std::vector<analysis::Access>& accesses_;
  const passes::Target& target_;
  const KernelNests nests_;
  const AccessStrides strides_;
  ScheduledWork work_;
  const KernelCopies copies_;
  std::map<std::pair<const UOp*, Scope>, AxisSet> axes_;
  std::map<const loop_nest::Copy*, double> distinct_;  // MemoryAccess::distinct of its fills
  std::set<const loop_nest::Copy*> copied_;
  std::map<const UOp*, int64_t> staged_;  // the buffer of each staged value in memory
  int64_t last_buffer_ = 0;
  NodeSet fused_, reduces_;
  // Whether some reduce is read at several indices.
  const bool reads_several_;
  double times_ = 1;  // how often what is visited is computed, for each index at which it is read
};

}  // namespace

ScheduledWork WorkOf(const Body& body, const loop_nest::LoopNest& nest,
                     const std::vector<analysis::Access>& accesses, const passes::Target& target,
                     const NodeSet& closed) {
  return WorkBuilder(body, nest, accesses, target, closed).Build();
}

}  // namespace tg::cost
