#include "passes/half/half.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/walk.h"
#include "passes/analysis/kernel_axes.h"
#include "passes/half/choice.h"

namespace tg::half {
namespace {

constexpr passes::PassOption kOptions[] = {
    {"min", passes::PassOption::Kind::kInt, "1024", "smaller buffers keep their type"},
};

constexpr DType kHalf = Scalar::kF16;

// By slot of a kernel: whether its memory holds halves.
using Slots = std::vector<bool>;

class HalfStorage {
 public:
  HalfStorage(Module& module, passes::PassContext& context) : module_(module), context_(context) {
    for (const auto& k : module.kernels) kernel_names_.insert(k->name);
  }

  void Run() {
    chosen_ = ChooseHalfBuffers(module_, context_.Int("min"));
    if (chosen_.empty()) return;
    Declare();
    FindVariants();
    for (const auto& graph : module_.graphs) Rewrite(*graph);
    DropUnused();
    CopyParams();
  }

 private:
  // Changes the types of the chosen buffers, and declares a state for the copy of each chosen
  // param.
  void Declare() {
    std::vector<BufferDecl> added;
    for (BufferDecl& b : module_.buffers) {
      if (!chosen_.count(b.name)) continue;
      if (b.role != Role::kParam) {
        b.dtype = kHalf;
        ++context_.statistics[b.role == Role::kTemp ? "half.activations" : "half.weights"];
        continue;
      }
      ++context_.statistics["half.weights"];
      BufferDecl copy;
      copy.name = FreeName(b.name + ".half");
      copy.dtype = kHalf;
      copy.shape = b.shape;
      copy.role = Role::kState;
      copy.device = b.device;
      copies_[b.name] = copy.name;
      added.push_back(std::move(copy));
    }
    for (BufferDecl& b : added) module_.buffers.push_back(std::move(b));
  }

  std::string FreeName(const std::string& base) const {
    std::string name = base;
    for (int i = 1; module_.FindBuffer(name) || module_.FindVar(name); ++i) {
      name = base + "." + std::to_string(i);
    }
    return name;
  }

  // Whether a graph finds halves in this buffer, or in its copy. @init reads the params themselves.
  bool IsHalf(const Graph& graph, const std::string& buffer) const {
    return chosen_.count(buffer) && !(graph.name == kInitGraph && copies_.count(buffer));
  }

  Slots SlotsOf(const Graph& graph, const UOp* call) const {
    Slots slots;
    for (const UOp* s : call->srcs()) {
      if (s->op == Op::kVar || s->op == Op::kBind) continue;
      slots.push_back(IsHalf(graph, BufferName(graph.body, s)));
    }
    return slots;
  }

  static bool Any(const Slots& slots) {
    return std::find(slots.begin(), slots.end(), true) != slots.end();
  }

  // A kernel that is always called with buffers of the same types is changed. Otherwise each
  // combination of types with a half gets a changed copy of the kernel.
  void FindVariants() {
    std::map<std::string, std::set<Slots>> wanted;
    for (const auto& graph : module_.graphs) {
      for (const UOp* u : PostOrder(graph->body.root)) {
        if (u->op != Op::kKernel) continue;
        wanted[std::string(graph->body.context->String(static_cast<StringId>(u->word())))].insert(
            SlotsOf(*graph, u));
      }
    }
    for (const auto& [name, variants] : wanted) {
      for (const Slots& slots : variants) {
        if (!Any(slots)) {
          variants_[{name, slots}] = name;
          continue;
        }
        Kernel* kernel = module_.FindKernel(name);
        if (variants.size() > 1) kernel = Copy(*kernel, slots);
        Load(*kernel, slots);
        variants_[{name, slots}] = kernel->name;
      }
    }
  }

  Kernel* Copy(const Kernel& from, const Slots& slots) {
    std::string content = from.name;
    for (const bool half : slots) content += half ? "h" : "f";
    auto kernel = std::make_unique<Kernel>();
    kernel->name = analysis::UniqueKernelName(from.name, content, kernel_names_);
    kernel_names_.insert(kernel->name);
    kernel->stage = from.stage;
    kernel->metadata = from.metadata;
    kernel->axes = from.axes;
    kernel->directives = from.directives;
    kernel->loc = from.loc;
    CloneBody(from.body, kernel->body);
    module_.kernels.push_back(std::move(kernel));
    return module_.kernels.back().get();
  }

  // Makes the kernel load and store halves through the arguments whose slot is true.
  static void Load(Kernel& kernel, const Slots& slots) {
    Body& body = kernel.body;
    Builder b(*body.context);
    NodeMap<const UOp*> map;
    std::vector<const UOp*> srcs;
    for (const UOp* u : PostOrder(body.root)) {
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      const bool is_argument = u->op == Op::kDefineGlobal && slots[static_cast<size_t>(u->word())];
      // Whether the node is, or addresses, memory whose type has changed.
      const bool addresses =
          u->num_srcs > 0 && srcs[0]->dtype.is_pointer() && srcs[0]->dtype != u->src(0)->dtype;
      DType type = u->dtype;
      if (is_argument || (addresses && type.is_pointer())) type = type.WithScalar(Scalar::kF16);
      const UOp* to = nullptr;
      if (addresses && u->op == Op::kLoad) {
        for (size_t i = 1; i < srcs.size(); ++i) {
          if (srcs[i]->dtype == u->dtype) srcs[i] = b.Cast(srcs[i], kHalf);
        }
        to = b.Cast(body.context->Make(u->op, kHalf, srcs, u->attr), u->dtype);
      } else {
        if (addresses && u->op == Op::kStore) srcs[1] = b.Cast(srcs[1], kHalf);
        to = body.context->Make(u->op, type, srcs, u->attr);
      }
      map[u] = to;
      body.CarryOver(u, to);
    }
    body.root = map.Get(body.root);
    Compact(body);
  }

  void Rewrite(Graph& graph) {
    Body& body = graph.body;
    Builder b(*body.context);
    NodeMap<const UOp*> map;
    std::vector<const UOp*> srcs;
    for (const UOp* u : PostOrder(body.root)) {
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map.Get(s));
      const UOp* to = nullptr;
      if (u->op == Op::kBuffer && IsHalf(graph, BufferName(body, u))) {
        const std::string name = BufferName(body, u);
        const auto copy = copies_.find(name);
        to = b.Buffer(copy == copies_.end() ? name : copy->second, kHalf);
      } else if (u->op == Op::kKernel) {
        const std::string name(body.context->String(static_cast<StringId>(u->word())));
        const std::string& variant = variants_.at({name, SlotsOf(graph, u)});
        to = body.context->Make(u->op, u->dtype, srcs, {uint64_t{body.context->Intern(variant)}});
      } else {
        // Versions and views have the type of the buffer.
        const bool follows = !srcs.empty() && u->dtype == DType(Scalar::kF32) &&
                             srcs[0]->dtype == kHalf && u->src(0)->dtype == u->dtype;
        to = body.context->Make(u->op, follows ? kHalf : u->dtype, srcs, u->attr);
      }
      map[u] = to;
      body.CarryOver(u, to);
    }
    body.root = map.Get(body.root);
    Compact(body);
  }

  // Removes kernels of which only variants are called.
  void DropUnused() {
    std::set<std::string> replaced, called;
    for (const auto& [key, name] : variants_) {
      replaced.insert(key.first);
      called.insert(name);
    }
    std::erase_if(module_.kernels, [&](const std::unique_ptr<Kernel>& k) {
      return replaced.count(k->name) && !called.count(k->name);
    });
  }

  // Makes @init fill the copies of params.
  void CopyParams() {
    if (copies_.empty()) return;
    Graph* init = module_.FindGraph(kInitGraph);
    if (!init) {
      init = module_.graphs.emplace_back(std::make_unique<Graph>()).get();
      init->name = std::string(kInitGraph);
      init->body.root = Builder(*init->body.context).Sink({});
    }
    Builder b(*init->body.context);
    const UOp* sink = init->body.root;
    std::vector<const UOp*> roots(sink->srcs().begin(), sink->srcs().end());
    for (const auto& [param, copy] : copies_) {
      int64_t n = 1;
      for (const DeclDim& d : module_.FindBuffer(param)->shape) n *= d.size;
      const UOp* to = b.Buffer(copy, kHalf);
      const UOp* from = b.Buffer(param, Scalar::kF32);
      const UOp* run = b.context().Make(Op::kKernel, kVoid, {to, from},
                                        {uint64_t{b.context().Intern(CopyKernel(n))}});
      roots.push_back(b.context().Make(Op::kAssign, kHalf, {to, run}));
    }
    init->body.root = b.Sink(roots);
    Compact(init->body);
  }

  // The name of a kernel that rounds this many numbers to halves.
  std::string CopyKernel(int64_t n) {
    std::string& name = copy_kernels_[n];
    if (!name.empty()) return name;
    auto kernel = std::make_unique<Kernel>();
    kernel->metadata = {"cast"};
    Builder b(*kernel->body.context);
    const UOp* to = b.DefineGlobal(0, DType::Pointer(Scalar::kF16, n, AddrSpace::kGlobal));
    const UOp* from = b.DefineGlobal(1, DType::Pointer(Scalar::kF32, n, AddrSpace::kGlobal));
    const UOp* stored = b.Store(to, b.Cast(b.Load(from), kHalf));
    kernel->body.root = b.Sink(UOpSpan(&stored, 1));
    ShapeMap shapes(module_, *kernel->body.context);
    kernel->axes =
        analysis::ToAxes(analysis::BaseAxes(module_, *kernel, shapes, kernel->body.Order()));
    name = analysis::UniqueKernelName(analysis::KernelName(kernel->axes), "half", kernel_names_);
    kernel->name = name;
    kernel_names_.insert(name);
    module_.kernels.push_back(std::move(kernel));
    return name;
  }

  Module& module_;
  passes::PassContext& context_;
  std::set<std::string, std::less<>> chosen_;
  std::map<std::string, std::string> copies_;  // by param: the state that holds its copy
  std::map<std::pair<std::string, Slots>, std::string> variants_;
  std::map<int64_t, std::string> copy_kernels_;  // by number of elements: the kernel's name
  std::set<std::string> kernel_names_;
};

absl::Status Run(Module& module, passes::PassContext& context) {
  HalfStorage(module, context).Run();
  return absl::OkStatus();
}

}  // namespace

constinit const passes::Pass kHalfPass = {
    "half", "stores weights and activations as f16; kernels compute in f32", kOptions, Run};

}  // namespace tg::half
