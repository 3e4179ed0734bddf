#include "passes/kernelize/outputs.h"

#include <algorithm>
#include <vector>

#include "ir/builder.h"
#include "ir/measure.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/versions.h"

namespace tg::kernelize {
namespace {

class Outputs {
 public:
  Outputs(const Module& module, Body& body, ShapeMap& shapes, const NodeMap<const UOp*>& map,
          DeviceMap* devices)
      : module_(module),
        body_(body),
        b_(*body.context),
        shapes_(shapes),
        map_(map),
        devices_(devices) {}

  const UOp* Run(const UOp* sink) {
    const auto words = sink->words();
    const bool targets = !words.empty() && words[0] > 0;
    // Values that are stored in the buffer of an output, with their assign.
    NodeMap<const UOp*> stored;
    std::vector<const UOp*> roots;
    for (size_t i = 0; i < sink->num_srcs; ++i) {
      const UOp* v = map_.Get(sink->src(i));
      if (!v->dtype.is_void() && HasNoElements(module_, b_.context(), shapes_.Of(v))) continue;
      if (IsMeasure(v)) {
        roots.push_back(v);
        continue;
      }
      // An index that is a result without a buffer cannot be observed.
      if ((v->op == Op::kNoop && v->num_srcs == 0) || v->dtype.is_index()) continue;
      const auto name = targets ? static_cast<StringId>(words[1 + i]) : 0;
      const bool everywhere = devices_ && devices_->Of(v) == kAnyDevice && !v->dtype.is_void();
      if (!name) {
        // Neither can a constant, and no device is given for it.
        if (!everywhere) roots.push_back(v);
        continue;
      }
      DType t = v->dtype;
      const UOp* y = b_.Buffer(b_.context().String(name), t);
      if (y == v) {
        roots.push_back(v);
        continue;
      }
      // Ignores reshapes, because other outputs may be reshapes of the same value.
      const UOp* value = BelowReshape(v);
      const UOp* a = b_.context().Make(Op::kAssign, t, {y, Assigned(value, shapes_.Of(v))});
      body_.CarryOver(v, a);
      roots.push_back(a);
      const bool in_memory = IsStored(value) && value->op != Op::kCopy;
      // The other users of a value on every device do not read it from @y, since they may be on
      // other devices.
      if (everywhere || in_memory || value->op == Op::kAssign) continue;
      // A constant is one node for the whole graph; its other users need not read it from memory.
      if (TargetVersion(value)->op == Op::kConst) continue;
      if (!stored.Get(value)) stored[value] = a;
    }
    return b_.Sink(Redirect(roots, stored));
  }

 private:
  // Reshapes of symbolic extents are left alone.
  static const UOp* BelowReshape(const UOp* x) {
    return x->op == Op::kReshape && x->num_srcs == 1 ? x->src(0) : x;
  }

  const UOp* Reshaped(const UOp* x, const Shape& shape) {
    const UOp* below = BelowReshape(x);
    if (shapes_.Of(x) == shape) return x;
    return shapes_.Of(below) == shape ? below : b_.Reshape(below, shape);
  }

  // `value` reshaped to the shape in which it is assigned, without a separate buffer.
  const UOp* Assigned(const UOp* value, const Shape& shape) {
    return Reshaped(value->op == Op::kContiguous ? value->src(0) : value, shape);
  }

  // Rewrites `roots` so that all users of a stored value read its assign, except the assign itself.
  // The assign may store the value in another shape.
  std::vector<const UOp*> Redirect(const std::vector<const UOp*>& roots,
                                   const NodeMap<const UOp*>& stored) {
    NodeSet seen;
    std::vector<const UOp*> order;
    AppendPostOrder(roots, seen, order);
    const bool used_elsewhere = std::any_of(order.begin(), order.end(), [&](const UOp* u) {
      return u->op != Op::kReshape &&
             std::any_of(u->srcs().begin(), u->srcs().end(), [&](const UOp* s) {
               const UOp* a = stored.Get(BelowReshape(s));
               return a && a != u;
             });
    });
    if (!used_elsewhere) return roots;
    // For each node: its rewritten form; what its users read; and its form as the target of an
    // assign, which is still the place in memory.
    NodeMap<const UOp*> raw, read, place;
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* u : order) {
      srcs.clear();
      for (size_t i = 0; i < u->num_srcs; ++i) {
        const UOp* s = u->src(i);
        const bool own = u->op == Op::kAssign && i == 1 && stored.Get(BelowReshape(s)) == u;
        const bool target = u->op == Op::kAssign && i == 0;
        srcs.push_back(target ? place.Get(s) : own ? raw.Get(s) : read.Get(s));
      }
      const UOp* to = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
      body_.CarryOver(u, to);
      raw[u] = to;
      read[u] = to;
      place[u] = to;
      if (BelowReshape(u) != u && stored.Get(u->src(0))) {
        raw[u] = Reshaped(raw.Get(u->src(0)), shapes_.Of(u));
        read[u] = Reshaped(read.Get(u->src(0)), shapes_.Of(u));
      }
      if (IsMovement(u->op)) {
        srcs[0] = place.Get(u->src(0));
        place[u] = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
      }
      if (const UOp* a = stored.Get(u)) {
        const UOp* value = Assigned(to, shapes_.Of(a->src(0)));
        const UOp* assign = b_.context().Make(Op::kAssign, a->dtype, {a->src(0), value});
        body_.CarryOver(a, assign);
        read[u] = Reshaped(assign, shapes_.Of(u));
      }
    }
    std::vector<const UOp*> out;
    for (const UOp* r : roots) out.push_back(read.Get(r));
    return out;
  }

  const Module& module_;
  Body& body_;
  Builder b_;
  ShapeMap& shapes_;
  const NodeMap<const UOp*>& map_;
  DeviceMap* devices_;
};

}  // namespace

const UOp* AssignOutputs(const Module& module, Body& body, ShapeMap& shapes,
                         const NodeMap<const UOp*>& map, DeviceMap* devices) {
  return Outputs(module, body, shapes, map, devices).Run(body.root);
}

bool HasNoElements(const Module& module, const Context& context, const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(),
                     [&](const Dim& d) { return analysis::MaxExtent(module, context, d) <= 0; });
}

}  // namespace tg::kernelize
