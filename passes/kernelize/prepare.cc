#include "passes/kernelize/prepare.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/arithmetic.h"
#include "base/check.h"
#include "ir/builder.h"
#include "ir/interpret/scalar.h"
#include "ir/tuple.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/closed_form.h"
#include "passes/kernelize/expression_cost.h"
#include "passes/kernelize/gathers.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/outputs.h"
#include "passes/kernelize/placement.h"
#include "passes/kernelize/product_parts.h"
#include "passes/kernelize/uniform.h"
#include "passes/kernelize/versions.h"
#include "passes/kernelize/view_repeats.h"

namespace tg::kernelize {
namespace {

class Preparer {
 public:
  Preparer(const Module& module, Body& body, ShapeMap& shapes, const passes::Target& target,
           NodeSet& fused)
      : module_(module),
        target_(target),
        fused_(fused),
        body_(body),
        b_(*body.context),
        shapes_(shapes),
        uniforms_(module, *body.context, shapes_),
        closed_forms_(module, *body.context, shapes_) {}

  absl::Status Run(RootOrder& order) {
    if (NamesDevices(module_, order.Get())) devices_.emplace(module_, *body_.context);
    for (const UOp* u : order.Get()) {
      for (const UOp* s : u->srcs()) ++users_[s];
    }
    const NodeSet in_tuples = InTuplesOnly(order.Get());
    for (const UOp* u : order.Get()) {
      if (u->op == Op::kLoop || (u->op == Op::kCarried && !in_tuples.Contains(u))) {
        return absl::UnimplementedError(
            absl::StrCat("kernelize: ", body_.Describe(u),
                         " is interpreted only; graphs with loops are not made into kernels"));
      }
      if ((u->op == Op::kContiguous || u->op == Op::kCopy) && u->dtype.is_index()) {
        return absl::InvalidArgumentError(
            absl::StrCat("kernelize: ", body_.Describe(u),
                         ": a value of type index is in no buffer; cast it to i64"));
      }
      NoteWhatVaries(u);
      const uint32_t first = b_.context().num_nodes();
      const UOp* to = u->op == Op::kSink ? AssignOutputs(module_, body_, shapes_, map_,
                                                         devices_ ? &*devices_ : nullptr)
                                         : Simplify(u);
      map_[u] = to;
      uniforms_.Note(to);
      body_.CarryOver(u, to);
      if (const StringId origin = body_.side.origin(u)) body_.SetOrigin(first, origin);
    }
    body_.root = map_.Get(body_.root);
    FuseEverywhere(module_, body_, fused_, order.Get());
    return absl::OkStatus();
  }

 private:
  bool IsEmpty(const Shape& shape) { return HasNoElements(module_, b_.context(), shape); }

  // Records whether the value depends on anything but constants and indices.
  void NoteWhatVaries(const UOp* u) {
    const bool leaf = u->num_srcs == 0 && u->op != Op::kConst && u->op != Op::kIota;
    const bool source = std::any_of(u->srcs().begin(), u->srcs().end(),
                                    [&](const UOp* s) { return varies_.Contains(s); });
    if (leaf || source || IsStored(u)) varies_.Insert(u);
  }

  const UOp* Simplify(const UOp* u) {
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(map_.Get(s));
    const bool in_memory = IsStored(u) && u->op != Op::kCopy;
    const bool shaped = !u->dtype.is_void() && !in_memory && u->op != Op::kAssign;
    if (shaped && IsEmpty(shapes_.Of(u))) return Filled(u, srcs, 0);
    switch (u->op) {
      case Op::kFuse:
        fused_.Insert(srcs[0]);
        return srcs[0];
      case Op::kDetach:
      case Op::kContiguousBackward:
        return srcs[0];
      case Op::kContiguous:
        // A value that is already stored as a whole buffer needs no second one.
        if (srcs[0]->op == Op::kContiguous || IsStored(srcs[0])) return srcs[0];
        break;
      case Op::kCopy:
        return SimplifyCopy(b_, *devices_, shapes_, u, srcs[0],
                            [&](const Shape& shape) { return IsEmpty(shape); });
      case Op::kAssign:
        // An assign without elements writes nothing, so that nothing has to wait for it.
        if (!IsStored(u) && IsEmpty(shapes_.Of(u))) return Filled(u, srcs, 0);
        if (srcs.size() > 2) break;
        // If this assign overwrites what another assign has written, and nothing else reads that,
        // the other one is dropped, unless its value contains further writes.
        if (u->src(0)->op == Op::kAssign && users_.Get(u->src(0)) == 1 &&
            srcs[0]->op == Op::kAssign && srcs[0]->num_srcs == 2 && !IsStored(srcs[0]) &&
            llvm::none_of(PostOrder(srcs[0]->src(1)), [](const UOp* v) {
              return v->op == Op::kAssign || v->op == Op::kAfter || IsCall(v->op);
            })) {
          srcs[0] = srcs[0]->src(0);
        }
        break;
      case Op::kAfter:
        // Drops all tokens but versions of buffers and effects; other values are not computed at a
        // particular time.
        srcs.erase(
            std::remove_if(srcs.begin() + 1, srcs.end(),
                           [](const UOp* s) { return !IsVersion(s) && !s->dtype.is_void(); }),
            srcs.end());
        if (srcs.size() == 1) return srcs[0];
        return AfterOf(u, srcs);
      case Op::kReduceAxis:
        if (IsEmpty(shapes_.Of(u->src(0)))) {
          return Filled(u, srcs,
                        interpret::ReduceIdentity(static_cast<Op>(u->word()), u->dtype.scalar()));
        }
        if (!varies_.Contains(u)) {
          const UOp* reduce = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
          const UOp* form = closed_forms_.Of(reduce);
          return form ? form : reduce;
        }
        if (const UOp* split = SplitReduce(u, srcs[0])) return split;
        if (!MustKeepOrder(u)) {
          const UOp* whole = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
          const UOp* split = SplitProduct(whole, b_, shapes_, target_, module_.flags);
          if (split && !Gathers(module_, b_.context(), shapes_).Is(whole)) return split;
        }
        break;
      case Op::kReduceTuple: {
        if (IsEmpty(shapes_.Of(u->src(0)))) {
          return Filled(u, srcs, TupleIdentities(u)[static_cast<size_t>(u->word(0))]->word());
        }
        // A separate kernel combines the tuple, from stored values.
        const auto stored = [&](const UOp* x) {
          return b_.context().Make(Op::kContiguous, x->dtype, {x});
        };
        for (size_t i = 0; i < TupleSize(u); ++i) {
          if (!IsStored(srcs[i]) && srcs[i]->op != Op::kContiguous) srcs[i] = stored(srcs[i]);
        }
        return stored(b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()}));
      }
      case Op::kBufferView: {
        const UOp* x = srcs[0];
        const int64_t total = NumElements(shapes_.Of(x));
        const int64_t from = u->word(0), n = u->word(1);
        return b_.Shrink(b_.Reshape(x, {total}), {{from, from + n}});
      }
      case Op::kReshape:
        // Symbolic extents are left alone.
        if (u->num_srcs > 1) break;
        return Reshaped(srcs[0], shapes_.Of(u));
      case Op::kBroadcast: {
        // The extents may be sources, which have been rewritten as well.
        const Shape to = DimsOf(b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()}));
        Shape aligned = shapes_.Of(srcs[0]);
        aligned.insert(aligned.begin(), to.size() - aligned.size(), Dim(1));
        const UOp* x = Reshaped(srcs[0], aligned);
        uniforms_.Note(x);
        return aligned == to ? x : b_.Expand(x, to);
      }
      case Op::kView: {
        const UOp* view = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
        const UOp* to = WithExpand(b_, shapes_.Of(srcs[0]), view);
        std::vector<const UOp*> made;  // the last one first
        for (const UOp* v = to; v != view && v->src(0) != srcs[0]; v = v->src(0)) {
          made.push_back(v->src(0));
        }
        for (const UOp* v : llvm::reverse(made)) uniforms_.Note(v);
        return to;
      }
      case Op::kPermute: {
        if (srcs[0]->op != Op::kPermute) break;
        std::vector<int64_t> order;
        for (int64_t k : u->list()) order.push_back(srcs[0]->list()[static_cast<size_t>(k)]);
        const UOp* x = srcs[0]->src(0);
        return std::is_sorted(order.begin(), order.end()) ? x : b_.Permute(x, order);
      }
      default:
        if (!IsElementwise(u->op)) break;
        SpreadScalars(u, srcs);
        const UOp* v = uniforms_.Elementwise(u, {srcs.data(), srcs.size()});
        return IsConst(v) ? Filled(u, srcs, v->word()) : v;
    }
    return b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
  }

  // An `after` of a view becomes the same view of an `after` of the memory.
  const UOp* AfterOf(const UOp* u, llvm::SmallVectorImpl<const UOp*>& srcs) {
    llvm::SmallVector<const UOp*, 8> view;
    const UOp* version = srcs[0];
    for (; IsMovement(version->op); version = version->src(0)) view.push_back(version);
    if (!IsVersion(version)) view.clear();
    if (!view.empty()) srcs[0] = version;
    const UOp* to = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
    return WithMovement(b_.context(), {view.data(), view.size()}, to);
  }

  // Merges a reshape of a reshape into one; drops a reshape to the same shape.
  const UOp* Reshaped(const UOp* x, const Shape& shape) {
    while (x->op == Op::kReshape && x->num_srcs == 1) x = x->src(0);
    return shapes_.Of(x) == shape ? x : b_.Reshape(x, shape);
  }

  // The shape of `u` with its new sources. Symbolic extents are sources too, and shapes are
  // compared by node: the value of a new node must not have the extents of an old one.
  const Shape& ShapeWith(const UOp* u, UOpSpan srcs) {
    const Shape& old = shapes_.Of(u);
    return IsStatic(old) ? old : shapes_.Of(b_.context().Rebuild(u, b_.context(), srcs));
  }

  // Makes the broadcast of scalar sources of the elementwise op `u` explicit by an expand, as for
  // other sources with one element, so that the planner sees the scalar as a value.
  void SpreadScalars(const UOp* u, llvm::SmallVectorImpl<const UOp*>& srcs) {
    const Shape& shape = ShapeWith(u, {srcs.data(), srcs.size()});
    if (shape.empty()) return;
    for (const UOp*& s : srcs) {
      const bool leaf = s->op == Op::kConst || s->op == Op::kVar;
      if (leaf || s->dtype.is_index() || !shapes_.Of(s).empty()) continue;
      const UOp* one = b_.Reshape(s, Shape(shape.size(), 1));
      uniforms_.Note(one);
      s = b_.Expand(one, shape);
      uniforms_.Note(s);
    }
  }

  // Whether the order of a reduce's terms is part of what the module says.
  bool MustKeepOrder(const UOp* reduce) const {
    return module_.flags.has(ModuleFlag::kNoReassociate) && reduce->dtype.is_float();
  }

  // Whether so few groups, each of which shares the terms of one result, leave the device idle for
  // longer than another kernel takes.
  bool LeavesIdle(DType type, int64_t results, int64_t terms) const {
    const double bytes = static_cast<double>(results * terms * ByteSize(type.scalar()));
    const double busy =
        cost::RowUtilization(target_, static_cast<double>(results), static_cast<double>(terms));
    return cost::IdleSeconds(cost::TransferSeconds(bytes, target_), busy) >
           cost::LaunchSeconds(1, target_);
  }

  // Computes reduce `u` of `x` in two steps; the first one has enough results to keep the device
  // busy. Returns null if the reduce has enough results, or few terms, or no axis of many.
  const UOp* SplitReduce(const UOp* u, const UOp* x) {
    const Shape &from = shapes_.Of(u->src(0)), &to = shapes_.Of(u);
    if (!IsStatic(from) || MustKeepOrder(u)) return nullptr;
    const int64_t results = NumElements(to);
    const int64_t terms = NumElements(from) / results;
    if (results >= cost::WantedParallelism(target_) || terms < passes::Target::kLongRow)
      return nullptr;
    if (!LeavesIdle(u->dtype, results, terms)) return nullptr;
    const UOp* whole = b_.context().Rebuild(u, b_.context(), UOpSpan(&x, 1));
    if (Gathers(module_, b_.context(), shapes_).Is(whole)) return nullptr;
    // The second step is short for the least of these limits; the greatest keeps its terms few.
    const int64_t most = std::min(std::max(cost::WantedParallelism(target_), target_.MostItems()),
                                  target_.small_grid);
    // The outermost axis that keeps the device busy: its parts are contiguous.
    std::optional<int64_t> axis;
    Parts parts;
    double busy = 0;
    for (int64_t a : u->list(1)) {
      const Parts own = PartsOf(from[static_cast<size_t>(a)].value(), most);
      const double share = cost::RowUtilization(target_, static_cast<double>(results * own.count),
                                                static_cast<double>(terms / own.count));
      if (own.count < 2 || share <= busy) continue;
      axis = a;
      parts = own;
      busy = share;
    }
    if (!axis) return nullptr;
    const Op op = static_cast<Op>(u->word());
    // Reshapes [.., extent, ..] to [.., count, size, ..]. The first step reduces all axes but
    // `count`, and is stored; the second step reduces `count`.
    Shape wide = from;
    wide[static_cast<size_t>(*axis)] = parts.count;
    wide.insert(wide.begin() + *axis + 1, parts.size);
    std::vector<int64_t> first;
    for (int64_t a : u->list(1)) first.push_back(a >= *axis ? a + 1 : a);
    const UOp* padded = PaddedTo(x, from, static_cast<size_t>(*axis), parts.count * parts.size, op);
    const UOp* partial = b_.ReduceAxis(b_.Reshape(padded, wide), op, first);
    partial = b_.context().Make(Op::kContiguous, partial->dtype, {partial});
    return b_.Reshape(b_.ReduceAxis(partial, op, {{*axis}}), to);
  }

  struct Parts {
    int64_t count = 1, size = 0;
  };
  // Divides an axis into at most `most` parts of at least 2 elements: the greatest number that
  // divides it, or if that is less than half of `most`, parts that exceed the axis.
  static Parts PartsOf(int64_t extent, int64_t most) {
    most = std::min(most, extent / 2);
    if (most < 2) return {};
    int64_t count = most;
    while (extent % count != 0) --count;
    if (2 * count >= most) return {count, extent / count};
    const int64_t size = CeilDiv(extent, most);
    return {CeilDiv(extent, size), size};
  }

  // `x` of shape `shape`, with `axis` extended to `extent` by terms that do not change a reduce.
  const UOp* PaddedTo(const UOp* x, const Shape& shape, size_t axis, int64_t extent, Op op) {
    const int64_t added = extent - shape[axis].value();
    if (added == 0) return x;
    std::vector<std::pair<Dim, Dim>> widths(shape.size());
    widths[axis].second = added;
    const UOp* padded = b_.Pad(x, widths);
    const int64_t identity = interpret::ReduceIdentity(op, x->dtype.scalar());
    if (identity == 0) return padded;
    Shape along(shape.size(), 1), whole = shape;
    along[axis] = whole[axis] = extent;
    const UOp* inside = b_.Lt(b_.Reshape(b_.Iota(extent), along), b_.Index(shape[axis].value()));
    return b_.Where(b_.Expand(inside, whole), padded, b_.ConstBits(x->dtype, identity));
  }

  // A constant of `u`'s shape.
  const UOp* Filled(const UOp* u, UOpSpan srcs, int64_t bits) {
    const Shape& shape = ShapeWith(u, srcs);
    const UOp* c = b_.ConstBits(u->dtype, bits);
    uniforms_.Note(c);
    if (shape.empty()) return c;
    const UOp* one = b_.Reshape(c, Shape(shape.size(), 1));
    uniforms_.Note(one);
    return b_.Expand(one, shape);
  }

  const Module& module_;
  const passes::Target& target_;
  NodeSet& fused_;
  Body& body_;
  Builder b_;
  ShapeMap& shapes_;
  std::optional<DeviceMap> devices_;  // where the graph names any
  Uniforms uniforms_;
  ClosedForms closed_forms_;
  NodeSet varies_;
  NodeMap<const UOp*> map_;
  NodeMap<uint32_t> users_;  // of the graph's nodes
};

}  // namespace

absl::Status PrepareGraph(const Module& module, Body& body, ShapeMap& shapes,
                          const passes::Target& target, NodeSet& fused, RootOrder& order) {
  return Preparer(module, body, shapes, target, fused).Run(order);
}

}  // namespace tg::kernelize
