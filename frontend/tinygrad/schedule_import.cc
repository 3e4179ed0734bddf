#include "frontend/tinygrad/schedule_import.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tinygrad/buffers.h"
#include "frontend/tinygrad/device_placement.h"
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
    if (!FindDevices(linear)) return false;
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
  static const Node* BufferOf(const Node* n) {
    while (n->op == "AFTER" && n->num_srcs > 0) n = n->src(0);
    return n;
  }

  // The operands of a CALL, without variables, whose values are given when the module runs.
  static std::vector<const Node*> OperandsOf(const Node& call) {
    std::vector<const Node*> out;
    for (size_t i = 1; i < call.num_srcs; ++i) {
      const Node* n = BufferOf(call.src(i));
      if (n->op != "BUFFER" || !IsVariable(n)) out.push_back(n);
    }
    return out;
  }

  // Finds the device of each buffer, see device_placement.h.
  bool FindDevices(const Node& linear) {
    DeviceTable table;
    std::map<int64_t, int> device;                    // by buffer
    std::vector<std::pair<int64_t, int64_t>> copies;  // to, from
    for (size_t i = 0; i < linear.num_srcs; ++i) {
      const Node& call = *linear.src(i);
      const std::vector<const Node*> operands = OperandsOf(call);
      const bool copy = call.num_srcs > 0 && call.src(0)->op == "COPY";
      std::vector<int64_t> numbers;
      for (const Node* n : operands) {
        const Value* slot = FindItem(n->arg, "slot", 0);
        if (!slot || slot->kind != Kind::kInt) continue;  // Find reports the error
        numbers.push_back(slot->number);
        int& number = device[slot->number];
        if (!table.ReadBuffer(*n, &number, diags_)) return false;
        if (!copy) table.NoteWork(number);
      }
      if (copy && numbers.size() == 2) copies.emplace_back(numbers[0], numbers[1]);
    }
    const int first = table.FirstOfSeveral();
    if (first == DeviceTable::kNone) return true;
    std::map<int64_t, int> wanted;
    for (size_t i = copies.size(); i-- > 0;) {
      const auto [to, from] = copies[i];
      if (table.IsReal(device[to])) {
        wanted[from] = device[to];
      } else if (wanted.count(to)) {
        wanted[from] = wanted[to];
      }
    }
    for (const auto& [buffer, number] : device) {
      const int other = wanted.count(buffer) ? wanted[buffer] : first;
      devices_[buffer] = table.Name(table.IsReal(number) ? number : other);
    }
    return true;
  }

  struct Memory {
    size_t decl = 0;  // in the module
    const UOp* buffer = nullptr;
    const UOp* now = nullptr;  // its value after the calls before this one
    bool written = false, read_first = false, read_after = false;
  };

  bool Fail(const Node& n, const std::string& message) {
    diags_.Error(n.loc, std::string(n.op) + ": " + message);
    return false;
  }

  // The memory of a BUFFER; null after an error.
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
    decl.device = devices_[slot->number];
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
    for (const Node* s : OperandsOf(n)) {
      slots.push_back(Find(*s));
      if (!slots.back()) return false;
    }
    KernelUse use;
    if (!ImportKernel(text_, n.src(0), {}, module_, &use, diags_)) return false;
    if (!use.kernel) {  // a copy
      if (slots.size() != 2) return Fail(n, "a copy has two buffers");
      Read(*slots[1]);
      Write(*slots[0], Copied(*slots[0], slots[1]->now));
      return true;
    }
    const auto uses = SlotsOf(use);
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

  // Copies `value` to the device of `target`.
  const UOp* Copied(const Memory& target, const UOp* value) {
    const std::string& device = module_.buffers[target.decl].device;
    const UOp* buffer = value;
    while (buffer->op == Op::kAssign) buffer = buffer->src(0);
    Context& ctx = b_.context();
    const std::string_view name = ctx.String(static_cast<StringId>(buffer->word()));
    if (module_.FindBuffer(name)->device == device) return value;
    const Attr attr = ctx.MakeAttr(Op::kCopy, {int64_t{ctx.Intern(device)}});
    return ctx.Make(Op::kCopy, value->dtype, {value}, attr);
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
  std::map<int64_t, std::string> devices_;  // by number; empty if there is only one
  std::map<int64_t, Memory> memory_;        // by number
  std::vector<int64_t> order_;
  size_t num_anonymous_ = 0;
};

}  // namespace

bool ImportSchedule(const Text& text, const Node* linear, const Directives& directives,
                    Module& module, Diagnostics& diags) {
  return ScheduleImport(text, directives, module, diags).Run(*linear);
}

}  // namespace tg::tinygrad
