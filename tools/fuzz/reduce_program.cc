#include "tools/fuzz/reduce_program.h"

#include <algorithm>
#include <set>
#include <string>

#include "ir/builder.h"
#include "ir/interpret/graph.h"
#include "ir/interpret/run.h"
#include "ir/shape.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"

namespace tg::fuzz {
namespace {

using testing::RandomProgram;

Body& BodyOf(const RandomProgram& p) { return p.module->graphs[0]->body; }

// Replaces `from` by `with` in the program. Both are nodes of its body, or `with` is made from such
// nodes.
void Replace(RandomProgram& p, const UOp* from, const UOp* with) {
  Body& body = BodyOf(p);
  NodeMap<const UOp*> map;
  std::vector<const UOp*> srcs;
  for (const UOp* u : PostOrder(body.root)) {
    srcs.clear();
    for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
    const UOp* to = u == from ? with : body.context->Rebuild(u, *body.context, srcs);
    body.CarryOver(u, to);
    map[u] = to;
  }
  body.root = map.Get(body.root);
}

// Drops unused declarations and unreachable nodes.
void Tidy(RandomProgram& p) {
  Body& body = BodyOf(p);
  Compact(body);
  std::set<std::string> used;
  for (const UOp* u : PostOrder(body.root)) {
    const auto add = [&](int64_t id) {
      used.insert(std::string(body.context->String(static_cast<StringId>(id))));
    };
    if (u->op == Op::kBuffer || u->op == Op::kVar) add(u->word());
    if (u->op == Op::kSink) {
      for (int64_t id : u->list()) add(id);
    }
  }
  std::erase_if(p.module->buffers, [&](const BufferDecl& b) { return !used.count(b.name); });
  for (const BufferDecl& b : p.module->buffers) {
    for (const DeclDim& d : b.shape) d.ForEachVar([&](const std::string& v) { used.insert(v); });
  }
  std::erase_if(p.module->vars, [&](const VarDecl& v) { return !used.count(v.name); });
  std::erase_if(p.inputs, [&](const auto& entry) { return !p.module->FindBuffer(entry.first); });
  std::erase_if(p.vars, [&](const auto& entry) { return !p.module->FindVar(entry.first); });
}

// Whether the value is a constant in all elements.
bool IsFilled(const UOp* u) {
  while (u->op == Op::kExpand || u->op == Op::kReshape) u = u->src(0);
  return u->op == Op::kConst;
}

class Reducer {
 public:
  Reducer(const RandomProgram& program, const Interesting& interesting,
          const ReduceOptions& options)
      : best_{CopyProgram(program)}, interesting_(interesting), options_(options) {}

  ReduceResult Run() {
    for (bool changed = true; changed && !Ends();) {
      changed = DropResults();
      changed |= LowerResults();
      changed |= ReplaceNodes();
    }
    return std::move(best_);
  }

 private:
  size_t Size(const RandomProgram& p) const { return PostOrder(BodyOf(p).root).size(); }
  bool Ends() {
    stopped_ = stopped_ || (options_.stop && options_.stop());
    return stopped_ || best_.tried >= options_.max_tries;
  }

  // Keeps the candidate if it is smaller and interesting.
  bool Try(RandomProgram candidate) {
    if (Ends()) return false;
    Tidy(candidate);
    if (Size(candidate) > Size(best_.program) || !VerifyModule(*candidate.module).ok()) {
      return false;
    }
    ++best_.tried;
    const bool kept = interesting_(candidate);
    if (kept) {
      best_.program = std::move(candidate);
      ++best_.kept;
    }
    if (options_.progress) options_.progress(best_, Size(best_.program), kept);
    return kept;
  }

  bool DropResults() {
    bool changed = false;
    for (size_t n = BodyOf(best_.program).root->num_srcs / 2 + 1; n >= 1; n /= 2) {
      for (size_t at = 0; at < BodyOf(best_.program).root->num_srcs;) {
        const bool dropped = BodyOf(best_.program).root->num_srcs > n && DropResults(at, n);
        changed |= dropped;
        if (!dropped) at += n;
      }
    }
    return changed;
  }

  bool DropResults(size_t at, size_t n) {
    RandomProgram p = CopyProgram(best_.program);
    Body& body = BodyOf(p);
    const UOp* sink = body.root;
    std::vector<const UOp*> roots;
    std::vector<std::string_view> targets;
    const auto names = sink->list();
    for (size_t i = 0; i < sink->num_srcs; ++i) {
      if (i >= at && i < at + n) continue;
      roots.push_back(sink->src(i));
      targets.push_back(names.empty() ? std::string_view()
                                      : body.context->String(static_cast<StringId>(names[i])));
    }
    body.root = Builder(*body.context).Sink(roots, targets);
    return Try(std::move(p));
  }

  // Replaces results by one of their sources.
  bool LowerResults() {
    bool changed = false;
    for (size_t at = 0; at < BodyOf(best_.program).root->num_srcs; ++at) {
      const auto lower = [&] {
        const UOp* root = BodyOf(best_.program).root->src(at);
        for (size_t k = 0; k < NumOperands(root); ++k) {
          if (LowerResult(at, k)) return true;
        }
        return false;
      };
      while (lower()) changed = true;
    }
    return changed;
  }

  // Replaces a result by its source k, in a new buffer if the result has one.
  bool LowerResult(size_t at, size_t k) {
    RandomProgram p = CopyProgram(best_.program);
    Body& body = BodyOf(p);
    const UOp* sink = body.root;
    const UOp* with = sink->src(at)->src(k);
    if (!with->dtype.is_value() || with->dtype.is_index()) return false;
    std::vector<const UOp*> roots(sink->srcs().begin(), sink->srcs().end());
    std::vector<std::string> names(roots.size());
    for (size_t i = 0; i < sink->list().size(); ++i) {
      names[i] = body.context->String(static_cast<StringId>(sink->list()[i]));
    }
    roots[at] = with;
    if (!names[at].empty()) {
      const Shape shape = ShapeMap(*p.module, *body.context).Of(with);
      if (!IsStatic(shape)) return false;
      names[at] = NewName(p, "r");
      BufferDecl decl;
      decl.name = names[at];
      decl.dtype = with->dtype;
      decl.role = Role::kOutput;
      for (const Dim& d : shape) decl.shape.push_back({d.value(), ""});
      p.module->buffers.push_back(std::move(decl));
    }
    const std::vector<std::string_view> targets(names.begin(), names.end());
    body.root = Builder(*body.context).Sink(roots, targets);
    return Try(std::move(p));
  }

  std::string NewName(const RandomProgram& p, const std::string& prefix) {
    std::string name;
    do {
      name = prefix + std::to_string(next_name_++);
    } while (p.module->FindBuffer(name));
    return name;
  }

  // Visits every node by its position from the end, so that positions stay valid when earlier nodes
  // are dropped.
  bool ReplaceNodes() {
    bool changed = false;
    for (size_t back = 1; !Ends(); ++back) {
      const size_t n = Size(best_.program);
      if (back >= n) break;
      for (int way = 0; way < 6; ++way) {
        if (ReplaceNode(n - 1 - back, way)) {
          changed = true;
          --back;
          break;
        }
      }
    }
    return changed;
  }

  bool ReplaceNode(size_t position, int way) {
    RandomProgram p = CopyProgram(best_.program);
    Body& body = BodyOf(p);
    const std::vector<const UOp*> order = PostOrder(body.root);
    const UOp* u = order[position];
    if (u->dtype.is_void() || u->op == Op::kConst || u->op == Op::kVar) return false;
    // Nodes that order writes are dropped as a whole or stay unchanged.
    const bool token = std::any_of(order.begin(), order.end(), [&](const UOp* user) {
      const auto srcs = user->srcs();
      const size_t first = user->op == Op::kAfter ? 1 : user->op == Op::kAssign ? 2 : srcs.size();
      return first < srcs.size() &&
             std::find(srcs.begin() + static_cast<ptrdiff_t>(first), srcs.end(), u) != srcs.end();
    });
    if (token) return false;
    ShapeMap shapes(*p.module, *body.context);
    const Shape shape = shapes.Of(u);
    Builder b(*body.context);
    const UOp* with = nullptr;
    if (way < 3) {
      if (static_cast<size_t>(way) >= NumOperands(u)) return false;
      with = u->src(static_cast<size_t>(way));
      if (with->dtype != u->dtype || (shapes.Of(with) != shape && !Conform(b, with, shapes, shape)))
        return false;
    } else if (way == 3) {
      if (u->op == Op::kBuffer || u->dtype.is_index()) return false;
      with = Captured(p, u, shape);
    } else {
      if (IsFilled(u)) return false;
      with = b.ConstInt(u->dtype, way == 4 ? 1 : 0);
      if (!shape.empty()) with = b.Expand(b.Reshape(with, Shape(shape.size(), 1)), shape);
    }
    if (!with || with == u) return false;
    Replace(p, u, with);
    return Try(std::move(p));
  }

  // Reshapes the source if it has the same number of elements.
  static bool Conform(Builder& b, const UOp*& with, ShapeMap& shapes, const Shape& shape) {
    const Shape& have = shapes.Of(with);
    if (!IsStatic(have) || !IsStatic(shape) || NumElements(have) != NumElements(shape))
      return false;
    with = b.Reshape(with, shape);
    return true;
  }

  // A param that holds the value of `u`.
  const UOp* Captured(RandomProgram& p, const UOp* u, const Shape& shape) {
    if (!IsStatic(shape)) return nullptr;
    RandomProgram probe = CopyProgram(p);
    Body& body = BodyOf(p);
    Body& probe_body = BodyOf(probe);
    // The node at the same position in the copy.
    const auto order = PostOrder(body.root);
    const auto at = std::find(order.begin(), order.end(), u) - order.begin();
    const UOp* node = PostOrder(probe_body.root)[static_cast<size_t>(at)];
    probe_body.root = Builder(*probe_body.context).Sink(UOpSpan(&node, 1));
    const auto result = InterpretGraph(*probe.module, *probe.module->graphs[0], probe.inputs,
                                       probe.vars, OptionsFor(*probe.module));
    if (!result.ok() || result->values.size() != 1) return nullptr;
    BufferDecl decl;
    decl.name = NewName(p, "p");
    decl.dtype = u->dtype;
    decl.role = Role::kParam;
    for (const Dim& d : shape) decl.shape.push_back({d.value(), ""});
    decl.values = *result->values[0].data;
    if (static_cast<int64_t>(decl.values->size()) != NumElements(shape)) return nullptr;
    const std::string name = decl.name;
    p.module->buffers.push_back(std::move(decl));
    return Builder(*body.context).Buffer(name, u->dtype);
  }

  ReduceResult best_;
  const Interesting& interesting_;
  const ReduceOptions& options_;
  bool stopped_ = false;
  int next_name_ = 0;
};

}  // namespace

RandomProgram CopyProgram(const RandomProgram& program) {
  return {Clone(*program.module), program.inputs, program.vars};
}

void InlineInputs(RandomProgram& program) {
  for (BufferDecl& b : program.module->buffers) {
    const auto given = program.inputs.find(b.name);
    const bool fixed = std::all_of(b.shape.begin(), b.shape.end(),
                                   [](const DeclDim& d) { return !d.is_symbolic(); });
    if (given == program.inputs.end() || !fixed || b.values) continue;
    if (b.role != Role::kInput && b.role != Role::kParam) continue;
    b.role = Role::kParam;
    b.values = given->second.data;
    program.inputs.erase(given);
  }
}

ReduceResult Reduce(const RandomProgram& program, const Interesting& interesting,
                    const ReduceOptions& options) {
  return Reducer(program, interesting, options).Run();
}

}  // namespace tg::fuzz
