#include "frontend/tinygrad/graph_import.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tinygrad/buffers.h"
#include "frontend/tinygrad/constant_sums.h"
#include "frontend/tinygrad/device_placement.h"
#include "frontend/tinygrad/extents.h"
#include "frontend/tinygrad/translator.h"
#include "llvm/ADT/DenseSet.h"

namespace tg::tinygrad {
namespace {

class GraphTranslator : public Translator {
 public:
  GraphTranslator(const Demand& demand, const Devices& devices, const Buffers& buffers,
                  const Directives& directives, std::span<const KernelUse> kernels, Module& module,
                  Graph& graph, Diagnostics& diags)
      : Translator(demand, module, graph.body, diags),
        devices_(devices),
        buffers_(buffers),
        directives_(directives),
        kernels_(kernels) {}

  bool Run(std::span<const Node* const> roots) {
    for (const Node* n : demand_.nodes()) {
      if (demand_.OpOf(n).cls != OpClass::kReduce) continue;
      auto sum = FindConstantSum(*n);
      if (!sum) continue;
      for (const Node* s : sum->movements) skipped_.insert(s);
      sums_[n] = *std::move(sum);
    }
    if (!TranslateAll()) return false;
    std::vector<const Node*> results;
    for (const Node* root : roots) {
      if (root->op != "SINK") {
        results.push_back(root);
        continue;
      }
      for (size_t i = 0; i < root->num_srcs; ++i) results.push_back(root->src(i));
    }
    return Sink(*roots[0], results);
  }

 private:
  const UOp* Other(const Node& n, DType t) override {
    switch (demand_.OpOf(&n).cls) {
      case OpClass::kSink:
        return nullptr;
      case OpClass::kBuffer:
      case OpClass::kParam:
        return BufferNode(n, t);
      case OpClass::kPass:
        return Pass(n, t);
      case OpClass::kCopy: {
        const UOp* x = Source(n, 0, t);
        return x && devices_.Moves(&n) ? CopyTo(n, x) : x;
      }
      case OpClass::kView:
        return View(n, t);
      case OpClass::kBufferView:
        return BufferView(n, t);
      case OpClass::kAssign:
        return Assign(n, t);
      case OpClass::kStore:
        return Store(n);
      case OpClass::kAfter:
        return After(n, t);
      case OpClass::kReduce:
        return Reduce(n, t);
      case OpClass::kStack:
        return Stack(n, t);
      case OpClass::kMulti:
        return Fail(n, "sharded tensors (MULTI) are not read");
      case OpClass::kKernel:
        return Kernel(n);
      default:
        return Fail(n, "this op does not stand in a tensor graph");
    }
  }

  bool IsSkipped(const Node& n) const override { return skipped_.contains(&n); }

  const UOp* OtherPredicate(const Node& n, const UOp* u) override {
    switch (demand_.OpOf(&n).cls) {
      case OpClass::kSink:
      case OpClass::kStore:
      case OpClass::kAfter:
        return nullptr;
      case OpClass::kPass:
        return PredicateOf(n.src(0));
      case OpClass::kCopy: {
        const UOp* predicate = PredicateOf(n.src(0));
        return predicate && devices_.Moves(&n) ? CopyTo(n, predicate) : predicate;
      }
      case OpClass::kReduce: {
        // The reduction skips undefined elements; its result is defined if any element is.
        const UOp* predicate = PredicateOf(n.src(0));
        return predicate && !ShapeOf(predicate).empty() ? Reduced(n, Op::kOr, predicate)
                                                        : predicate;
      }
      case OpClass::kStack: {
        Shape shape = ShapeOf(u);
        shape.erase(shape.begin());
        Nodes parts;
        for (size_t i = 0; i < n.num_srcs; ++i) {
          parts.push_back(EmitBroadcast(n, SourcePredicate(n, i), shape));
        }
        return Stacked(n, parts);
      }
      default:
        return Translator::OtherPredicate(n, u);
    }
  }

  const UOp* BufferNode(const Node& n, DType t) {
    if (IsVariable(&n)) return Variable(n, t);
    const Buffer& buffer = buffers_.Of(&n);
    const Attr attr = ctx_.MakeAttr(Op::kBuffer, {int64_t{ctx_.Intern(buffer.name)}});
    const UOp* u = Emit(n, Op::kBuffer, t, {}, attr);
    if (!u) return nullptr;
    body_.side.SetName(u, ctx_.Intern(buffer.name));
    return n.arg.kind == Kind::kInt ? EmitReshape(n, u, {buffer.size}) : DeclaredShape(n, u);
  }

  // Buffers of newer versions declare their shape.
  const UOp* DeclaredShape(const Node& n, const UOp* u) {
    const auto declared = StaticShape(n.src(0));
    return declared ? EmitReshape(n, u, Shape(declared->begin(), declared->end()))
                    : Fail(n, "a buffer of symbolic shape");
  }

  const UOp* Pass(const Node& n, DType t) {
    const UOp* x = Source(n, 0, t);
    return x ? Emit(n, demand_.OpOf(&n).op, x->dtype, {x}) : nullptr;
  }

  // Copies `x` to the device that holds the value of `n`.
  const UOp* CopyTo(const Node& n, const UOp* x) {
    const Attr attr = ctx_.MakeAttr(Op::kCopy, {int64_t{ctx_.Intern(devices_.Of(&n))}});
    return Emit(n, Op::kCopy, x->dtype, {x}, attr);
  }

  const UOp* View(const Node& n, DType t) {
    if (t.is_void()) return nullptr;  // the user, a constant, reads it
    const UOp* x = Source(n, 0, t);
    return x ? EmitView(n, x, n.arg) : nullptr;
  }

  const UOp* BufferView(const Node& n, DType t) {
    const auto items = n.arg.list();
    if (items.size() != 2 || items[0].value.kind != Kind::kInt ||
        items[1].value.kind != Kind::kInt) {
      return Fail(n, "expected arg=(size, offset)");
    }
    const UOp* x = Source(n, 0, t);
    if (!x) return nullptr;
    if (x->dtype != t) return Fail(n, "it has another type than its buffer");
    // Offset, size.
    return Emit(n, Op::kBufferView, t, {x},
                ctx_.MakeAttr(Op::kBufferView, {items[1].value.number, items[0].value.number}));
  }

  const UOp* Assign(const Node& n, DType t) {
    Nodes srcs;
    for (size_t i = 0; i < n.num_srcs; ++i) {
      const UOp* s = Source(n, i, t);
      if (!s) return nullptr;
      srcs.push_back(s);
    }
    if (srcs.size() < 2) return Fail(n, "it has no target and value");
    // The result of a kernel or a copy is the written buffer, regardless of its shape.
    if (n.src(1)->op == "KERNEL") {
      while (IsMovement(srcs[0]->op)) srcs[0] = srcs[0]->src(0);
      if (srcs[1]->op != Op::kKernel) srcs[1] = EmitReshape(n, srcs[1], ShapeOf(srcs[0]));
    }
    return Emit(n, Op::kAssign, t, {srcs.data(), srcs.size()});
  }

  // The text of a KERNEL does not contain its AST: the ASTs follow the graph, in the order in which
  // the texts of the KERNELs end.
  const UOp* Kernel(const Node& n) {
    if (num_kernels_ == kernels_.size()) {
      return Fail(n,
                  "the text of a graph does not hold its kernels: print their ASTs behind it, in "
                  "the order of toposort()");
    }
    const KernelUse& use = kernels_[num_kernels_++];
    Nodes operands;
    for (size_t i = 0; i < n.num_srcs; ++i) {
      const UOp* s = Source(n, i, kVoid);
      if (!s) return nullptr;
      // Passes the whole buffer in its declared shape, not in tinygrad's flat one.
      while (IsMovement(s->op)) s = s->src(0);
      operands.push_back(s);
    }
    if (!use.kernel) {
      if (operands.size() < 2) return Fail(n, "a copy of nothing");
      return devices_.Of(n.src(0)) == devices_.Of(n.src(1)) ? operands[1] : CopyTo(n, operands[1]);
    }
    for (const std::string& var : use.vars) operands.push_back(b_.Var(var));
    const Attr attr = ctx_.MakeAttr(Op::kKernel, {int64_t{ctx_.Intern(use.kernel->name)}});
    return Emit(n, Op::kKernel, kVoid, {operands.data(), operands.size()}, attr);
  }

  // STORE(target, value) of newer versions. AFTER orders it.
  const UOp* Store(const Node& n) {
    if (n.num_srcs == 2 && BaseIsVariable(n.src(0))) return nullptr;  // a bind
    if (n.num_srcs == 2 && IsUndefined(n.src(1))) return nullptr;     // it writes nothing
    const UOp *target = Source(n, 0, kVoid), *value = target ? Source(n, 1, kVoid) : nullptr;
    if (!value) return nullptr;
    value = Defined(n, PredicateOf(n.src(1)), value, target);
    if (value && ShapeOf(value).empty()) value = EmitBroadcast(n, value, ShapeOf(target));
    return value ? Emit(n, Op::kAssign, target->dtype, {target, value}) : nullptr;
  }

  const UOp* After(const Node& n, DType t) {
    const UOp* x = Source(n, 0, t);
    if (!x || BaseIsVariable(n.src(0))) return x;
    Nodes effects;
    for (size_t i = 1; i < n.num_srcs; ++i) {
      const Node& source = *n.src(i);
      if (source.op == "STORE" && source.num_srcs == 2 && IsUndefined(source.src(1))) continue;
      const UOp* effect = Source(n, i, kVoid);
      if (!effect) return nullptr;
      if (!IsUnwritten(effect)) effects.push_back(effect);
    }
    if (effects.empty()) return x;
    // An assign to the whole buffer is the value after it.
    if (effects.size() == 1 && effects[0]->op == Op::kAssign && effects[0]->src(0) == x) {
      return effects[0];
    }
    // tg's `after` takes a buffer: the `after` of a view becomes that view of the buffer after the
    // effects. A view that was assigned to is one more effect.
    Nodes view, srcs;
    while (IsMovement(x->op) || (x->op == Op::kAssign && IsMovement(x->src(0)->op))) {
      (IsMovement(x->op) ? view : srcs).push_back(x);
      x = x->src(0);
    }
    srcs.insert(srcs.begin(), x);
    srcs.append(effects.begin(), effects.end());
    const UOp* u = Emit(n, Op::kAfter, x->dtype, {srcs.data(), srcs.size()});
    for (; u && !view.empty(); view.pop_back()) {
      Nodes moved(view.back()->srcs().begin(), view.back()->srcs().end());
      moved[0] = u;
      u = Emit(n, view.back()->op, u->dtype, {moved.data(), moved.size()}, view.back()->attr);
    }
    return u;
  }

  static bool BaseIsVariable(const Node* n) {
    return (n->op == "BUFFER" || n->op == "PARAM") && IsVariable(n);
  }

  // REDUCE of newer versions removes its axes, which are the first ones.
  const UOp* Reduce(const Node& n, DType t) {
    if (const auto sum = sums_.find(&n); sum != sums_.end()) return Sum(n, t, sum->second);
    const auto items = n.arg.list();
    const auto op = items.size() == 2 ? ReduceOpOf(items[0].value) : std::nullopt;
    const UOp* x = op ? Source(n, 0, t) : nullptr;
    if (!op || items[1].value.kind != Kind::kInt || n.num_srcs != 1) {
      return Fail(n, "expected one source and arg=(Ops.ADD, number of axes)");
    }
    return Reduced(n, *op, DefinedForReduce(n, *op, x));
  }
  const UOp* Reduced(const Node& n, Op op, const UOp* x) {
    if (!x) return nullptr;
    Shape shape = ShapeOf(x);
    const int64_t count = n.arg.list()[1].value.number;
    if (count < 0 || static_cast<size_t>(count) > shape.size()) return Fail(n, "too many axes");
    std::vector<int64_t> words{static_cast<int64_t>(op), count};
    for (int64_t i = 0; i < count; ++i) words.push_back(i);
    const Attr attr = ctx_.MakeAttr(Op::kReduceAxis, words);
    const UOp* u = Emit(n, Op::kReduceAxis, x->dtype, {x}, attr);
    shape.erase(shape.begin(), shape.begin() + count);
    return EmitReshape(n, u, shape);
  }

  // The sum is the constant times max(0, min(extent, upper...) - max(0, lower...)).
  const UOp* Sum(const Node& n, DType t, const ConstantSum& sum) {
    const Shape shape(sum.shape.begin(), sum.shape.end());
    const auto emit = [&](Op op, const UOp* a, const UOp* b) -> const UOp* {
      return a && b ? Emit(n, op, a->dtype, {a, b}) : nullptr;
    };
    // Affine expressions wrap to the right integer in the result's type.
    const DType type = sum.count && t.is_int() ? t : kIndex;
    const auto value_of = [&](const AffineExpr& e) {
      const UOp* u = nullptr;
      for (size_t k = 0; k < shape.size(); ++k) {
        if (e.factors[k] == 0) continue;
        Shape axis(shape.size(), 1);
        axis[k] = shape[k];
        const UOp* at = b_.Cast(b_.Iota(sum.shape[k]), type);
        at = EmitBroadcast(n, EmitReshape(n, at, axis), shape);
        if (e.factors[k] != 1) at = emit(Op::kMul, at, b_.ConstInt(type, e.factors[k]));
        u = u ? emit(Op::kAdd, u, at) : at;
      }
      const UOp* number = b_.ConstInt(type, e.number);
      return !u ? number : e.number == 0 ? u : emit(Op::kAdd, u, number);
    };
    const UOp* count = nullptr;
    if (sum.count) {
      count = value_of(*sum.count);
    } else {
      const UOp *first = b_.Index(0), *end = b_.Index(sum.extent);
      for (const AffineExpr& e : sum.lower) first = emit(Op::kMax, first, value_of(e));
      for (const AffineExpr& e : sum.upper) end = emit(Op::kMin, end, value_of(e));
      count = emit(Op::kMax, emit(Op::kSub, end, first), b_.Index(0));
    }
    if (count && count->dtype != t) count = Emit(n, Op::kCast, t, {count});
    const UOp* factor = EmitConst(*sum.constant, t);
    if (factor && factor != b_.ConstInt(t, 1)) count = emit(Op::kMul, count, factor);
    return EmitBroadcast(n, count, shape);
  }

  // STACK of newer versions joins its sources along a new first axis. A list of extents has no
  // value: its users read the sources.
  const UOp* Stack(const Node& n, DType t) {
    if (t.is_void() || !demand_.IsData(&n)) return nullptr;
    Nodes parts;
    std::optional<Shape> shape;
    for (size_t i = 0; i < n.num_srcs; ++i) {
      parts.push_back(IsUndefined(n.src(i)) ? Zero(t) : Source(n, i, t));
      if (!parts.back()) return nullptr;
      if (!shape && !IsUndefined(n.src(i))) shape = ShapeOf(parts.back());
    }
    for (size_t i = 0; i < n.num_srcs; ++i) {
      if (IsUndefined(n.src(i))) parts[i] = EmitBroadcast(n, parts[i], *shape);
    }
    return Stacked(n, parts);
  }
  const UOp* Stacked(const Node& n, const Nodes& parts) {
    const UOp* all = nullptr;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i]) return nullptr;
      const DType t = parts[i]->dtype;
      Shape shape = ShapeOf(parts[i]);
      shape.insert(shape.begin(), 1);
      // Padding turns axis 0 into axis i. A padded `true` marks the elements that are not padding,
      // since adding zeros would lose the sign of zeros.
      std::vector<int64_t> words{static_cast<int64_t>(shape.size()), static_cast<int64_t>(i),
                                 static_cast<int64_t>(parts.size() - 1 - i)};
      words.resize(1 + 2 * shape.size());
      const Attr attr = ctx_.MakeAttr(Op::kPad, words);
      const UOp* part = Emit(n, Op::kPad, t, {EmitReshape(n, parts[i], shape)}, attr);
      const UOp* here = Emit(n, Op::kPad, kBool, {EmitBroadcast(n, b_.Bool(true), shape)}, attr);
      all = all ? Emit(n, Op::kWhere, t, {here, part, all}) : part;
      if (!all) return nullptr;
    }
    return all;
  }

  // Values become outputs; assigns already have targets.
  bool Sink(const Node& at, const std::vector<const Node*>& results) {
    for (const auto& [index, named] : directives_.outputs) {
      if (index >= 0 && static_cast<size_t>(index) < results.size()) continue;
      diags_.Error(named.loc, "directive: there is no output " + std::to_string(index));
      return false;
    }
    std::vector<const UOp*> roots;
    std::vector<int64_t> words{0};
    size_t anonymous = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const Node& n = *results[i];
      const UOp* u = ValueOf(&n, demand_.TypeOf(&n).type);
      if (IsUndefined(&n)) return Refuse(n, "an output that is Invalid everywhere");
      if (!u) return Refuse(n, "it has no value that could be an output");
      const auto named = directives_.outputs.find(static_cast<int64_t>(i));
      std::string target;
      if (n.op == "AFTER" && IsUnwritten(u)) continue;  // nothing is written
      if (!IsEffect(u) || named != directives_.outputs.end()) {
        u = Defined(n, PredicateOf(&n), u, Zero(u->dtype));
        if (!u) return false;
        if (u->dtype.is_index()) u = Emit(n, Op::kCast, kI64, {u});
        const NamedBuffer* names = named != directives_.outputs.end() ? &named->second : nullptr;
        target = names ? names->name : "out" + std::to_string(anonymous++);
        Shape shape = ShapeOf(u);
        u = Packed(n, u, &shape);
        if (!u) return false;
        DeclareOutput(n, u->dtype, shape, target);
      }
      roots.push_back(u);
      words.push_back(ctx_.Intern(target));
    }
    bool any = false;
    for (size_t i = 1; i < words.size(); ++i) any |= words[i] != 0;
    if (any) {
      words[0] = static_cast<int64_t>(roots.size());
    } else {
      words.resize(1);
    }
    body_.root = ctx_.Make(Op::kSink, kVoid, roots, ctx_.MakeAttr(Op::kSink, words));
    body_.side.SetLoc(body_.root, at.loc);
    return true;
  }

  // Whether the value is memory that the graph wrote: an assign, or a view of one.
  static bool IsEffect(const UOp* u) {
    while (IsMovement(u->op)) u = u->src(0);
    return u->op == Op::kAssign || u->op == Op::kAfter;
  }

  // Whether the value is a buffer that the graph did not write.
  static bool IsUnwritten(const UOp* u) {
    while (IsMovement(u->op)) u = u->src(0);
    return u->op == Op::kBuffer;
  }

  static bool CanDeclare(const Dim& d) { return !d.is_symbolic() || d.symbol()->op == Op::kVar; }

  // A value of a shape that can be declared. A value with other extents gets the layout of
  // tinygrad's memory: its elements are contiguous, and zeros follow up to the greatest size.
  const UOp* Packed(const Node& n, const UOp* u, Shape* declared) {
    if (std::all_of(declared->begin(), declared->end(), CanDeclare)) return u;
    const Shape shape = std::move(*declared);
    std::vector<int64_t> largest;
    Dim size = 1;
    for (const Dim& d : shape) {
      const std::optional<int64_t> bound = LargestExtent(module_, ctx_, d);
      if (!bound) return Fail(n, "an output with an extent that has no bound");
      largest.push_back(std::max<int64_t>(*bound, 0));
      size = MulDims(ctx_, size, d);
    }
    const std::optional<int64_t> greatest = Product(largest);
    if (!greatest) return Fail(n, "an output of too many elements");
    const UOp* flat = EmitReshape(n, u, {size});
    if (!flat) return nullptr;
    *declared = {*greatest};
    const Dim behind = SubDims(ctx_, *greatest, size);
    if (!behind.is_symbolic()) return flat;  // the size is 0
    return Emit(n, Op::kPad, u->dtype, {flat, behind.symbol()},
                ctx_.MakeAttr(Op::kPad, {1, 0, kSymbolic}));
  }

  void DeclareOutput(const Node& n, DType type, const Shape& shape, const std::string& name) {
    BufferDecl decl;
    decl.name = name;
    decl.dtype = type;
    decl.role = Role::kOutput;
    decl.device = devices_.Of(&n);
    decl.loc = n.loc;
    for (const Dim& d : shape) {
      if (d.is_symbolic()) {
        const auto var = ctx_.String(static_cast<StringId>(d.symbol()->word()));
        decl.shape.push_back({0, std::string(var)});
      } else {
        decl.shape.push_back({d.value(), {}});
      }
    }
    module_.buffers.push_back(std::move(decl));
  }

  const Devices& devices_;
  const Buffers& buffers_;
  const Directives& directives_;
  const std::span<const KernelUse> kernels_;
  size_t num_kernels_ = 0;  // the number met up to here
  llvm::DenseMap<const Node*, ConstantSum> sums_;
  llvm::DenseSet<const Node*> skipped_;  // nodes between the sums and their constants
};

}  // namespace

bool ImportGraph(const Text& text, std::span<const Node* const> roots, const Directives& directives,
                 std::span<const KernelUse> kernels, Module& module, Diagnostics& diags) {
  Demand demand;
  Devices devices;
  Buffers buffers;
  if (!demand.Compute(text, roots, diags) || !devices.Find(demand, kernels, diags) ||
      !buffers.Declare(demand, kernels, devices, directives, module, diags)) {
    return false;
  }
  auto graph = std::make_unique<Graph>();
  graph->name = "main";
  graph->loc = roots[0]->loc;
  const bool good =
      GraphTranslator(demand, devices, buffers, directives, kernels, module, *graph, diags)
          .Run(roots);
  module.graphs.push_back(std::move(graph));
  return good;
}

}  // namespace tg::tinygrad
