#include "frontend/tinygrad/schedule_import.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tinygrad/buffers.h"
#include "frontend/tinygrad/kernel_import.h"
#include "frontend/tinygrad/ops.h"
#include "ir/builder.h"

namespace tg::tinygrad {
namespace {

class ScheduleImport {
 public:
  ScheduleImport(const Text& text, const Directives& directives, Module& module, Diagnostics& diags)
      : text_(text),
        directives_(directives),
        module_(module),
        diags_(diags),
        graph_(std::make_unique<Graph>()),
        b_(*graph_->body.context) {}

  bool Run(const Node& linear) {
    graph_->name = "main";
    graph_->loc = linear.loc;
    for (size_t i = 0; i < linear.num_srcs; ++i) {
      if (!Call(*linear.src(i))) return false;
    }
    std::vector<const UOp*> results;
    for (int64_t number : order_) {
      const Memory& m = memory_[number];
      BufferDecl& decl = module_.buffers[m.decl];
      if (m.written) {
        decl.role = m.read_first ? Role::kState : m.read_after ? Role::kTemp : Role::kOutput;
      }
      const auto named = directives_.buffers.find(number);
      if (named != directives_.buffers.end()) decl.role = named->second.role;
      if (m.written && decl.role != Role::kTemp) results.push_back(m.now);
    }
    graph_->body.root = b_.Sink(results);
    module_.graphs.push_back(std::move(graph_));
    return true;
  }

 private:
  struct Memory {
    size_t decl = 0;  // in the module
    const UOp* buffer = nullptr;
    const UOp* now = nullptr;  // after what was called so far
    bool written = false, read_first = false, read_after = false;
  };

  bool Fail(const Node& n, const std::string& message) {
    diags_.Error(n.loc, std::string(n.op) + ": " + message);
    return false;
  }

  // The memory behind a BUFFER; null after an error.
  Memory* Find(const Node& n) {
    const Value* slot = FindItem(n.arg, "slot", 0);
    const auto shape = n.num_srcs > 0 ? StaticShape(n.src(0)) : std::nullopt;
    const auto type = TypeOf(n.dtype);
    if (n.op != "BUFFER" || !slot || slot->kind != Kind::kInt || !shape || !Product(*shape) ||
        !type) {
      Fail(n, "expected a BUFFER with a number and a size");
      return nullptr;
    }
    const auto [it, is_new] = memory_.try_emplace(slot->number);
    Memory& m = it->second;
    if (!is_new) return &m;
    order_.push_back(slot->number);
    BufferDecl decl;
    const auto named = directives_.buffers.find(slot->number);
    if (named != directives_.buffers.end()) {
      decl.name = named->second.name;
      decl.file = named->second.file;
      decl.tensor = named->second.tensor;
    } else {
      decl.name = "buf" + std::to_string(num_anonymous_++);
    }
    decl.dtype = type->type;
    decl.role = Role::kInput;
    for (int64_t extent : *shape) decl.shape.push_back({extent, {}});
    decl.loc = n.loc;
    m.decl = module_.buffers.size();
    m.buffer = m.now = b_.Buffer(decl.name, decl.dtype);
    module_.buffers.push_back(std::move(decl));
    return &m;
  }

  bool Call(const Node& n) {
    if (n.op != "CALL" || n.num_srcs < 2) return Fail(n, "expected the CALL of a kernel");
    std::vector<Memory*> slots;
    for (size_t i = 1; i < n.num_srcs; ++i) {
      const Node* s = n.src(i);
      while (s->op == "AFTER" && s->num_srcs > 0) s = s->src(0);
      if (s->op == "BUFFER" && IsVariable(s)) continue;  // the run says its value
      slots.push_back(Find(*s));
      if (!slots.back()) return false;
    }
    KernelUse use;
    if (!ImportKernel(text_, n.src(0), module_, &use, diags_)) return false;
    if (!use.kernel) {  // a copy
      if (slots.size() != 2) return Fail(n, "a copy has two buffers");
      Read(*slots[1]);
      Write(*slots[0], slots[1]->now);
      return true;
    }
    const auto uses = SlotsOf(*use.kernel);
    std::vector<const UOp*> operands;
    for (size_t i = 0; i < slots.size(); ++i) {
      const auto it = uses.find(static_cast<int64_t>(i));
      if (it != uses.end() && it->second.read) Read(*slots[i]);
      operands.push_back(it != uses.end() && it->second.read ? slots[i]->now : slots[i]->buffer);
    }
    for (const std::string& var : use.vars) operands.push_back(b_.Var(var));
    Context& ctx = b_.context();
    const Attr name = ctx.MakeAttr(Op::kKernel, {int64_t{ctx.Intern(use.kernel->name)}});
    const UOp* call = ctx.Make(Op::kKernel, kVoid, operands, name);
    graph_->body.side.SetLoc(call, n.loc);
    for (size_t i = 0; i < slots.size(); ++i) {
      const auto it = uses.find(static_cast<int64_t>(i));
      if (it != uses.end() && it->second.written) Write(*slots[i], call);
    }
    return true;
  }

  void Read(Memory& m) { (m.written ? m.read_after : m.read_first) = true; }
  void Write(Memory& m, const UOp* value) {
    m.now = b_.context().Make(Op::kAssign, m.buffer->dtype, {m.buffer, value});
    m.written = true;
  }

  const Text& text_;
  const Directives& directives_;
  Module& module_;
  Diagnostics& diags_;
  std::unique_ptr<Graph> graph_;
  Builder b_;
  std::map<int64_t, Memory> memory_;  // by number
  std::vector<int64_t> order_;
  size_t num_anonymous_ = 0;
};

}  // namespace

bool ImportSchedule(const Text& text, const Node* linear, const Directives& directives,
                    Module& module, Diagnostics& diags) {
  return ScheduleImport(text, directives, module, diags).Run(*linear);
}

}  // namespace tg::tinygrad
