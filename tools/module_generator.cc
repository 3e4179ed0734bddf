#include "tools/module_generator.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace tg::tools {
namespace {

constexpr int64_t kSide = 64;
constexpr int kInputs = 4;

class Generator {
 public:
  Generator(const GeneratorOptions& options, Module& module, Body& body)
      : options_(options),
        module_(module),
        body_(body),
        builder_(*body.context),
        random_(options.seed) {}

  void Run() {
    Context& ctx = *body_.context;
    ctx.Reserve(options_.nodes + 64);
    for (int i = 0; i < kInputs; ++i) {
      const std::string name = "x" + std::to_string(i);
      module_.buffers.push_back(
          {.name = name, .dtype = kF32, .shape = {{kSide, ""}, {kSide, ""}}, .role = Role::kInput});
      Add(builder_.Buffer(name, kF32));
    }
    // The sink adds one node.
    while (ctx.num_nodes() + 1 < options_.nodes) {
      Add(options_.kind == ModuleKind::kChain ? Link(values_.back()) : Step());
    }
    std::vector<const UOp*> roots;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!used_[i]) roots.push_back(values_[i]);
    }
    if (options_.names) {
      for (uint32_t i = 0; i < ctx.num_nodes(); i += 4) {
        body_.side.SetName(ctx.node(i), ctx.Intern("value." + std::to_string(i)));
      }
    }
    body_.root = builder_.Sink(roots);
  }

 private:
  size_t Below(size_t n) { return random_() % n; }

  // Requires a value `u` of shape [kSide, kSide].
  void Add(const UOp* u) {
    values_.push_back(u);
    used_.push_back(false);
  }
  // Picks a value: usually a recent one, which adds depth, otherwise any, which adds width.
  const UOp* Pick() {
    const size_t n = values_.size();
    const size_t i = Below(4) ? n - 1 - Below(std::min<size_t>(n, 16)) : Below(n);
    used_[i] = true;
    return values_[i];
  }
  const UOp* PickAs(DType t) { return builder_.Cast(Pick(), t); }

  const UOp* Link(const UOp* last) {
    used_.back() = true;
    switch (Below(3)) {
      case 0:
        return builder_.Alu(Op::kNeg, {last});
      case 1:
        return builder_.Add(last, builder_.Const(kF32, 0.5));
      default:
        return builder_.Mul(last, last);
    }
  }

  const UOp* Step() {
    static constexpr std::array kFloatOps = {Op::kAdd, Op::kSub, Op::kMul, Op::kMax, Op::kDiv};
    static constexpr std::array kIntOps = {Op::kAdd, Op::kXor, Op::kFloorDiv, Op::kMin, Op::kMul};
    static constexpr std::array kUnary = {Op::kNeg, Op::kExp2, Op::kSqrt, Op::kSin, Op::kRecip};
    static constexpr std::array<int64_t, 2> kSwap = {1, 0};
    const std::array<int64_t, 1> axis = {static_cast<int64_t>(Below(2))};
    const UOp* x = Pick();
    const bool is_float = x->dtype == kF32;
    switch (Below(12)) {
      case 0:
        return builder_.Permute(x, kSwap);
      case 1:
        return builder_.Flip(x, axis);
      case 2: {
        const Shape flat = {kSide * kSide};
        return builder_.Reshape(builder_.Reshape(x, flat), {kSide, kSide});
      }
      case 3: {
        const UOp* reduced = builder_.ReduceAxis(x, Below(2) ? Op::kAdd : Op::kMax, axis);
        return builder_.Expand(reduced, {kSide, kSide});
      }
      case 4: {
        const int64_t n = 1 + static_cast<int64_t>(Below(8));
        const UOp* padded = builder_.Pad(x, {{n, 0}, {0, n}});
        return builder_.Shrink(padded, {{0, kSide}, {n, kSide + n}});
      }
      case 5:
        return builder_.Cast(x, is_float ? kI32 : kF32);
      case 6:
        return builder_.Where(builder_.Lt(x, PickAs(x->dtype)), x, PickAs(x->dtype));
      case 7:
        return builder_.Mul(x, builder_.ConstInt(x->dtype, static_cast<int64_t>(Below(1000))));
      case 8:
      case 9:
        if (is_float) return builder_.Alu(kUnary[Below(kUnary.size())], {x});
        [[fallthrough]];
      default:
        return builder_.Alu(is_float ? kFloatOps[Below(5)] : kIntOps[Below(5)],
                            {x, PickAs(x->dtype)});
    }
  }

  const GeneratorOptions& options_;
  Module& module_;
  Body& body_;
  Builder builder_;
  std::mt19937_64 random_;
  std::vector<const UOp*> values_;
  std::vector<bool> used_;
};

// Address arithmetic: a pool of non-negative values, each with its upper bound.
class IndexGenerator {
 public:
  IndexGenerator(const GeneratorOptions& options, Body& body)
      : options_(options), body_(body), builder_(*body.context), random_(options.seed) {}

  void Run() {
    Context& ctx = *body_.context;
    ctx.Reserve(options_.nodes + 64);
    for (int i = 0; i < 4; ++i) {
      const auto name = static_cast<SpecialName>(static_cast<int>(SpecialName::kGrid0) + i % 3);
      Add(i < 3 ? builder_.Special(name, builder_.Index(kGrid))
                : builder_.Special(SpecialName::kLocal0, builder_.Index(kGrid)),
          kGrid - 1);
    }
    const UOp* out =
        builder_.DefineGlobal(0, DType::Pointer(Scalar::kF32, kElements, AddrSpace::kGlobal));
    const UOp* value = builder_.Const(kF32, 1.0);
    std::vector<const UOp*> stores;
    // An unused value becomes an address: remainder, index, store.
    while (ctx.num_nodes() + unused_ * 3 + 1 < options_.nodes) Step();
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].used) continue;
      const UOp* at = builder_.Alu(Op::kFloorMod, {values_[i].node, builder_.Index(kElements)});
      stores.push_back(builder_.Store(builder_.IndexPtr(out, at), value));
    }
    body_.root = builder_.Sink(stores);
  }

 private:
  static constexpr int64_t kGrid = 1024, kElements = int64_t{1} << 24, kGreatest = int64_t{1} << 40;
  static constexpr int kTerms = 8;  // of a sum, similar to a padded 2-d window
  struct Value {
    const UOp* node;
    int64_t max;
    int terms = 1;
    bool used = false;
  };
  size_t Below(size_t n) { return random_() % n; }

  void Add(const UOp* u, int64_t max, int terms = 1) {
    values_.push_back({u, max, terms});
    ++unused_;
  }
  const Value& Pick() {
    const size_t n = values_.size();
    Value& v = values_[Below(4) ? n - 1 - Below(std::min<size_t>(n, 16)) : Below(n)];
    unused_ -= v.used ? 0 : 1;
    v.used = true;
    return v;
  }

  void Step() {
    const Value x = Pick();
    const auto c = static_cast<int64_t>(2 + Below(62));
    const auto number = [&] { return builder_.Index(c); };
    switch (Below(6)) {
      case 0:
        return Add(builder_.Add(x.node, number()), x.max + c, x.terms);
      case 1:
        return Add(builder_.Alu(Op::kFloorDiv, {x.node, number()}), x.max / c);
      case 2:
        return Add(builder_.Alu(Op::kFloorMod, {x.node, number()}), std::min(x.max, c - 1));
      case 3:
        if (x.max < kGreatest / c) return Add(builder_.Mul(x.node, number()), x.max * c, x.terms);
        return Add(builder_.Alu(Op::kFloorMod, {x.node, builder_.Index(kElements)}), kElements - 1);
      default: {
        const Value y = Pick();
        const int terms = x.terms + y.terms;
        if (terms <= kTerms) return Add(builder_.Add(x.node, y.node), x.max + y.max, terms);
        const UOp* one = builder_.Alu(Op::kFloorMod, {x.node, number()});
        const UOp* other = builder_.Alu(Op::kFloorDiv, {y.node, number()});
        return Add(builder_.Add(one, other), std::min(x.max, c - 1) + y.max / c, 2);
      }
    }
  }

  const GeneratorOptions& options_;
  Body& body_;
  Builder builder_;
  std::mt19937_64 random_;
  std::vector<Value> values_;
  size_t unused_ = 0;
};

}  // namespace

std::unique_ptr<Module> GenerateModule(const GeneratorOptions& options) {
  auto module = std::make_unique<Module>();
  module->name = "generated";
  if (options.kind == ModuleKind::kIndex) {
    module->buffers.push_back(
        {.name = "y", .dtype = kF32, .shape = {{int64_t{1} << 24, ""}}, .role = Role::kOutput});
    auto& kernel = module->kernels.emplace_back(std::make_unique<Kernel>());
    kernel->name = "index";
    kernel->stage = Stage::kLowered;
    IndexGenerator(options, kernel->body).Run();
    return module;
  }
  auto& graph = module->graphs.emplace_back(std::make_unique<Graph>());
  graph->name = "main";
  Generator(options, *module, graph->body).Run();
  return module;
}

}  // namespace tg::tools
