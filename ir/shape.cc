#include "ir/shape.h"

#include <algorithm>

#include "base/check.h"
#include "ir/attr.h"
#include "ir/op_groups.h"
#include "llvm/ADT/SmallVector.h"

namespace tg {
namespace {

std::string Text(const Shape& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += shape[i].is_symbolic() ? std::string("<symbolic>") : std::to_string(shape[i].value());
  }
  return out + "]";
}

std::nullopt_t Fail(std::string* error, std::string message) {
  if (error) *error = std::move(message);
  return std::nullopt;
}

// The number of symbolic entries of an attribute.
size_t CountSymbolic(const UOp* u) {
  if (!HasAttr(u->op) || HasInlineAttr(u->op)) return 0;
  const OpInfo& info = GetOpInfo(u->op);
  size_t n = 0;
  ForEachField(info, u->words(), [&](const AttrField& field, auto words) {
    const bool dims = field.kind == FieldKind::kDims || field.kind == FieldKind::kPairs ||
                      field.kind == FieldKind::kViews;
    if (dims) n += static_cast<size_t>(std::count(words.begin(), words.end(), kSymbolic));
  });
  return n;
}

const UOp* Binary(Context& ctx, Op op, const Dim& a, const Dim& b) {
  return ctx.Make(op, kIndex, {DimNode(ctx, a), DimNode(ctx, b)});
}

// Compares the numbers of elements. Extents that occur in both shapes, also as equal symbolic
// nodes, cancel; the products of the others are compared.
bool SameSize(const Shape& a, const Shape& b) {
  int64_t na = 1, nb = 1;
  std::vector<const UOp*> sa, sb;
  for (const Dim& d : a) d.is_symbolic() ? sa.push_back(d.symbol()) : void(na *= d.value());
  for (const Dim& d : b) d.is_symbolic() ? sb.push_back(d.symbol()) : void(nb *= d.value());
  if (sa.empty() && sb.empty()) return na == nb;
  // If both shapes have the same symbolic nodes, these cancel. Otherwise the sizes may be equal in
  // a run, which is not decided here.
  if (sa.size() == sb.size()) {
    auto by_id = [](const UOp* x, const UOp* y) { return x->id < y->id; };
    std::sort(sa.begin(), sa.end(), by_id);
    std::sort(sb.begin(), sb.end(), by_id);
    if (sa == sb) return na == nb;
  }
  return true;
}

// Whether the extents may be equal. Whether two different symbolic expressions are equal is known
// only in a run.
bool MayEqual(const Dim& a, const Dim& b) { return a == b || a.is_symbolic() || b.is_symbolic(); }

bool MayEqual(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Dim& x, const Dim& y) { return MayEqual(x, y); });
}

std::optional<Shape> Elementwise(const UOp* u, const std::vector<const Shape*>& shapes,
                                 std::string* error) {
  const Shape* result = nullptr;
  for (const Shape* s : shapes) {
    if (s->empty()) continue;
    if (result && !MayEqual(*result, *s)) {
      return Fail(error, std::string(Mnemonic(u->op)) + ": sources have different shapes " +
                             Text(*result) + " and " + Text(*s));
    }
    result = s;
  }
  return result ? *result : Shape{};
}

// Whether a reshape, expand or broadcast of `from` may have the shape that it names.
bool CheckDims(Op op, const Shape& from, const Shape& to, std::string* error) {
  const auto fail = [&](std::string message) { return Fail(error, std::move(message)), false; };
  if (op == Op::kReshape) {
    for (const Dim& d : to) {
      if (!d.is_symbolic() && d.value() < 0) return fail("reshape: a negative extent");
    }
    if (SameSize(from, to)) return true;
    return fail("reshape: " + Text(from) + " and " + Text(to) +
                " have different numbers of elements");
  }
  if (op == Op::kBroadcast) {
    if (from.size() > to.size()) {
      return fail("broadcast: " + Text(from) + " has more axes than " + Text(to));
    }
    const size_t front = to.size() - from.size();
    for (size_t i = 0; i < from.size(); ++i) {
      if (MayEqual(from[i], to[front + i]) || from[i].Is(1)) continue;
      return fail("broadcast: axis " + std::to_string(i) + " of " + Text(from) +
                  " is not 1 and cannot become axis " + std::to_string(front + i) + " of " +
                  Text(to));
    }
    return true;
  }
  if (from.size() != to.size()) {
    return fail("expand: cannot expand rank " + std::to_string(from.size()) + " shape " +
                Text(from) + " to " + Text(to) + " (reshape first, or use broadcast)");
  }
  for (size_t i = 0; i < from.size(); ++i) {
    if (!MayEqual(from[i], to[i]) && !from[i].Is(1)) {
      return fail("expand: axis " + std::to_string(i) + " of " + Text(from) +
                  " is not 1 and cannot become that of " + Text(to));
    }
  }
  return true;
}

}  // namespace

size_t NumOperands(const UOp* u) { return u->num_srcs - CountSymbolic(u); }

Shape DimsOf(const UOp* u) {
  size_t next = u->num_srcs > 1 ? NumOperands(u) : 1;
  Shape out;
  out.reserve(u->list().size());
  for (int64_t w : u->list()) out.push_back(w == kSymbolic ? Dim(u->src(next++)) : Dim(w));
  return out;
}

std::vector<std::pair<Dim, Dim>> PairsOf(const UOp* u) {
  size_t next = u->num_srcs > 1 ? NumOperands(u) : 1;
  const auto take = [&](int64_t w) { return w == kSymbolic ? Dim(u->src(next++)) : Dim(w); };
  std::vector<std::pair<Dim, Dim>> out;
  const auto words = u->words();
  out.reserve(words.size() / 2);
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    const Dim a = take(words[i]);
    out.emplace_back(a, take(words[i + 1]));
  }
  return out;
}

const UOp* DimNode(Context& ctx, const Dim& d) {
  if (d.is_symbolic()) return d.symbol();
  return ctx.Make(Op::kConst, kIndex, {}, ctx.MakeAttr(Op::kConst, {d.value()}));
}

// `d` as a node (null for a number) plus a number.
static std::pair<const UOp*, int64_t> SplitOffset(const Dim& d) {
  if (!d.is_symbolic()) return {nullptr, d.value()};
  const UOp* u = d.symbol();
  if (u->op == Op::kAdd && IsConst(u->src(1))) return {u->src(0), u->src(1)->word()};
  if (u->op == Op::kAdd && IsConst(u->src(0))) return {u->src(1), u->src(0)->word()};
  return {u, 0};
}

Dim AddDims(Context& ctx, const Dim& a, const Dim& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) return a.value() + b.value();
  if (a.Is(0)) return b;
  if (b.Is(0)) return a;
  // a + (b - a) is b: a pad up to an extent.
  if (b.is_symbolic() && b.symbol()->op == Op::kSub && Dim(b.symbol()->src(1)) == a) {
    return b.symbol()->src(0);
  }
  // (v + 1) + 2 is v + 3: convolutions in a row would otherwise make long sums.
  const auto [a_base, a_offset] = SplitOffset(a);
  const auto [b_base, b_offset] = SplitOffset(b);
  int64_t offset = 0;
  if (__builtin_add_overflow(a_offset, b_offset, &offset)) return Binary(ctx, Op::kAdd, a, b);
  if (a_base && b_base) {
    if (a_offset == 0 && b_offset == 0) return Binary(ctx, Op::kAdd, a, b);
    return AddDims(ctx, Binary(ctx, Op::kAdd, a_base, b_base), offset);
  }
  const Dim base = a_base ? a_base : b_base;
  return offset == 0 ? base : Binary(ctx, Op::kAdd, base, offset);
}

Dim SubDims(Context& ctx, const Dim& a, const Dim& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) return a.value() - b.value();
  if (b.Is(0)) return a;
  if (a == b) return 0;
  // (v + 5) - (v + 2): a slice at a symbolic place has an extent that is a number.
  const auto [a_base, a_offset] = SplitOffset(a);
  const auto [b_base, b_offset] = SplitOffset(b);
  if (a_base == b_base) return a_offset - b_offset;
  if (!b_base && b_offset != INT64_MIN) return AddDims(ctx, a, -b_offset);
  return Binary(ctx, Op::kSub, a, b);
}

Dim MulDims(Context& ctx, const Dim& a, const Dim& b) {
  if (!a.is_symbolic() && !b.is_symbolic()) return a.value() * b.value();
  if (a.Is(0) || b.Is(0)) return 0;
  if (a.Is(1)) return b;
  if (b.Is(1)) return a;
  return Binary(ctx, Op::kMul, a, b);
}

// Ops that share the shape of their first source, whatever it is.
static bool HasShapeOfSource(Op op) {
  switch (op) {
    case Op::kContiguous:
    case Op::kFuse:
    case Op::kCopy:
    case Op::kAfter:
    case Op::kLoad:
    case Op::kBind:
      return true;
    default:
      return false;
  }
}

const Shape& ShapeMap::Of(const UOp* u) {
  if (const Shape* known = shapes_.Get(u)) return *known;
  llvm::SmallVector<const UOp*, 32> stack = {u};
  while (!stack.empty()) {
    const UOp* top = stack.back();
    bool ready = true;
    for (const UOp* s : top->srcs()) {
      if (!shapes_.Get(s)) {
        stack.push_back(s);
        ready = false;
      }
    }
    if (!ready) continue;
    stack.pop_back();
    if (shapes_.Get(top)) continue;
    std::string error;
    const Shape* shape = Keep(top, &error);
    if (!shape) CheckFailed(__FILE__, __LINE__, error.c_str());
    shapes_[top] = shape;
  }
  return *shapes_[u];
}

bool ShapeMap::Try(const UOp* u, std::string* error) {
  if (shapes_.Get(u)) return true;
  const Shape* shape = Keep(u, error);
  if (!shape) return false;
  shapes_[u] = shape;
  return true;
}

const Shape* ShapeMap::Keep(const UOp* u, std::string* error) {
  // Most nodes are elementwise: their shape is a source's, and need not be copied.
  if (IsElementwise(u->op)) {
    const Shape* result = nullptr;
    bool same = true;
    for (const UOp* s : u->srcs()) {
      const Shape* shape = &Of(s);
      if (!result || result->empty()) {
        result = shape;
      } else {
        same &= shape == result || shape->empty() || *shape == *result;
      }
    }
    if (result && same) return result;
  }
  if (HasShapeOfSource(u->op)) return &Of(u->src(0));
  const bool names_shape = u->op == Op::kReshape || u->op == Op::kExpand || u->op == Op::kBroadcast;
  if (names_shape && u->num_srcs == 1) {
    const Shape& from = Of(u->src(0));
    const Shape*& named = named_[u->attr.bits];
    if (!named) named = &owned_.emplace_back(DimsOf(u));
    return CheckDims(u->op, from, *named, error) ? named : nullptr;
  }
  std::optional<Shape> shape = Infer(u, error);
  if (!shape) return nullptr;
  return &owned_.emplace_back(*std::move(shape));
}

const BufferDecl* ShapeMap::FindDecl(std::string_view name) {
  const auto& buffers = module_.buffers;
  for (; num_indexed_ < buffers.size(); ++num_indexed_) {
    const std::string& s = buffers[num_indexed_].name;
    decls_.try_emplace(llvm::StringRef(s.data(), s.size()), num_indexed_);
  }
  const auto it = decls_.find(llvm::StringRef(name.data(), name.size()));
  // The buffer may have been renamed or removed since it was indexed; then all buffers are
  // searched.
  const bool good =
      it != decls_.end() && it->second < buffers.size() && buffers[it->second].name == name;
  return good ? &buffers[it->second] : module_.FindBuffer(name);
}

// Whether `axes` are ascending axes of `shape`.
static bool CheckAxes(const UOp* u, const Shape& shape, std::span<const int64_t> axes,
                      std::string* error) {
  int64_t last = -1;
  for (int64_t axis : axes) {
    if (axis <= last || axis >= static_cast<int64_t>(shape.size())) {
      Fail(error, std::string(Mnemonic(u->op)) + ": axes must be ascending axes of " + Text(shape));
      return false;
    }
    last = axis;
  }
  return true;
}

// The shape of the result of a movement op on a source of shape `from`.
static std::optional<Shape> MovementShape(Context& ctx, const UOp* u, const Shape& from,
                                          std::string* error) {
  switch (MovementOp(u->op)) {
    case MovementOp::kReshape:
    case MovementOp::kExpand:
    case MovementOp::kBroadcast: {
      Shape to = DimsOf(u);
      return CheckDims(u->op, from, to, error) ? std::optional(std::move(to)) : std::nullopt;
    }
    case MovementOp::kPermute: {
      const auto order = u->list();
      llvm::SmallVector<bool, 16> used(from.size());
      Shape to;
      to.reserve(from.size());
      for (int64_t axis : order) {
        if (axis < 0 || axis >= static_cast<int64_t>(from.size()) ||
            used[static_cast<size_t>(axis)]) {
          return Fail(error, "permute: axes is not a permutation of the axes of " + Text(from));
        }
        used[static_cast<size_t>(axis)] = true;
        to.push_back(from[static_cast<size_t>(axis)]);
      }
      if (to.size() != from.size()) {
        return Fail(error, "permute: axes is not a permutation of the axes of " + Text(from));
      }
      return to;
    }
    case MovementOp::kFlip:
      if (!CheckAxes(u, from, u->list(), error)) return std::nullopt;
      return from;
    case MovementOp::kPad:
    case MovementOp::kShrink: {
      const auto pairs = PairsOf(u);
      if (pairs.size() != from.size()) {
        return Fail(error, std::string(Mnemonic(u->op)) + ": " + std::to_string(pairs.size()) +
                               " pairs for shape " + Text(from));
      }
      Shape to;
      to.reserve(from.size());
      for (size_t i = 0; i < from.size(); ++i) {
        const auto& [a, b] = pairs[i];
        const bool numbers = !a.is_symbolic() && !b.is_symbolic() && !from[i].is_symbolic();
        if (u->op == Op::kPad) {
          if ((!a.is_symbolic() && a.value() < 0) || (!b.is_symbolic() && b.value() < 0)) {
            return Fail(error, "pad: a negative amount on axis " + std::to_string(i));
          }
          to.push_back(AddDims(ctx, AddDims(ctx, a, from[i]), b));
        } else {
          if (numbers && (a.value() < 0 || b.value() < a.value() || b.value() > from[i].value())) {
            return Fail(error, "shrink: [" + std::to_string(a.value()) + ", " +
                                   std::to_string(b.value()) + ") is not inside axis " +
                                   std::to_string(i) + " of " + Text(from));
          }
          to.push_back(SubDims(ctx, b, a));
        }
      }
      return to;
    }
    case MovementOp::kView: {
      // The shape of the last view of the tracker.
      const auto words = u->list();
      size_t next = NumOperands(u);
      Shape shape;
      for (size_t at = 0; at < words.size();) {
        const auto rank = static_cast<size_t>(words[at++]);
        const size_t first = at;
        const bool has_mask = words[at + 2 * rank + 1] != 0;
        const size_t end = at + 2 * rank + 2 + (has_mask ? 2 * rank : 0);
        shape.clear();
        shape.reserve(rank);
        for (; at < end; ++at) {
          const bool symbolic = words[at] == kSymbolic;
          const Dim d = symbolic ? Dim(u->src(next++)) : Dim(words[at]);
          if (at < first + rank) shape.push_back(d);
        }
      }
      return shape;
    }
  }
  TG_UNREACHABLE();
}

std::optional<Shape> ShapeMap::Infer(const UOp* u, std::string* error) {
  const auto in = [&](size_t i) -> const Shape& { return Of(u->src(i)); };
  switch (GroupOf(u->op)) {
    case OpGroup::kArithmetic:
    case OpGroup::kConversion:
    case OpGroup::kIdentity: {
      std::vector<const Shape*> shapes;
      for (size_t i = 0; i < u->num_srcs; ++i) shapes.push_back(&in(i));
      return Elementwise(u, shapes, error);
    }
    case OpGroup::kLeaf:
      return OfLeaf(u, error);
    case OpGroup::kMovement:
      return MovementShape(ctx_, u, in(0), error);
    case OpGroup::kTensor:
      return OfTensorOp(u, error);
    case OpGroup::kReduce: {
      if (u->op != Op::kReduceAxis && u->op != Op::kReduceTuple) return Shape{};
      Shape to = in(0);
      if (!CheckAxes(u, to, u->list(1), error)) return std::nullopt;
      for (int64_t axis : u->list(1)) to[static_cast<size_t>(axis)] = 1;
      if (u->op == Op::kReduceTuple) return to;
      if (!IsReduceOp(static_cast<Op>(u->word(0)))) {
        return Fail(error, "reduce_axis: '" + std::string(Mnemonic(static_cast<Op>(u->word(0)))) +
                               "' cannot reduce");
      }
      return to;
    }
    case OpGroup::kMemory:
      if (u->op == Op::kLoad) return in(0);
      if (u->op == Op::kStore && u->src(0)->op != Op::kIndex && !MayEqual(in(0), in(1)) &&
          !in(1).empty()) {
        return Fail(error,
                    "store: the target has shape " + Text(in(0)) + ", the value " + Text(in(1)));
      }
      return Shape{};
    case OpGroup::kOrder:
      return u->op == Op::kAfter ? in(0) : Shape{};
    case OpGroup::kLanes:
    case OpGroup::kSubgroup:
      return Shape{};
  }
  TG_UNREACHABLE();
}

std::optional<Shape> ShapeMap::OfLeaf(const UOp* u, std::string* error) {
  switch (LeafOp(u->op)) {
    case LeafOp::kBuffer: {
      Shape shape;
      // The name's string lives in the context that made the node, which is ours.
      const BufferDecl* decl = FindDecl(ctx_.String(static_cast<StringId>(u->attr.bits)));
      if (!decl) return Fail(error, "buffer: no such buffer is declared");
      shape.reserve(decl->shape.size());
      for (const DeclDim& d : decl->shape) shape.push_back(d.In(ctx_));
      return shape;
    }
    case LeafOp::kIota:
      return Shape{u->word()};
    case LeafOp::kDefineGlobal:
    case LeafOp::kScratch:
      if (u->dtype.is_image()) return Shape{u->dtype.height(), u->dtype.width(), 4};
      if (u->dtype.size() == DType::kUnknownSize) return Shape{};
      return Shape{u->dtype.size()};
    case LeafOp::kCarried: {
      Shape shape;
      for (int64_t d : u->list(1)) shape.push_back(d);
      return shape;
    }
    case LeafOp::kConst:
    case LeafOp::kVConst:
    case LeafOp::kVar:
    case LeafOp::kRange:
    case LeafOp::kSpecial:
    case LeafOp::kUnroll:
      return Shape{};
  }
  TG_UNREACHABLE();
}

std::optional<Shape> ShapeMap::OfTensorOp(const UOp* u, std::string* error) {
  const auto in = [&](size_t i) -> const Shape& { return Of(u->src(i)); };
  switch (TensorOp(u->op)) {
    case TensorOp::kContiguous:
    case TensorOp::kBind:
    case TensorOp::kCopy:
      return in(0);
    case TensorOp::kBufferView:
      return Shape{u->word(1)};
    case TensorOp::kLoop:
      return in(1 + static_cast<size_t>(u->word(1)));
    case TensorOp::kAssign:
      if (!IsCall(u->src(1)->op) && !MayEqual(in(0), in(1))) {
        return Fail(error,
                    "assign: the target has shape " + Text(in(0)) + ", the value " + Text(in(1)));
      }
      return in(0);
    case TensorOp::kKernel:
    case TensorOp::kRepeat:
      return Shape{};
  }
  TG_UNREACHABLE();
}

}  // namespace tg
