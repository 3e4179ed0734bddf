#include "runtime/plan/launch_order.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/status.h"
#include "ir/measure.h"
#include "ir/walk.h"
#include "runtime/plan/input_dependence.h"

namespace tg::runtime {
namespace {

class Scheduler {
 public:
  // `loops`: null if a loop is an error.
  // `measures`: null if a measured variable is an error.
  Scheduler(const Module& module, const Graph& graph, std::vector<ScheduledLoop>* loops,
            std::vector<ScheduledMeasure>* measures)
      : module_(module), graph_(graph), loops_(loops), measures_(measures) {
    for (size_t i = 0; i < module.buffers.size(); ++i) {
      buffers_[module.buffers[i].name] = static_cast<int>(i);
    }
    for (size_t i = 0; i < module.kernels.size(); ++i) {
      kernels_.emplace(module.kernels[i]->name, static_cast<int>(i));
    }
  }

  absl::StatusOr<std::vector<ScheduledKernel>> Run() {
    const UOp* root = graph_.body.root;
    if (root == nullptr) return std::move(out_);
    for (const UOp* u : PostOrder(root)) {
      if (u->op != Op::kAssign || !IsCall(u->src(1)->op)) continue;
      if (graph_.body.side.name(u)) results_[u->src(1)].push_back(u);
      std::vector<const UOp*>& first = before_[u->src(1)];
      first.insert(first.end(), u->srcs().begin() + 2, u->srcs().end());
    }
    TG_RETURN_IF_ERROR(Walk(root));
    return std::move(out_);
  }

 private:
  enum State : uint8_t { kNew, kOpen, kDone };
  struct Frame {
    const UOp* node;
    size_t next;
  };

  std::string Where(const UOp* u) const {
    const Location loc = graph_.body.side.loc(u);
    std::string text = Cat("graph @", graph_.name);
    if (loc.line > 0) text += Cat(", line ", loc.line);
    return Cat(text, ": ");
  }

  // Returns sources; a kernel also has the ordering sources of its results' assigns.
  const UOp* Child(const UOp* u, size_t i) const {
    if (i < u->num_srcs) return u->src(i);
    const std::vector<const UOp*>& extra = before_.Get(u);
    i -= u->num_srcs;
    return i < extra.size() ? extra[i] : nullptr;
  }

  absl::Status Walk(const UOp* root) {
    std::vector<Frame> stack = {{root, 0}};
    state_[root] = kOpen;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const UOp* u = frame.node;
      const UOp* child = Child(u, frame.next++);
      if (child == nullptr) {
        TG_RETURN_IF_ERROR(Visit(u));
        state_[u] = kDone;
        stack.pop_back();
      } else if (state_[child] == kOpen) {
        return InvalidArgument(Where(child), Mnemonic(child->op),
                               " must happen both before and after the kernel that it belongs to");
      } else if (state_[child] == kNew) {
        state_[child] = kOpen;
        stack.push_back({child, 0});
      }
    }
    return absl::OkStatus();
  }

  absl::Status Visit(const UOp* u) {
    switch (u->op) {
      case Op::kBuffer:
      case Op::kBufferView:
      case Op::kAfter:
      case Op::kVar:
      case Op::kConst:
      case Op::kNoop:
        return absl::OkStatus();
      case Op::kBind:
        return IsMeasure(u) ? Measure(u) : absl::OkStatus();
      case Op::kSink:
        return Sink(u);
      case Op::kAssign:
        if (IsCall(u->src(1)->op)) return absl::OkStatus();
        if (u->src(1)->op == Op::kCopy) return CopyTo(u);
        return InvalidArgument(Where(u), "the value that is assigned comes from ",
                               Mnemonic(u->src(1)->op),
                               ", not from a kernel; the graph has not been through kernelize");
      case Op::kKernel:
        return Kernel(u);
      case Op::kRepeat:
        return Repeat(u);
      case Op::kCopy:  // scheduled at its assign
        return absl::OkStatus();
      case Op::kLoop:
      case Op::kCarried:
        return Unimplemented(Where(u), "a plan cannot execute ", Mnemonic(u->op));
      default:
        // Movement ops connect a buffer with the assign to a part of it; symbolic sizes are
        // expressions.
        if (IsMovement(u->op) || u->dtype.is_index()) return absl::OkStatus();
        return InvalidArgument(Where(u), "a plan cannot execute ", Mnemonic(u->op),
                               "; the graph has not been through kernelize");
    }
  }

  absl::Status Sink(const UOp* u) {
    const auto words = u->words();
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == 0) continue;
      return InvalidArgument(Where(u), "the sink writes to @",
                             graph_.body.context->String(static_cast<StringId>(words[i])),
                             "; the graph has not been through kernelize");
    }
    for (const UOp* s : u->srcs()) {
      if (YieldsToken(s->op) || s->op == Op::kAssign || IsMeasure(s) || Resolve(s).ok()) continue;
      return InvalidArgument(Where(s), "the result of ", Mnemonic(s->op),
                             " is not stored; the graph has not been through kernelize");
    }
    return absl::OkStatus();
  }

  absl::Status Measure(const UOp* u) {
    if (measures_ == nullptr) {
      return Unimplemented(Where(u),
                           "a size that depends on data is measured in a session, outside ",
                           "of loops, only");
    }
    TG_ASSIGN_OR_RETURN(const BufferSlice slice, Resolve(u->src(1)));
    TG_ASSIGN_OR_RETURN(VarUse var, Variable(u->src(0)));
    measures_->push_back({out_.size(), slice.buffer, std::move(var.name)});
    // Its memory is kept up to here.
    if (!out_.empty()) out_.back().held.push_back(slice.buffer);
    return absl::OkStatus();
  }

  absl::Status Kernel(const UOp* u) {
    const std::string_view name = graph_.body.context->String(static_cast<StringId>(u->word()));
    ScheduledKernel item;
    const auto found = kernels_.find(name);
    if (found == kernels_.end()) return NotFound(Where(u), "there is no kernel @", name);
    item.kernel = found->second;
    for (const UOp* s : u->srcs()) {
      if (s->op == Op::kVar || s->op == Op::kBind) {
        TG_ASSIGN_OR_RETURN(VarUse var, Variable(s));
        item.vars.push_back(std::move(var));
      } else {
        TG_ASSIGN_OR_RETURN(const BufferSlice slice, Resolve(s));
        item.buffers.push_back(slice);
      }
    }
    const tg::Context& context = *graph_.body.context;
    std::string_view origins = context.String(graph_.body.side.origin(u));
    while (!origins.empty()) {
      const size_t end = std::min(origins.find('\n'), origins.size());
      item.nodes.emplace_back(origins.substr(0, end));
      origins.remove_prefix(std::min(end + 1, origins.size()));
    }
    for (const UOp* assign : results_.Get(u)) {
      item.tensors.emplace_back(context.String(graph_.body.side.name(assign)));
    }
    out_.push_back(std::move(item));
    return absl::OkStatus();
  }

  // The steps of an iteration, with the loops inside it.
  absl::Status Repeat(const UOp* u) {
    const tg::Context& context = *graph_.body.context;
    if (loops_ == nullptr) {
      return Unimplemented(Where(u), "a loop (repeat) runs in a session only; no C is made of it");
    }
    const std::string_view name = context.String(static_cast<StringId>(u->word(0)));
    const Graph* body = module_.FindGraph(name);
    if (body == nullptr) return NotFound(Where(u), "there is no graph @", name);
    std::vector<ScheduledLoop> inner;
    TG_ASSIGN_OR_RETURN(std::vector<ScheduledKernel> steps,
                        Scheduler(module_, *body, &inner, nullptr).Run());
    if (steps.empty()) return absl::OkStatus();  // it has no elements to compute
    ScheduledLoop loop;
    loop.first = out_.size();
    loop.last = loop.first + steps.size();
    const absl::StatusOr<codegen::SizeExpr> trip = codegen::SizeExpr::From(u->src(0), context);
    if (!trip.ok()) {
      return Unimplemented(Where(u), "its trip count is no expression of variables: ",
                           std::string(trip.status().message()));
    }
    loop.trip = *trip;
    loop.step = context.String(static_cast<StringId>(u->src(1)->word()));
    std::vector<int> held;
    for (const UOp* s : u->srcs().subspan(2)) {
      TG_ASSIGN_OR_RETURN(const BufferSlice slice, Resolve(s));
      held.push_back(slice.buffer);
    }
    for (size_t k = 0; k < static_cast<size_t>(u->word(1)); ++k) {
      loop.pairs.emplace_back(held[2 * k], held[2 * k + 1]);
    }
    if (u->word(3) != 0) loop.condition = held[0];
    for (ScheduledKernel* end : {&steps.front(), &steps.back()}) {
      end->held.insert(end->held.end(), held.begin(), held.end());
    }
    loops_->push_back(std::move(loop));
    for (ScheduledLoop& nested : inner) {
      nested.first += out_.size();
      nested.last += out_.size();
      loops_->push_back(std::move(nested));
    }
    std::move(steps.begin(), steps.end(), std::back_inserter(out_));
    return absl::OkStatus();
  }

  absl::Status CopyTo(const UOp* assign) {
    ScheduledKernel item;
    for (const UOp* s : {assign->src(0), assign->src(1)->src(0)}) {
      TG_ASSIGN_OR_RETURN(const BufferSlice slice, Resolve(s));
      item.buffers.push_back(slice);
      for (; s->op != Op::kBuffer && s->op != Op::kAfter; s = s->src(0)) {
        const bool part = s->op == Op::kBufferView || IsMovement(s->op);
        if (!part || s->op == Op::kReshape) continue;
        return InvalidArgument(Where(assign), "a copy takes a whole buffer to another, not a ",
                               Mnemonic(s->op),
                               " of one; the graph has not been through kernelize");
      }
    }
    out_.push_back(std::move(item));
    return absl::OkStatus();
  }

  absl::StatusOr<VarUse> Variable(const UOp* u) const {
    const UOp* var = u->op == Op::kBind ? u->src(0) : u;
    VarUse use{std::string(graph_.body.context->String(static_cast<StringId>(var->word()))), {}};
    if (u->op == Op::kBind && !IsMeasure(u)) use.bound = u->src(1)->word();
    return use;
  }

  // Returns the memory of a value, which is the same for every version of a buffer.
  absl::StatusOr<BufferSlice> Resolve(const UOp* u) const {
    const UOp* const operand = u;
    int64_t offset = 0, size = -1;
    while (u->op != Op::kBuffer) {
      if (u->op == Op::kBufferView) {
        offset += u->word(0);
        if (size < 0) size = u->word(1);
      } else if (u->op != Op::kAssign && u->op != Op::kAfter && !IsMovement(u->op)) {
        return InvalidArgument(Where(operand), "a kernel's operand is the result of ",
                               Mnemonic(u->op), ", which is not stored in a buffer");
      }
      u = u->src(0);
    }
    const std::string_view name = graph_.body.context->String(static_cast<StringId>(u->word()));
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) return NotFound(Where(u), "there is no buffer @", name);
    return BufferSlice{found->second, offset, size};
  }

  const Module& module_;
  const Graph& graph_;
  std::vector<ScheduledLoop>* const loops_;
  std::vector<ScheduledMeasure>* const measures_;
  std::map<std::string, int, std::less<>> buffers_, kernels_;
  NodeMap<std::vector<const UOp*>> before_;   // by kernel
  NodeMap<std::vector<const UOp*>> results_;  // by kernel: assigns with a name
  NodeMap<State> state_;
  std::vector<ScheduledKernel> out_;
};

}  // namespace

absl::StatusOr<std::vector<ScheduledKernel>> MakeSchedule(const Module& module, const Graph& graph,
                                                          std::vector<ScheduledLoop>* loops,
                                                          std::vector<ScheduledMeasure>* measures) {
  TG_ASSIGN_OR_RETURN(std::vector<ScheduledKernel> schedule,
                      Scheduler(module, graph, loops, measures).Run());
  const std::vector<bool> depend = StepsThatDependOnInput(
      module, schedule, loops != nullptr ? *loops : std::vector<ScheduledLoop>());
  for (size_t i = 0; i < depend.size(); ++i) schedule[i].depends_on_input = depend[i];
  return schedule;
}

absl::StatusOr<std::vector<ScheduledGraph>> ScheduleRun(const Module& module, const Graph& graph) {
  std::vector<ScheduledGraph> out(1);
  out[0].name = graph.name;
  TG_ASSIGN_OR_RETURN(out[0].steps, MakeSchedule(module, graph, &out[0].loops, &out[0].measures));
  const Graph* init = module.FindGraph(kInitGraph);
  if (init == nullptr || init == &graph) return out;
  out.emplace_back().name = init->name;
  TG_ASSIGN_OR_RETURN(out.back().steps, MakeSchedule(module, *init, &out.back().loops));
  return out;
}

}  // namespace tg::runtime
