#include "frontend/common/graph_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/value.h"
#include "ir/walk.h"

namespace tg::frontend {

GraphBuilder::GraphBuilder(Module& module, Body& body)
    : module_(module),
      body_(body),
      ir_(*body.context),
      shapes_(module, *body.context),
      known_(module, *body.context, shapes_),
      known_with_inputs_(module, *body.context, shapes_, &given_) {}

Value GraphBuilder::Fail(std::string why) {
  if (error_.empty()) error_ = std::move(why);
  return nullptr;
}

std::string ShapeText(const Shape& shape) {
  std::string text = "[";
  for (const Dim& d : shape) {
    if (text.size() > 1) text += ", ";
    text += d.is_symbolic() ? "n" : std::to_string(d.value());
  }
  return text + "]";
}

std::string GraphBuilder::Describe(Value x) {
  return x ? x->dtype.ToString() + ShapeText(ShapeOf(x)) : "nothing";
}

const Shape& GraphBuilder::ShapeOf(Value x) {
  static const Shape& scalar = *new Shape();
  return x ? shapes_.Of(x) : scalar;
}

Dim GraphBuilder::Extent(Value x, int64_t axis) {
  const Shape& shape = ShapeOf(x);
  if (axis >= 0 && axis < static_cast<int64_t>(shape.size())) {
    return shape[static_cast<size_t>(axis)];
  }
  Fail(absl::StrCat("there is no axis ", axis, " of ", Describe(x)));
  return 1;
}

// ---- Limits

namespace {
bool IsWithin(const Dim& d) {
  return d.is_symbolic() ||
         (d.value() >= -GraphBuilder::kMaxElements && d.value() <= GraphBuilder::kMaxElements);
}
}  // namespace

bool GraphBuilder::IsPossible(const Shape& shape) {
  bool is_empty = false;
  for (const Dim& d : shape) {
    if (!d.is_symbolic() && d.value() < 0) {
      Fail("a negative extent: " + ShapeText(shape));
      return false;
    }
    is_empty |= d.Is(0);
  }
  int64_t n = 1;
  for (const Dim& d : shape) {
    // The product of an empty tensor's extents is 0, so each extent is limited instead, which keeps
    // arithmetic on extents within 64 bits.
    if (is_empty) n = 1;
    if (!d.is_symbolic() && (__builtin_mul_overflow(n, d.value(), &n) || n > kMaxElements)) {
      Fail("a tensor of too many elements: " + ShapeText(shape));
      return false;
    }
  }
  return true;
}

bool GraphBuilder::ArePossible(const std::vector<std::pair<Dim, Dim>>& bounds) {
  for (const auto& [a, b] : bounds) {
    if (IsWithin(a) && IsWithin(b)) continue;
    Fail("a bound beyond the greatest number of elements");
    return false;
  }
  return true;
}

Value GraphBuilder::Checked(Value made) {
  std::string why;
  if (!made) return nullptr;
  if (!shapes_.Try(made, &why)) return Fail(std::move(why));
  return IsPossible(shapes_.Of(made)) ? made : nullptr;
}

Dim GraphBuilder::AddDim(const Dim& a, const Dim& b) {
  if (IsWithin(a) && IsWithin(b)) return AddDims(ir_.context(), a, b);
  Fail("an extent beyond the greatest number of elements");
  return 1;
}

Dim GraphBuilder::SubDim(const Dim& a, const Dim& b) {
  if (IsWithin(a) && IsWithin(b)) return SubDims(ir_.context(), a, b);
  Fail("an extent beyond the greatest number of elements");
  return 1;
}

Dim GraphBuilder::MulDim(const Dim& a, const Dim& b) {
  int64_t product = 0;
  const bool are_numbers = !a.is_symbolic() && !b.is_symbolic();
  if (IsWithin(a) && IsWithin(b) &&
      !(are_numbers &&
        (__builtin_mul_overflow(a.value(), b.value(), &product) || !IsWithin(Dim(product))))) {
    return MulDims(ir_.context(), a, b);
  }
  Fail("an extent beyond the greatest number of elements");
  return 1;
}

// ---- Leaves

Value GraphBuilder::Full(const Shape& shape, Value scalar) {
  return scalar ? BroadcastTo(scalar, shape) : nullptr;
}

Value GraphBuilder::Constant(Scalar type, const Ints& shape, Ints bits) {
  const Shape dims(shape.begin(), shape.end());
  if (!bits.empty() &&
      std::all_of(bits.begin(), bits.end(), [&](int64_t b) { return b == bits[0]; })) {
    return Full(dims, ir_.ConstBits(type, bits[0]));
  }
  if (bits.empty()) return Full(dims, ir_.ConstInt(type, 0));
  if (!IsPossible(dims)) return nullptr;
  BufferDecl decl;
  decl.dtype = type;
  decl.role = Role::kParam;
  for (const int64_t d : shape) decl.shape.push_back({.size = d});
  decl.values = std::move(bits);
  return Declare("const", std::move(decl));
}

std::string SymbolFrom(std::string_view name) {
  std::string symbol;
  for (const char c : name) {
    const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '_' || c == '.' || c == '-';
    symbol += fits ? c : '_';
  }
  if (symbol.empty() || symbol[0] < 'A') symbol = "_" + symbol;
  return symbol;
}

Value GraphBuilder::Declare(std::string_view name, BufferDecl decl) {
  Shape sizes;
  for (const DeclDim& d : decl.shape) sizes.push_back(d.var.empty() ? d.size : 1);
  if (!IsPossible(sizes)) return nullptr;
  const std::string symbol = SymbolFrom(name);
  // Different names may give one symbol.
  decl.name = symbol;
  int64_t& next = next_suffix_[symbol];
  while (!symbols_.insert(decl.name).second) decl.name = symbol + "." + std::to_string(++next);
  const DType type = decl.dtype;
  module_.buffers.push_back(std::move(decl));
  return ir_.Buffer(module_.buffers.back().name, type);
}

void GraphBuilder::SetOrigin(uint32_t first, std::string_view origin) {
  body_.SetOrigin(first, body_.context->Intern(origin));
}

void GraphBuilder::CopyNames(Value from, Body& body, const UOp* copy) {
  const auto intern = [&](StringId text) {
    return body.context->Intern(body_.context->String(text));
  };
  if (const StringId name = body_.side.name(from)) body.side.SetName(copy, intern(name));
  if (const StringId origin = body_.side.origin(from)) body.side.SetOrigin(copy, intern(origin));
}

void GraphBuilder::SetName(Value x, std::string_view name) {
  if (!x || x->num_srcs == 0 || body_.side.name(x)) return;
  body_.side.SetName(x, body_.context->Intern(SymbolFrom(name)));
}

Value GraphBuilder::Constant1D(Scalar type, const Ints& numbers) {
  Ints bits;
  for (const int64_t n : numbers) bits.push_back(BitsFromInt(type, n));
  return Constant(type, {static_cast<int64_t>(numbers.size())}, std::move(bits));
}

std::optional<int64_t> GraphBuilder::Greatest(const Dim& d) {
  const std::optional<DeclDim> dim = DeclDim::From(ir_.context(), d);
  const std::optional<DimExpr::Range> bounds = dim ? BoundsOf(module_, *dim) : std::nullopt;
  return bounds ? std::optional(bounds->second) : std::nullopt;
}

std::set<std::string> GraphBuilder::VariablesOf(Value x) {
  std::set<std::string> names = known_.VariablesIn(x);
  for (const Dim& d : ShapeOf(x)) {
    if (!d.is_symbolic()) continue;
    for (const UOp* u : PostOrder(d.symbol())) {
      if (u->op == Op::kVar) {
        names.emplace(ir_.context().String(static_cast<StringId>(u->word())));
      }
    }
  }
  return names;
}

Value GraphBuilder::Arange(Scalar type, const Dim& n) {
  if (!n.is_symbolic()) {
    if (n.value() <= 0) return Full({Dim(0)}, ir_.ConstInt(type, 0));
    return IsPossible({n}) ? Cast(ir_.Iota(n.value()), type) : nullptr;
  }
  const std::optional<int64_t> most = Greatest(n);
  if (!most) return Fail("a range whose length has no known bound");
  if (!IsPossible({Dim(*most)})) return nullptr;
  return Cast(Slice(ir_.Iota(*most), 0, 0, n), type);
}

Value GraphBuilder::DimValue(Scalar type, const Dim& d) {
  return d.is_symbolic() ? Cast(d.symbol(), type) : ConstInt(type, d.value());
}

Value GraphBuilder::DimVector(Scalar type, const Shape& dims) {
  if (IsStatic(dims)) {
    Ints numbers;
    for (const Dim& d : dims) numbers.push_back(d.value());
    return Constant1D(type, numbers);
  }
  std::vector<Value> parts;
  for (const Dim& d : dims) parts.push_back(DimValue(type, d));
  return Stack(parts, 0);
}

// ---- Elementwise

Value GraphBuilder::Unary(Op op, Value x) {
  if (!x) return nullptr;
  if (x->dtype.is_bool() || (GetOpInfo(op).type_rule != TypeRule::kAll)) {
    return Fail(absl::StrCat(std::string(Mnemonic(op)), " of ", Describe(x)));
  }
  return ir_.Alu(op, {x});
}

Value GraphBuilder::Binary(Op op, Value a, Value b) {
  if (!a || !b) return nullptr;
  if (a->dtype != b->dtype) {
    return Fail(absl::StrCat("operands of different types, ", Describe(a), " and ", Describe(b)));
  }
  if (Rank(a) > 0 && Rank(b) > 0) {
    const Value both[] = {a, b};
    const std::optional<Shape> shape = BroadcastShapes(both);
    if (!shape) return nullptr;
    a = BroadcastTo(a, *shape);
    b = BroadcastTo(b, *shape);
    if (!a || !b) return nullptr;
  }
  return Checked(ir_.Alu(op, {a, b}));
}

Value GraphBuilder::Div(Value a, Value b) {
  if (!a) return nullptr;
  return Binary(a->dtype.is_float() ? Op::kDiv : Op::kCDiv, a, b);
}

Value GraphBuilder::Not(Value x) {
  if (!x) return nullptr;
  if (x->dtype.is_bool()) return ir_.Not(x);
  return Binary(Op::kXor, x, ConstInt(x->dtype.scalar(), -1));
}

Value GraphBuilder::Le(Value a, Value b) {
  if (!a || !b) return nullptr;
  // a < b or a == b, which is false where one is NaN; of integers not b < a.
  if (!a->dtype.is_float()) return Not(Lt(b, a));
  return Or(Lt(a, b), Eq(a, b));
}

Value GraphBuilder::Where(Value condition, Value a, Value b) {
  if (!condition || !a || !b) return nullptr;
  if (!condition->dtype.is_bool()) return Fail("a condition that is " + Describe(condition));
  if (a->dtype != b->dtype) {
    return Fail(absl::StrCat("operands of different types, ", Describe(a), " and ", Describe(b)));
  }
  Value all[] = {condition, a, b};
  const std::optional<Shape> shape = BroadcastShapes(all);
  if (!shape) return nullptr;
  for (Value& v : all) {
    if (Rank(v) > 0) v = BroadcastTo(v, *shape);
    if (!v) return nullptr;
  }
  return Checked(ir_.Where(all[0], all[1], all[2]));
}

Value GraphBuilder::Cast(Value x, Scalar type) { return x ? ir_.Cast(x, type) : nullptr; }

Value GraphBuilder::Bitcast(Value x, Scalar type) {
  if (!x) return nullptr;
  if (BitWidth(x->dtype.scalar()) != BitWidth(type)) {
    return Fail("the bits of " + Describe(x) + " as another size");
  }
  return ir_.Bitcast(x, type);
}

std::pair<Value, Value> GraphBuilder::Promote(Value a, Value b) {
  if (!a || !b || a->dtype == b->dtype) return {a, b};
  // The table of scalars is in order of promotion; unsigned and signed of one size take the next.
  Scalar to = std::max(a->dtype.scalar(), b->dtype.scalar());
  const Scalar other = std::min(a->dtype.scalar(), b->dtype.scalar());
  if (IsUnsigned(to) && IsSigned(other) && BitWidth(to) < 64) {
    to = static_cast<Scalar>(static_cast<int>(to) + 1);
  }
  return {Cast(a, to), Cast(b, to)};
}

Value GraphBuilder::Widen(Value x) {
  if (!x) return nullptr;
  return x->dtype.is_float() && BitWidth(x->dtype.scalar()) < 32 ? Cast(x, Scalar::kF32) : x;
}

Dim GraphBuilder::FloorDivDim(const Dim& a, int64_t b) {
  if (b == 1) return a;
  if (b == 0) {
    Fail("an extent divided by 0");
    return 1;
  }
  if (!a.is_symbolic()) {
    return a.value() / b - (a.value() % b != 0 && (a.value() < 0) != (b < 0) ? 1 : 0);
  }
  if (a.symbol()->op == Op::kMul && Dim(a.symbol()->src(1)) == Dim(b)) return a.symbol()->src(0);
  return ir_.Alu(Op::kFloorDiv, {a.symbol(), ir_.Index(b)});
}

Dim GraphBuilder::NumElements(const Shape& shape) {
  Dim n = 1;
  for (const Dim& d : shape) n = MulDim(n, d);
  return n;
}

}  // namespace tg::frontend
