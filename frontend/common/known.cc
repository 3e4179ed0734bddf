#include "frontend/common/known.h"

#include <algorithm>
#include <utility>

#include "frontend/common/graph_builder.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"

namespace tg::frontend {
namespace {

using Kind = KnownElement::Kind;

KnownElement Constant(int64_t bits) { return {Kind::kConstant, bits, nullptr}; }

// The row-major number of an element, counted up axis by axis.
bool Advance(std::vector<int64_t>& at, const std::vector<int64_t>& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++at[i] < shape[i]) return true;
    at[i] = 0;
  }
  return false;
}

std::vector<int64_t> Extents(const Shape& shape) {
  std::vector<int64_t> extents;
  for (const Dim& d : shape) extents.push_back(d.value());
  return extents;
}

}  // namespace

bool KnownValues::IsSmall(const UOp* u) {
  if (u->dtype.is_void() || !u->dtype.is_value() || u->dtype.lanes() != 1) return false;
  const Shape& shape = shapes_.Of(u);
  if (!IsStatic(shape)) return false;
  int64_t n = 1;
  for (const Dim& d : shape) {
    n *= d.value();
    if (n > kMaxElements) return false;
  }
  return n > 0;
}

const std::vector<KnownElement>* KnownValues::Of(const UOp* root) {
  std::vector<const UOp*> stack{root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    if (done_.Contains(u)) {
      stack.pop_back();
      continue;
    }
    if (!IsSmall(u)) {
      done_.Insert(u);
      continue;
    }
    bool waits = false;
    for (const UOp* s : u->srcs()) {
      if (done_.Contains(s)) continue;
      stack.push_back(s);
      waits = true;
    }
    if (waits) continue;
    known_[u] = Evaluate(u);
    done_.Insert(u);
  }
  return known_.Get(root).get();
}

void KnownValues::Set(const UOp* u, std::vector<KnownElement> elements) {
  set_[u] = std::move(elements);
  known_ = {};
  done_ = {};
}

std::set<std::string> KnownValues::VariablesIn(const UOp* root) {
  std::set<std::string> names;
  NodeSet seen;
  std::vector<const UOp*> stack{root};
  while (!stack.empty()) {
    const UOp* u = stack.back();
    stack.pop_back();
    if (seen.Contains(u) || !IsSmall(u)) continue;
    seen.Insert(u);
    if (u->op == Op::kVar) names.emplace(ctx_.String(static_cast<StringId>(u->word())));
    stack.insert(stack.end(), u->srcs().begin(), u->srcs().end());
  }
  return names;
}

std::unique_ptr<KnownValues::Elements> KnownValues::Evaluate(const UOp* u) {
  const auto one = [](KnownElement e) { return std::make_unique<Elements>(Elements{e}); };
  if (const Elements& given = set_.Get(u); !given.empty()) return std::make_unique<Elements>(given);
  switch (u->op) {
    case Op::kConst:
      return one(Constant(u->word()));
    case Op::kVar:
      return one({Kind::kSymbol, 0, u});
    case Op::kIota: {
      auto out = std::make_unique<Elements>();
      for (int64_t i = 0; i < u->word(); ++i) out->push_back(Constant(i));
      return out;
    }
    case Op::kBuffer:
      return Buffer(u);
    case Op::kReduceAxis:
      return Reduce(u);
    default:
      break;
  }
  if (IsMovement(u->op)) return Move(u);
  if (!IsElementwise(u->op)) return nullptr;
  std::vector<const Elements*> srcs;
  bool any = false;
  for (const UOp* s : u->srcs()) {
    srcs.push_back(known_.Get(s).get());
    any |= srcs.back() != nullptr;
  }
  if (!any) return nullptr;
  size_t n = 1;
  for (const Dim& d : shapes_.Of(u)) n *= static_cast<size_t>(d.value());
  auto out = std::make_unique<Elements>();
  std::vector<KnownElement> lane(srcs.size());
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < srcs.size(); ++k) {
      lane[k] = srcs[k] ? (*srcs[k])[srcs[k]->size() == 1 ? 0 : i] : KnownElement{};
    }
    out->push_back(Alu(u, lane));
  }
  return out;
}

std::unique_ptr<KnownValues::Elements> KnownValues::Buffer(const UOp* u) {
  const std::string_view name = ctx_.String(static_cast<StringId>(u->word()));
  const std::vector<int64_t>* values = nullptr;
  if (given_) {
    const auto found = given_->find(name);
    if (found != given_->end()) values = &found->second;
  }
  if (!values) {
    const BufferDecl* decl = module_.FindBuffer(name);
    if (!decl || decl->role != Role::kParam || !decl->values) return nullptr;
    values = &*decl->values;
  }
  auto out = std::make_unique<Elements>();
  for (const int64_t bits : *values) out->push_back(Constant(bits));
  return out;
}

const UOp* KnownValues::Node(const KnownElement& e, Scalar type) {
  if (e.kind == Kind::kSymbol) return e.symbol;
  return ctx_.Make(Op::kConst, kIndex, {},
                   ctx_.MakeAttr(Op::kConst, {type == Scalar::kBool ? e.bits & 1 : e.bits}));
}

KnownElement KnownValues::Alu(const UOp* u, std::vector<KnownElement>& srcs) {
  const Scalar type =
      u->op == Op::kCmpLt || u->op == Op::kCmpNe ? u->src(0)->dtype.scalar() : u->dtype.scalar();
  if (IsIdentity(u->op)) return srcs[0];
  if (u->op == Op::kWhere && srcs[0].kind == Kind::kConstant)
    return srcs[0].bits ? srcs[1] : srcs[2];
  bool constant = true;
  for (const KnownElement& e : srcs) {
    if (e.kind == Kind::kUnknown) return {};
    constant &= e.kind == Kind::kConstant;
  }
  if (u->op == Op::kCast) {
    const Scalar from = u->src(0)->dtype.scalar();
    if (constant) return Constant(CastBits(from, type, srcs[0].bits));
    // An extent is far from the limits of 32 bits.
    const bool whole = type == Scalar::kIndex || (IsInt(type) && BitWidth(type) >= 32);
    return whole ? srcs[0] : KnownElement{};
  }
  if (constant) {
    if (u->op == Op::kBitcast) {
      return Constant(BitcastBits(u->src(0)->dtype.scalar(), type, srcs[0].bits));
    }
    if (!interpret::IsAlu(u->op)) return {};
    std::vector<int64_t> bits;
    for (const KnownElement& e : srcs) bits.push_back(e.bits);
    const auto value = interpret::EvalAlu(u->op, type, bits);
    return value ? Constant(*value) : KnownElement{};
  }
  if (type != Scalar::kIndex && !IsInt(type)) return {};
  // Extents are not negative, so truncating and floor division are one.
  const auto symbol = [&](const Dim& d) -> KnownElement {
    if (d.is_symbolic()) return {Kind::kSymbol, 0, d.symbol()};
    return Constant(BitsFromInt(type, d.value()));
  };
  const auto dim = [&](size_t i) { return Dim(Node(srcs[i], type)); };
  switch (u->op) {
    case Op::kAdd:
      return symbol(AddDims(ctx_, dim(0), dim(1)));
    case Op::kSub:
      return symbol(SubDims(ctx_, dim(0), dim(1)));
    case Op::kMul:
      return symbol(MulDims(ctx_, dim(0), dim(1)));
    case Op::kNeg:
      return symbol(SubDims(ctx_, Dim(0), dim(0)));
    case Op::kFloorDiv:
    case Op::kCDiv:
    case Op::kFloorMod:
    case Op::kCMod: {
      if (srcs[1].kind != Kind::kConstant || srcs[1].bits <= 0) return {};
      const bool divides = u->op == Op::kFloorDiv || u->op == Op::kCDiv;
      if (divides && srcs[1].bits == 1) return srcs[0];
      return {Kind::kSymbol, 0,
              ctx_.Make(divides ? Op::kFloorDiv : Op::kFloorMod, kIndex,
                        {Node(srcs[0], type), Node(srcs[1], type)})};
    }
    case Op::kCmpLt:
      if (srcs[0].kind == Kind::kSymbol && srcs[1].kind == Kind::kConstant) {
        const std::optional<DeclDim> d = DeclDim::From(ctx_, Dim(srcs[0].symbol));
        const auto range = d ? BoundsOf(module_, *d) : std::nullopt;
        if (range && range->second < srcs[1].bits) return Constant(1);
      }
      // An extent is never below 0 (how a negative entry is told from others).
      if (srcs[1].kind == Kind::kConstant && srcs[1].bits <= 0) return Constant(0);
      return {};
    case Op::kCmpNe:
      if (srcs[0].kind == Kind::kSymbol && srcs[1].kind == Kind::kConstant && srcs[1].bits < 0) {
        return Constant(1);
      }
      if (srcs[0].symbol && srcs[0].symbol == srcs[1].symbol) return Constant(0);
      return {};
    default:
      return {};
  }
}

std::unique_ptr<KnownValues::Elements> KnownValues::Move(const UOp* u) {
  const Elements* from = known_.Get(u->src(0)).get();
  if (!from || u->op == Op::kView) return nullptr;
  if (u->op == Op::kReshape) return std::make_unique<Elements>(*from);
  const std::vector<int64_t> in = Extents(shapes_.Of(u->src(0))), out = Extents(shapes_.Of(u));
  if (u->op == Op::kPad || u->op == Op::kShrink) {
    for (const auto& [a, b] : PairsOf(u)) {
      if (a.is_symbolic() || b.is_symbolic()) return nullptr;
    }
  }
  auto result = std::make_unique<Elements>();
  std::vector<int64_t> at(out.size(), 0), source(in.size(), 0);
  const auto pairs =
      u->op == Op::kPad || u->op == Op::kShrink ? PairsOf(u) : std::vector<std::pair<Dim, Dim>>();
  do {
    bool inside = true;
    for (size_t i = 0; i < in.size(); ++i) {
      switch (u->op) {
        case Op::kExpand:
          source[i] = in[i] == 1 ? 0 : at[i];
          break;
        case Op::kPermute:
          source[static_cast<size_t>(u->list()[i])] = at[i];
          break;
        case Op::kFlip: {
          const auto axes = u->list();
          const bool flips =
              std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
          source[i] = flips ? in[i] - 1 - at[i] : at[i];
          break;
        }
        case Op::kPad:
          source[i] = at[i] - pairs[i].first.value();
          inside &= source[i] >= 0 && source[i] < in[i];
          break;
        case Op::kShrink:
          source[i] = at[i] + pairs[i].first.value();
          break;
        default:
          return nullptr;
      }
    }
    if (!inside) {
      result->push_back(Constant(0));
      continue;
    }
    int64_t flat = 0;
    for (size_t i = 0; i < in.size(); ++i) flat = flat * in[i] + source[i];
    result->push_back((*from)[static_cast<size_t>(flat)]);
  } while (Advance(at, out));
  return result;
}

std::unique_ptr<KnownValues::Elements> KnownValues::Reduce(const UOp* u) {
  const Elements* from = known_.Get(u->src(0)).get();
  if (!from) return nullptr;
  const Op op = static_cast<Op>(u->word());
  const std::vector<int64_t> in = Extents(shapes_.Of(u->src(0))), out = Extents(shapes_.Of(u));
  size_t n = 1;
  for (const int64_t d : out) n *= static_cast<size_t>(d);
  if (n == from->size()) return std::make_unique<Elements>(*from);  // of one term each
  const Scalar type = u->dtype.scalar();
  auto result = std::make_unique<Elements>(n, Constant(interpret::ReduceIdentity(op, type)));
  std::vector<int64_t> at(in.size(), 0);
  size_t i = 0;
  do {
    size_t to = 0;
    for (size_t k = 0; k < in.size(); ++k) {
      to = to * static_cast<size_t>(out[k]) + static_cast<size_t>(out[k] == 1 ? 0 : at[k]);
    }
    KnownElement& sum = (*result)[to];
    const KnownElement& next = (*from)[i++];
    if (sum.kind == Kind::kConstant && next.kind == Kind::kConstant) {
      const int64_t both[] = {sum.bits, next.bits};
      const auto value = interpret::EvalAlu(op, type, both);
      sum = value ? Constant(*value) : KnownElement{};
    } else if (sum.kind == Kind::kUnknown || next.kind == Kind::kUnknown ||
               (op != Op::kAdd && op != Op::kMul)) {
      sum = {};
    } else {
      const Dim a = Node(sum, type), b = Node(next, type);
      const Dim d = op == Op::kAdd ? AddDims(ctx_, a, b) : MulDims(ctx_, a, b);
      sum = d.is_symbolic() ? KnownElement{Kind::kSymbol, 0, d.symbol()} : Constant(d.value());
    }
  } while (Advance(at, in));
  return result;
}

// ---- What GraphBuilder tells of it

const std::vector<KnownElement>* GraphBuilder::Known(Value x, bool with_inputs) {
  const auto* known = known_.Of(x);
  if (!with_inputs || given_.empty()) return known;
  const bool whole = known && std::none_of(known->begin(), known->end(), [](const KnownElement& e) {
                       return e.kind == Kind::kUnknown;
                     });
  return whole ? known : known_with_inputs_.Of(x);
}

std::optional<std::vector<Dim>> GraphBuilder::KnownDims(Value x, bool with_inputs) {
  if (!x || !x->dtype.is_int_or_index()) return std::nullopt;
  if (tg::IsStatic(ShapeOf(x)) && tg::NumElements(ShapeOf(x)) == 0) return std::vector<Dim>();
  const auto* known = Known(x, with_inputs);
  if (!known) return std::nullopt;
  std::vector<Dim> dims;
  for (const KnownElement& e : *known) {
    if (e.kind == Kind::kUnknown) return std::nullopt;
    dims.push_back(e.kind == Kind::kSymbol ? Dim(e.symbol) : Dim(e.bits));
  }
  return dims;
}

std::optional<Ints> GraphBuilder::KnownBits(Value x, bool with_inputs) {
  if (!x) return std::nullopt;
  if (tg::IsStatic(ShapeOf(x)) && tg::NumElements(ShapeOf(x)) == 0) return Ints();
  const auto* known = Known(x, with_inputs);
  if (!known) return std::nullopt;
  Ints bits;
  for (const KnownElement& e : *known) {
    if (e.kind != Kind::kConstant) return std::nullopt;
    bits.push_back(e.bits);
  }
  return bits;
}

std::optional<Ints> GraphBuilder::KnownInts(Value x, bool with_inputs) {
  if (!x || x->dtype.is_float()) return std::nullopt;
  return KnownBits(x, with_inputs);
}

std::optional<bool> GraphBuilder::DecideBySize(Value condition) {
  if (!condition) return std::nullopt;
  const std::set<std::string> names = known_.VariablesIn(condition);
  if (names.size() != 1 || CountOf(*names.begin())) return std::nullopt;
  const auto var = std::find_if(module_.vars.begin(), module_.vars.end(),
                                [&](const VarDecl& v) { return v.name == *names.begin(); });
  const UOp* node = ir_.Var(var->name);
  const auto at = [&](int64_t size) -> std::optional<bool> {
    known_.Set(node, {KnownElement{Kind::kConstant, size, nullptr}});
    const auto bits = KnownBits(condition);
    return bits && bits->size() == 1 ? std::optional((*bits)[0] != 0) : std::nullopt;
  };
  const auto given = given_sizes_.find(var->name);
  const int64_t likely =
      given != given_sizes_.end() ? std::clamp(given->second, var->min, var->max) : var->max;
  const std::optional<bool> decided = at(likely);
  if (decided) {
    int64_t least = likely, most = likely;
    while (least > var->min && at(least - 1) == decided) --least;
    while (most < var->max && at(most + 1) == decided) ++most;
    var->min = least;
    var->max = most;
  }
  known_.Set(node, {});
  return decided;
}

std::optional<std::vector<double>> GraphBuilder::KnownNumbers(Value x, bool with_inputs) {
  const auto bits = KnownBits(x, with_inputs);
  if (!bits) return std::nullopt;
  std::vector<double> numbers;
  for (const int64_t b : *bits) numbers.push_back(DoubleFromBits(x->dtype.scalar(), b));
  return numbers;
}

}  // namespace tg::frontend
