// V402, V403, V404, V406: what a graph writes.
#include <algorithm>
#include <optional>

#include "ir/verify/body_check.h"
#include "ir/verify/extent.h"
#include "ir/view/shape_tracker.h"

namespace tg::verify {
namespace {

bool IsReadOnly(const BufferDecl& b) { return b.role == Role::kInput || b.role == Role::kParam; }

const BufferDecl* DeclOf(BodyCheck& c, const UOp* buffer) {
  const std::string_view name = c.String(buffer->word(0));
  return c.symbols.buffers.lookup({name.data(), name.size()});
}

// Whether writing to the op's value writes each element once to its source 0. (The padding of a pad
// is not part of the source.)
bool IsPlace(const UOp* u) {
  switch (u->op) {
    case Op::kReshape:
    case Op::kPermute:
    case Op::kFlip:
    case Op::kPad:
    case Op::kShrink:
    case Op::kView:
    case Op::kBufferView:
    case Op::kAssign:
    case Op::kAfter:
      return true;
    default:
      return false;
  }
}

bool HoldsPadding(const ShapeTracker& place) {
  return std::any_of(place.views().begin(), place.views().end(),
                     [](const tg::View& v) { return v.has_mask(); });
}

// Whether every element of the target is in memory, that is, whether the padding of each pad has
// been cut off again, as in a slice with a step. False if extents are symbolic before the padding
// is cut off.
bool IsFreeOfPadding(BodyCheck& c, const UOp* target) {
  std::vector<const UOp*> movements;
  for (; IsMovement(target->op); target = target->src(0)) movements.push_back(target);
  const auto is_static = [&](const UOp* u) {
    const Shape& shape = c.shapes.Of(u);
    return std::none_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_symbolic(); });
  };
  Context& ctx = *c.body.context;
  std::optional<ShapeTracker> place;  // from where a pad's padding is there
  for (; !movements.empty(); movements.pop_back()) {
    const UOp* u = movements.back();
    if (!place && u->op != Op::kPad) continue;
    if (!is_static(u->src(0)) || !is_static(u)) return false;
    if (!place) place = ShapeTracker::Contiguous(ctx, c.shapes.Of(u->src(0)));
    place = place->After(ctx, u);
    if (!HoldsPadding(*place)) place.reset();
  }
  return !place;
}

struct Write {
  const UOp* assign;
  const UOp* buffer;
  std::optional<View> view;  // where it is known
};

bool Overlap(const Write& a, const Write& b) {
  if (a.assign->src(0) == b.assign->src(0)) return true;
  return a.view && b.view && SurelyOverlap(*a.view, *b.view);
}

// Reports pairs of writes to one buffer that are not ordered with respect to each other. `writes`
// are of buffers that are written several times. Walks the graph once for every 64 of them.
void CheckOrder(BodyCheck& c, const std::vector<Write>& writes) {
  NodeMap<uint64_t> above;  // by node: which of the writes it depends on
  for (size_t first = 0; first < writes.size(); first += 64) {
    const size_t count = std::min<size_t>(64, writes.size() - first);
    above = {};
    above.Reserve(c.body.context->num_nodes());
    for (const UOp* u : c.order) {
      uint64_t bits = 0;
      for (const UOp* s : u->srcs()) bits |= above.Get(s);
      if (bits) above[u] |= bits;
      for (size_t i = 0; u->op == Op::kAssign && i < count; ++i) {
        if (writes[first + i].assign == u) above[u] |= 1ull << i;
      }
    }
    // The writes are in the order of the walk: a later one may depend on an earlier one only.
    for (size_t i = 0; i < count; ++i) {
      const Write& a = writes[first + i];
      for (size_t k = first + i + 1; k < writes.size(); ++k) {
        const Write& b = writes[k];
        if (a.buffer != b.buffer || (above.Get(b.assign) >> i & 1) || !Overlap(a, b)) continue;
        c.Error(Rule::kWriteOrder, b.assign,
                "it writes a part of '@" + std::string(c.String(a.buffer->word(0))) + "' that " +
                    c.Name(a.assign) + " writes too, and neither comes after the other");
        return;
      }
    }
  }
}

std::optional<View> WholeBuffer(const BufferDecl& decl) {
  std::vector<int64_t> shape;
  for (const DeclDim& d : decl.shape) {
    if (d.is_symbolic()) return std::nullopt;
    shape.push_back(d.size);
  }
  return ContiguousView(shape);
}

}  // namespace

void CheckAssigns(BodyCheck& c) {
  NodeMap<const UOp*> buffer_of;
  std::vector<Write> writes;
  NodeMap<uint32_t> times;
  for (const UOp* u : c.order) {
    if (u->op == Op::kBuffer) {
      buffer_of[u] = u;
    } else if (IsPlace(u)) {
      if (const UOp* b = buffer_of.Get(u->src(0))) buffer_of[u] = b;
    }
    if (u->op != Op::kAssign) continue;
    const UOp* buffer = buffer_of.Get(u);
    if (!buffer) {
      c.Error(Rule::kAssignTarget, u,
              "source 0 (" + c.Name(u->src(0)) + ", " + std::string(Mnemonic(u->src(0)->op)) +
                  ") is neither a buffer nor a view of one that can be written");
      return;
    }
    if (IsReadOnly(*DeclOf(c, buffer))) {
      c.Error(Rule::kReadOnly, u,
              "it writes '@" + std::string(c.String(buffer->word(0))) + "', whose role is " +
                  std::string(RoleName(DeclOf(c, buffer)->role)));
      return;
    }
    if (!IsFreeOfPadding(c, u->src(0))) {
      c.Error(Rule::kAssignTarget, u, "its target holds padding, or may");
      return;
    }
    writes.push_back({u, buffer, std::nullopt});
    ++times[buffer];
  }
  NodeMap<std::optional<View>> views;
  const auto is_written = [&](const UOp* u) {
    const UOp* b = buffer_of.Get(u);
    return b && times.Get(b) > 0;
  };
  if (writes.empty()) return;
  for (const UOp* u : c.order) {
    if (!is_written(u)) continue;
    if (u->op == Op::kBuffer) {
      views[u] = WholeBuffer(*DeclOf(c, u));
    } else if (const auto from = views.Get(u->src(0))) {
      const bool same = u->op == Op::kAssign || u->op == Op::kAfter;
      views[u] = same ? from : ThroughMovement(*from, u);
    }
  }
  for (Write& w : writes) {
    w.view = views.Get(w.assign);
    if (!w.view) continue;
    for (size_t i = 0; i < w.view->shape.size(); ++i) {
      if (w.view->shape[i] > 1 && w.view->strides[i] == 0) {
        c.Error(
            Rule::kAssignTarget, w.assign,
            "axis " + std::to_string(i) + " of the target is the same elements again and again");
        return;
      }
    }
  }
  std::erase_if(writes, [&](const Write& w) { return times.Get(w.buffer) < 2; });
  if (!writes.empty()) CheckOrder(c, writes);
}

void CheckSinkTargets(BodyCheck& c) {
  const UOp* sink = c.body.root;
  const auto targets = sink->list();
  llvm::StringMap<int> seen;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i]) continue;
    const std::string name(c.String(targets[i]));
    const BufferDecl& decl = *c.symbols.buffers.lookup(name);
    const UOp* s = sink->src(i);
    const auto fail = [&](Rule rule, std::string message) {
      c.Error(rule, sink, "'@" + name + "' " + message);
    };
    if (!seen.try_emplace(name, 1).second) return fail(Rule::kSinkTarget, "is a target twice");
    if (IsReadOnly(decl)) {
      return fail(Rule::kReadOnly,
                  "is written, and its role is " + std::string(RoleName(decl.role)));
    }
    if (s->dtype != DType(decl.dtype.value_scalar())) {
      return fail(Rule::kSinkTarget, "holds " + DType(decl.dtype.value_scalar()).ToString() + ", " +
                                         c.Name(s) + " has type " + s->dtype.ToString());
    }
    const Shape& shape = c.shapes.Of(s);
    bool same = shape.size() == decl.shape.size();
    for (size_t k = 0; same && k < shape.size(); ++k) {
      const DeclDim& d = decl.shape[k];
      if (!shape[k].is_symbolic()) {
        same = !d.is_symbolic() && shape[k].Is(d.size);
      } else if (shape[k].symbol()->op == Op::kVar) {
        same = c.String(shape[k].symbol()->word(0)) == d.var;
      }
      // Another symbolic extent may have any value.
    }
    if (!same) return fail(Rule::kSinkTarget, "does not have the shape of " + c.Name(s));
  }
}

void CheckInit(BodyCheck& c) {
  for (const UOp* u : c.order) {
    // A variable that `bind` gives a value does not depend on the run.
    for (size_t i = u->op == Op::kBind ? 1 : 0; i < u->num_srcs; ++i) {
      if (u->src(i)->op != Op::kVar) continue;
      c.Error(Rule::kInit, u->src(i), "it depends on a variable, which each run gives");
      return;
    }
    if (u->op != Op::kBuffer) continue;
    const Role role = DeclOf(c, u)->role;
    if (role == Role::kInput || role == Role::kOutput) {
      c.Error(Rule::kInit, u,
              "'@" + std::string(c.String(u->word(0))) + "' is an " + std::string(RoleName(role)) +
                  ", which each run has anew");
      return;
    }
  }
  const auto targets = c.body.root->list();
  for (int64_t target : targets) {
    if (!target) continue;
    const std::string name(c.String(target));
    const BufferDecl& decl = *c.symbols.buffers.lookup(name);
    if (decl.role == Role::kState) continue;
    c.Error(Rule::kInit, c.body.root,
            "'@" + name + "' is written, and its role is " + std::string(RoleName(decl.role)));
    return;
  }
}

}  // namespace tg::verify
