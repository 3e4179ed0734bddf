#include "ir/text/random_module.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ir/value.h"
#include "ir/walk.h"

namespace tg {
namespace {

constexpr std::string_view kNames[] = {"x", "y", "x.1", "_", "acc0", "i.0.1", "x"};
// Names that are invalid in a text, but that passes and importers may make.
constexpr std::string_view kBadNames[] = {"1x", "a b", "conv/weight:0", "\xc3\xa4", "%"};
constexpr std::string_view kStrings[] = {"", "gpu", "a \"b\" \\ c", "line\nend\t\r",
                                         "\x01\x7f\xc3\xa4"};
constexpr std::string_view kSymbols[] = {"a", "b.c", "d-e$f"};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  size_t Below(size_t n) { return random_() % n; }
  bool Chance(size_t n) { return Below(n) == 0; }
  template <typename List>
  auto Pick(const List& list) {
    return list[Below(std::size(list))];
  }

  std::unique_ptr<Module> Run() {
    auto module = std::make_unique<Module>();
    module->name = "random";
    if (Chance(2)) module->target = Pick(kStrings);
    if (Chance(2)) module->flags = {ModuleFlag::kNoContract, ModuleFlag::kNoNan};
    for (std::string_view name : kSymbols) {
      // Buffers and variables share one namespace.
      module->vars.push_back({.name = std::string(name) + ".v", .min = -5, .max = Int()});
      module->buffers.push_back(RandomBuffer(name));
    }
    for (std::string_view name : kSymbols) {
      auto& graph = module->graphs.emplace_back(std::make_unique<Graph>());
      graph->name = "g." + std::string(name);
      FillBody(graph->body, Stage::kTensor);
    }
    for (std::string_view name : kSymbols) {
      auto& kernel = module->kernels.emplace_back(std::make_unique<Kernel>());
      kernel->name = name;
      FillKernel(*kernel);
    }
    return module;
  }

 private:
  int64_t Int() {
    static constexpr int64_t kInts[] = {0, 1, -1, 7, 4096, INT64_MAX, INT64_MIN + 1};
    return Chance(3) ? Pick(kInts) : static_cast<int64_t>(Below(100));
  }
  int64_t Size() { return static_cast<int64_t>(Below(1000)); }

  Scalar RandomScalar() {
    return static_cast<Scalar>(1 + Below(static_cast<size_t>(kNumScalars) - 1));
  }
  DType RandomType() {
    const int lanes = Chance(3) ? 1 + static_cast<int>(Below(70)) : 1;
    const Scalar s = RandomScalar();
    switch (Below(6)) {
      case 0:
        return DType::Pointer(s, Chance(4) ? DType::kUnknownSize : Size(),
                              static_cast<AddrSpace>(Below(4)), lanes);
      case 1:
        return DType::Image(Chance(2) ? Scalar::kF16 : Scalar::kF32, static_cast<int32_t>(Size()),
                            static_cast<int32_t>(Size()), lanes);
      default:
        return DType(s, lanes);
    }
  }
  // Any value of the type, including NaNs with any payload.
  int64_t Bits(Scalar s) {
    if (s == Scalar::kBool) return static_cast<int64_t>(Below(2));
    const uint64_t any = random_() ^ static_cast<uint64_t>(random_()) << 32;
    if (!IsFloat(s)) return WrapInt(s, static_cast<int64_t>(any));
    if (Chance(2)) return BitsFromDouble(s, static_cast<double>(Below(1000)) / 8 - 20);
    return static_cast<int64_t>(BitWidth(s) == 64 ? any : any & ((1ull << BitWidth(s)) - 1));
  }

  // Of two or more terms.
  DimExpr RandomExpr() {
    std::vector<DimTerm> terms = {{.op = Op::kVar, .value = 0, .var = "a.v"}};
    for (size_t i = Below(4) + 1; i > 0; --i) {
      terms.push_back({.op = Op::kConst, .value = Chance(2) ? Size() : -Size(), .var = {}});
      terms.push_back({.op = Chance(2) ? Op::kFloorDiv : Op::kMax, .value = 0, .var = {}});
    }
    return DimExpr(std::move(terms));
  }

  BufferDecl RandomBuffer(std::string_view name) {
    BufferDecl b;
    b.name = name;
    b.dtype = Chance(4) ? DType::Image(Scalar::kF16, 4, 8) : DType(RandomScalar());
    if (b.dtype.is_index()) b.dtype = kI64;
    for (size_t i = Below(4); i > 0; --i) {
      b.shape.push_back(Chance(3) ? DeclDim{0, "a.v"} : DeclDim{Size(), ""});
      if (Chance(4)) b.shape.back() = {.expr = RandomExpr()};
    }
    b.role = static_cast<Role>(Below(5));
    if (Chance(3)) b.device = Pick(kStrings);
    if (Chance(3)) {
      b.values.emplace();
      for (size_t i = Below(5); i > 0; --i) b.values->push_back(Bits(b.dtype.scalar()));
    } else if (Chance(2)) {
      b.file = Pick(kStrings);
      if (Chance(2)) {
        b.tensor = Pick(kStrings);
      } else {
        b.offset = Size();
        if (Chance(2)) b.run_bytes = Size();
        if (Chance(2)) b.stride_bytes = Size();
      }
    }
    return b;
  }

  void FillKernel(Kernel& kernel) {
    kernel.stage = static_cast<Stage>(1 + Below(kNumStages - 1));
    for (size_t i = Below(3); i > 0; --i) kernel.metadata.emplace_back(Pick(kStrings));
    for (size_t i = Below(3); i > 0; --i) {
      kernel.axes.push_back(
          {"axis." + std::to_string(i), Int(), static_cast<AxisKind>(Below(8)), Chance(2)});
    }
    for (size_t i = Below(3); i > 0; --i) {
      Directive& directive = kernel.directives.emplace_back();
      directive.name = Pick(kNames);
      for (size_t k = Below(4); k > 0; --k) {
        directive.args.push_back(Chance(2) ? DirectiveArg{"m.0", 0} : DirectiveArg{"", Int()});
      }
    }
    FillBody(kernel.body, kernel.stage);
  }

  const UOp* RandomSource(const std::vector<const UOp*>& nodes) {
    return nodes[nodes.size() - 1 - Below(std::min<size_t>(nodes.size(), 12))];
  }

  // A list of extents: numbers, and symbolic ones, which are further sources of the node.
  void Dims(size_t n, const std::vector<const UOp*>& nodes, std::vector<int64_t>& words,
            std::vector<const UOp*>& srcs) {
    for (size_t i = 0; i < n; ++i) {
      const bool symbolic = !nodes.empty() && Chance(4);
      words.push_back(symbolic ? kSymbolic : Int());
      if (symbolic) srcs.push_back(RandomSource(nodes));
    }
  }

  void Field(Context& ctx, Op op, const AttrField& field, const DType& type,
             const std::vector<const UOp*>& nodes, std::vector<int64_t>& words,
             std::vector<const UOp*>& srcs) {
    const size_t n = Below(4);
    switch (field.kind) {
      case FieldKind::kInt:
        words.push_back(Int());
        break;
      case FieldKind::kBool:
        words.push_back(Chance(2));
        break;
      case FieldKind::kStr:
        words.push_back(ctx.Intern(Pick(kStrings)));
        break;
      case FieldKind::kOp:
        words.push_back(static_cast<int64_t>(Below(kNumOps)));
        break;
      case FieldKind::kSym: {
        std::string name(Pick(kSymbols));
        if (op == Op::kVar) name += ".v";
        if (op == Op::kLoop || op == Op::kRepeat) name = "g." + name;
        words.push_back(ctx.Intern(name));
        break;
      }
      case FieldKind::kValue:
        words.push_back(Bits(type.scalar()));
        break;
      case FieldKind::kSpecial:
        words.push_back(static_cast<int64_t>(Below(6)));
        break;
      case FieldKind::kValues:
      case FieldKind::kInts:
      case FieldKind::kBools:
        words.push_back(static_cast<int64_t>(n));
        for (size_t i = 0; i < n; ++i) {
          words.push_back(field.kind == FieldKind::kValues  ? Bits(type.scalar())
                          : field.kind == FieldKind::kBools ? Chance(2)
                                                            : Int());
        }
        break;
      case FieldKind::kDims:
        words.push_back(static_cast<int64_t>(n));
        Dims(n, nodes, words, srcs);
        break;
      case FieldKind::kPairs:
        words.push_back(static_cast<int64_t>(n));
        Dims(2 * n, nodes, words, srcs);
        break;
      case FieldKind::kViews: {
        const size_t start = words.size();
        words.push_back(0);
        for (size_t views = 1 + Below(3); views > 0; --views) {
          const size_t rank = Below(4);
          words.push_back(static_cast<int64_t>(rank));
          Dims(2 * rank + 1, nodes, words, srcs);
          words.push_back(Chance(2));
          if (words.back()) Dims(2 * rank, nodes, words, srcs);
        }
        words[start] = static_cast<int64_t>(words.size() - start - 1);
        break;
      }
      case FieldKind::kTargets:
        words.push_back(0);
        break;
    }
  }

  void FillBody(Body& body, Stage stage) {
    Context& ctx = *body.context;
    std::vector<const UOp*> nodes;
    std::vector<const UOp*> listed;
    NodeSet in_list;
    for (int i = 0; i < 60; ++i) {
      const Op op = static_cast<Op>(Below(kNumOps));
      const OpInfo& info = GetOpInfo(op);
      if (op == Op::kSink || (info.max_sources > 0 && nodes.empty())) continue;
      DType type = RandomType();
      if (info.type_rule == TypeRule::kVoid && !Chance(8)) type = kVoid;
      if ((op == Op::kConst || op == Op::kVConst) && !type.is_value()) type = kI32;
      const int most = std::min(info.max_sources, info.min_sources + 3);
      std::vector<const UOp*> srcs;
      for (int k = info.min_sources +
                   static_cast<int>(Below(static_cast<size_t>(most - info.min_sources) + 1));
           k > 0; --k) {
        srcs.push_back(RandomSource(nodes));
      }
      std::vector<int64_t> words;
      for (int f = 0; f < info.num_fields; ++f) {
        Field(ctx, op, info.fields[f], type, nodes, words, srcs);
      }
      const UOp* u = ctx.Make(op, type, srcs, ctx.MakeAttr(op, words));
      nodes.push_back(u);
      if (Chance(3)) {
        body.side.SetName(u, ctx.Intern(Chance(6) ? Pick(kBadNames) : Pick(kNames)));
      }
      if (in_list.Insert(u)) listed.push_back(u);
    }
    std::vector<const UOp*> roots;
    for (size_t i = nodes.empty() ? 0 : Below(6); i > 0; --i) roots.push_back(RandomSource(nodes));
    std::vector<int64_t> words{0};
    if (Chance(2)) {
      bool any = false;
      for (size_t i = 0; i < roots.size(); ++i) {
        words.push_back(Chance(2) ? ctx.Intern(Pick(kSymbols)) : 0);
        any |= words.back() != 0;
      }
      words[0] = static_cast<int64_t>(roots.size());
      if (!any) words = {0};
    }
    body.root = ctx.Make(Op::kSink, kVoid, roots, ctx.MakeAttr(Op::kSink, words));
    if (stage != Stage::kLinear) return;
    body.linear = std::move(listed);
    body.linear.push_back(body.root);
  }

  std::mt19937 random_;
};

}  // namespace

std::unique_ptr<Module> RandomModule(uint32_t seed) { return Generator(seed).Run(); }

}  // namespace tg
