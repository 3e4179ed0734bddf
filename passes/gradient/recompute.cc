#include "passes/gradient/recompute.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/op_groups.h"
#include "ir/shape.h"
#include "ir/tuple.h"
#include "passes/gradient/sink.h"

namespace tg::gradient {
namespace {

const UOp* DeclareLike(Module& module, Body& body, const UOp* u, const char* name) {
  ShapeMap shapes(module, *body.context);
  BufferDecl decl{.name = FreeSymbol(module, name), .dtype = u->dtype, .role = Role::kTemp};
  for (const Dim& d : shapes.Of(u)) decl.shape.push_back({.size = d.value()});
  module.buffers.push_back(decl);
  return Builder(*body.context).Buffer(decl.name, decl.dtype);
}

const UOp* AssignTo(Body& body, const UOp* buffer, const UOp* value) {
  return body.context->Make(Op::kAssign, value->dtype, {buffer, value});
}

// A node that may be a checkpoint.
struct Cut {
  const UOp* node;
  double bytes;   // of its value
  double before;  // bytes of sums and stored values up to it
};

class CutFinder {
 public:
  CutFinder(const Module& module, const Body& body, UOpSpan order, UOpSpan wrt)
      : module_(module), body_(body), order_(order), shapes_(module, *body.context) {
    NodeSet trained;
    for (const UOp* u : wrt) trained.Insert(u);
    for (size_t i = 0; i < order.size(); ++i) Visit(order[i], i, trained);
  }

  std::vector<Cut> Run() {
    std::vector<Cut> cuts;
    double before = 0;
    size_t last = 0;  // the greatest position at which an activation so far is read
    for (size_t i = 0; i < order_.size(); ++i) {
      const UOp* u = order_[i];
      if (!activations_.Contains(u)) continue;
      const double bytes = BytesOf(u);
      if (u->op == Op::kReduceAxis || u->op == Op::kContiguous) before += bytes;
      if (last <= i && u->dtype.is_float() && IsStatic(shapes_.Of(u)))
        cuts.push_back({u, bytes, before});
      last = std::max(last, last_read_.Get(u));
    }
    return cuts;
  }

 private:
  // Activations depend on inputs and on what is trained.
  void Visit(const UOp* u, size_t position, const NodeSet& trained) {
    bool has_data = false, is_trained = trained.Contains(u);
    if (u->op == Op::kBuffer) {
      const auto name = body_.context->String(static_cast<StringId>(u->word()));
      has_data = module_.FindBuffer(name)->role == Role::kInput;
    }
    for (const UOp* s : u->srcs()) {
      has_data |= data_.Contains(s);
      is_trained |= trained_.Contains(s);
      last_read_[s] = position;
    }
    if (has_data) data_.Insert(u);
    if (is_trained) trained_.Insert(u);
    if (has_data && is_trained) activations_.Insert(u);
  }

  double BytesOf(const UOp* u) {
    double bytes = BitWidth(u->dtype.scalar()) / 8.0;
    for (const Dim& d : shapes_.Of(u))
      bytes *= d.is_symbolic() ? 1 : static_cast<double>(d.value());
    return bytes;
  }

  const Module& module_;
  const Body& body_;
  const UOpSpan order_;
  ShapeMap shapes_;
  NodeSet data_, trained_, activations_;
  NodeMap<size_t> last_read_;
};

}  // namespace

std::vector<const UOp*> KeepCheckpoints(Module& module, Body& body, std::vector<const UOp*>& values,
                                        UOpSpan wrt, size_t segments, size_t num_retained) {
  const std::vector<const UOp*> order = OrderOutsideTuples(values[0]);
  const std::vector<Cut> cuts = CutFinder(module, body, order, wrt).Run();
  if (cuts.empty()) return {};
  std::vector<const UOp*> chosen;
  for (size_t i = 1; i < segments && chosen.size() < num_retained; ++i) {
    const double share =
        cuts.back().before * static_cast<double>(i) / static_cast<double>(segments);
    const auto first =
        std::find_if(cuts.begin(), cuts.end(), [&](const Cut& cut) { return cut.before >= share; });
    // The smallest of those without a sum between them; the last of equal ones, which is read next.
    const Cut* best = &*first;
    for (auto cut = first; cut != cuts.end() && cut->before == first->before; ++cut) {
      if (cut->bytes <= best->bytes) best = &*cut;
    }
    if (best->node == values[0]) break;
    if (chosen.empty() || chosen.back() != best->node) chosen.push_back(best->node);
  }
  Builder b(*body.context);
  const UOp* root = std::exchange(body.root, b.Sink(values));
  NodeMap<const UOp*> replaced;
  std::vector<const UOp*> retained;
  for (const UOp* u : PostOrder(body.root)) {
    std::vector<const UOp*> srcs;
    bool changes = false;
    for (const UOp* s : u->srcs()) {
      const UOp* to = replaced.Get(s);
      srcs.push_back(to ? to : s);
      changes |= to != nullptr;
    }
    const UOp* copy = u;
    if (changes) {
      copy = body.context->Rebuild(u, *body.context, srcs);
      body.CarryOver(u, copy);
    }
    if (std::find(chosen.begin(), chosen.end(), u) != chosen.end()) {
      copy = AssignTo(body, DeclareLike(module, body, u, "checkpoint"), copy);
      retained.push_back(copy);
    }
    if (copy != u) replaced[u] = copy;
  }
  for (const UOp*& value : values) {
    if (const UOp* to = replaced.Get(value)) value = to;
  }
  body.root = root;
  return retained;
}

Recomputation::Recomputation(Module& module, Body& body, UOpSpan order, UOpSpan checkpoints)
    : module_(module), body_(body), order_(order), checkpoints_(checkpoints) {
  for (size_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
}

const UOp* Recomputation::Reach(const UOp* u, const UOp* dy) {
  const auto found = std::find(checkpoints_.begin(), checkpoints_.end(), u);
  if (found == checkpoints_.begin() || found == checkpoints_.end()) return dy;
  const UOp* turn = AssignTo(body_, DeclareLike(module_, body_, u, "turn"), dy);
  CopySegment(static_cast<size_t>(found - checkpoints_.begin()) - 1, turn);
  return turn;
}

void Recomputation::CopySegment(size_t number, const UOp* turn) {
  const UOp *from = checkpoints_[number], *to = checkpoints_[number + 1];
  Builder b(*body_.context);
  const UOp* writes[] = {from, turn};
  copies_[from] = b.After(from->src(0), writes);
  for (size_t i = position_.Get(from) + 1; i < position_.Get(to); ++i) {
    const UOp* u = order_[i];
    std::vector<const UOp*> srcs;
    for (const UOp* s : u->srcs()) srcs.push_back(ValueOf(s));
    if (std::equal(srcs.begin(), srcs.end(), u->srcs().begin())) continue;
    copies_[u] = body_.context->Rebuild(u, *body_.context, srcs);
    body_.CarryOver(u, copies_.Get(u));
  }
}

}  // namespace tg::gradient
