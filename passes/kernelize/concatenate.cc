#include "passes/kernelize/concatenate.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "ir/builder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "passes/cost/bounds.h"
#include "passes/kernelize/expression_cost.h"
#include "passes/kernelize/materialization.h"
#include "passes/kernelize/placement.h"
#include "passes/kernelize/prepare.h"

namespace tg::kernelize {
namespace {

// Whether the op applied to a value and 0 gives that value, so that it joins padded pieces.
bool Joins(const UOp* u) {
  const bool number = !u->dtype.is_bool();
  return u->dtype.lanes() == 1 && !u->dtype.is_index() &&
         ((u->op == Op::kAdd && number) || (u->op == Op::kOr || u->op == Op::kXor));
}

int64_t Volume(const Ranges& ranges) {
  int64_t n = 1;
  for (const auto& [begin, end] : ranges) n *= end - begin;
  return n;
}

struct Piece {
  const UOp* value = nullptr;  // null: 0
  Ranges ranges;
};

// Divides `whole` into the boxes of `pieces` and further boxes, which are added to `pieces`.
// Returns false if pieces overlap, or if no straight cut separates them.
bool Partition(const Ranges& whole, std::vector<Piece>& pieces) {
  struct Part {
    Ranges ranges;
    std::vector<size_t> pieces;
  };
  std::vector<Part> stack(1);
  stack[0].ranges = whole;
  for (size_t i = 0; i < pieces.size(); ++i) stack[0].pieces.push_back(i);
  while (!stack.empty()) {
    Part part = std::move(stack.back());
    stack.pop_back();
    bool cut = false;
    for (size_t k = 0; k < whole.size() && !cut; ++k) {
      const auto along = [&](size_t i) { return pieces[i].ranges[k]; };
      std::sort(part.pieces.begin(), part.pieces.end(),
                [&](size_t a, size_t b) { return along(a) < along(b); });
      // The parts along this axis: groups of pieces whose ranges overlap, and the gaps between
      // these.
      std::vector<Part> parts;
      std::vector<Ranges> gaps;
      const auto between = [&](int64_t begin, int64_t end) {
        Ranges out = part.ranges;
        out[k] = {begin, end};
        return out;
      };
      int64_t done = part.ranges[k].first;
      for (size_t i : part.pieces) {
        const auto [begin, end] = along(i);
        if (parts.empty() || begin >= parts.back().ranges[k].second) {
          if (begin > done) gaps.push_back(between(done, begin));
          parts.push_back({between(begin, end), {}});
        }
        auto& range = parts.back().ranges[k];
        range.second = std::max(range.second, end);
        parts.back().pieces.push_back(i);
        done = range.second;
      }
      if (done < part.ranges[k].second) gaps.push_back(between(done, part.ranges[k].second));
      cut = parts.size() > 1 || !gaps.empty();
      if (!cut) continue;
      for (Ranges& gap : gaps) pieces.push_back({nullptr, std::move(gap)});
      for (Part& p : parts) stack.push_back(std::move(p));
    }
    if (!cut && part.pieces.size() != 1) return false;
  }
  return true;
}

class Writer {
 public:
  Writer(Module& module, Body& body, ShapeMap& shapes, const passes::Target& target, NodeSet& fused,
         UOpSpan order)
      : module_(module),
        body_(body),
        b_(*body.context),
        shapes_(shapes),
        target_(target),
        fused_(fused),
        order_(order),
        placement_(module, body, order) {}

  NodeSet Run() {
    for (const UOp* u : order_) {
      for (const UOp* s : u->srcs()) ++users_[s];
    }
    if (!FindAll()) return {};
    for (const BufferDecl& decl : module_.buffers) names_.insert(decl.name);
    llvm::SmallVector<const UOp*, 8> srcs;
    for (const UOp* u : order_) {
      srcs.clear();
      for (const UOp* s : u->srcs()) srcs.push_back(map_.Get(s));
      const UOp* to = nullptr;
      const uint32_t first = b_.context().num_nodes();
      if (found_.Get(u)) {
        to = Written(u);
      } else if (u->op == Op::kAssign && home_.Get(SumOf(u)) == u->src(0)) {
        to = srcs[1];
        while (to->op == Op::kReshape) to = to->src(0);
      } else if (u->op == Op::kContiguous && found_.Get(u->src(0)) && IsStored(srcs[0])) {
        to = srcs[0];
      } else {
        to = b_.context().Rebuild(u, b_.context(), {srcs.data(), srcs.size()});
      }
      if (fused_.Contains(u)) fused_.Insert(to);
      map_[u] = to;
      body_.CarryOver(u, to);
      if (const StringId origin = body_.side.origin(u)) body_.SetOrigin(first, origin);
    }
    body_.root = map_.Get(body_.root);
    return std::move(written_);
  }

 private:
  using Pieces = std::vector<Piece>;

  bool FindAll() {
    // Sums of nothing but padded values and other such sums.
    for (const UOp* u : order_) {
      const auto is_part = [&](const UOp* s) {
        if (shapes_.Of(s).empty()) return false;  // a scalar is added to every element
        return IsPad(s) || (of_pads_.Contains(s) && users_.Get(s) == 1) || IsZero(s);
      };
      if (Joins(u) && llvm::all_of(u->srcs(), is_part)) of_pads_.Insert(u);
    }
    // Visits users before sources, so that of nested sums the outermost comes first.
    for (const UOp* u : llvm::reverse(order_)) {
      if (!of_pads_.Contains(u) || inside_.Contains(u) || fused_.Contains(u)) continue;
      std::optional<Pieces> pieces = Find(u);
      if (!pieces) continue;
      all_.push_back(*std::move(pieces));
      found_[u] = all_.size();
    }
    for (const UOp* u : order_) {
      if (u->op == Op::kAssign && IsHome(u)) home_[SumOf(u)] = u->src(0);
    }
    return !all_.empty();
  }

  // The sum that an assign stores, below reshapes.
  static const UOp* SumOf(const UOp* assign) {
    const UOp* value = assign->src(1);
    while (value->op == Op::kReshape && value->num_srcs == 1) value = value->src(0);
    return value;
  }

  // Whether the pieces of a concatenation can be written directly to the assign's target: it must
  // be a whole buffer that no other node writes before.
  bool IsHome(const UOp* assign) const {
    const UOp* buffer = assign->src(0);
    return assign->num_srcs == 2 && found_.Get(SumOf(assign)) && !home_.Get(SumOf(assign)) &&
           buffer->op == Op::kBuffer && users_.Get(buffer) == 1 && IsStatic(shapes_.Of(buffer));
  }

  std::optional<Pieces> Find(const UOp* sum) {
    const Shape& shape = shapes_.Of(sum);
    if (shape.empty() || !IsStatic(shape) || placement_.IsOnAny(sum)) return std::nullopt;
    Ranges whole;
    for (const Dim& d : shape) whole.emplace_back(0, d.value());
    Pieces pieces;
    std::vector<Piece> stack = {{sum, whole}};
    while (!stack.empty()) {
      Piece p = std::move(stack.back());
      stack.pop_back();
      const UOp* v = p.value;
      if (of_pads_.Contains(v) && (v == sum || users_.Get(v) == 1)) {
        if (v != sum) inside_.Insert(v);
        for (size_t i = v->num_srcs; i-- > 0;) stack.push_back({v->src(i), p.ranges});
        continue;
      }
      if (IsPad(v)) {
        const auto pairs = PairsOf(v);
        for (size_t k = 0; k < pairs.size(); ++k) {
          p.ranges[k].first += pairs[k].first.value();
          p.ranges[k].second -= pairs[k].second.value();
        }
        stack.push_back({v->src(0), std::move(p.ranges)});
        continue;
      }
      if (!IsZero(v)) pieces.push_back(std::move(p));
    }
    if (pieces.size() < 2 || !Partition(whole, pieces)) return std::nullopt;
    // One kernel writes up to this many pieces of one shape, which is limited by its arguments.
    constexpr double kPieces = 32;
    std::map<std::vector<int64_t>, double> by_shape;
    for (const Piece& p : pieces) {
      std::vector<int64_t> sizes;
      for (const auto& [begin, end] : p.ranges) sizes.push_back(end - begin);
      by_shape[std::move(sizes)] += 1 / kPieces;
    }
    double kernels = 0;
    for (const auto& [sizes, some] : by_shape) kernels += std::max(1.0, some);
    const auto elements = static_cast<double>(Volume(whole));
    const double bytes = elements * static_cast<double>(ByteSize(sum->dtype.scalar()));
    const double gates = static_cast<double>(pieces.size()) * target_.gate_weight * elements;
    if (cost::ArithmeticSeconds(gates, target_) < cost::StoredSeconds(bytes, target_, kernels)) {
      return std::nullopt;
    }
    return pieces;
  }

  static bool IsPad(const UOp* v) { return v->op == Op::kPad && v->num_srcs == 1; }
  static bool IsZero(const UOp* v) {
    while (IsMovement(v->op)) v = v->src(0);
    return IsConst(v) && v->word() == 0;
  }

  // The concatenation in memory: what the buffer holds after all pieces are written.
  const UOp* Written(const UOp* sum) {
    const Shape& shape = shapes_.Of(sum);
    const UOp* home = home_.Get(sum);
    const UOp* buffer = home ? home : NewBuffer(sum);
    const UOp* memory = shapes_.Of(buffer) == shape ? buffer : b_.Reshape(buffer, shape);
    const UOp* zero = b_.ConstBits(sum->dtype, 0);
    std::vector<const UOp*> assigns;
    for (const Piece& p : all_[found_.Get(sum) - 1]) {
      std::vector<std::pair<Dim, Dim>> ranges;
      Shape own;
      for (const auto& [begin, end] : p.ranges) {
        ranges.emplace_back(begin, end);
        own.push_back(end - begin);
      }
      const UOp* value =
          p.value ? map_.Get(p.value) : b_.Expand(b_.Reshape(zero, Shape(own.size(), 1)), own);
      // Adds 0, since the sum of -0.0 and the 0 of the padding is 0.0.
      if (p.value && sum->dtype.is_float()) value = b_.Add(value, zero);
      assigns.push_back(
          b_.context().Make(Op::kAssign, buffer->dtype, {b_.Shrink(memory, ranges), value}));
      written_.Insert(assigns.back());
    }
    const UOp* after = b_.After(buffer, assigns);
    return shapes_.Of(buffer) == shape ? after : b_.Reshape(after, shape);
  }

  const UOp* NewBuffer(const UOp* sum) {
    BufferDecl decl;
    do {
      decl.name = absl::StrCat("t", next_buffer_++);
    } while (!names_.insert(decl.name).second);
    decl.dtype = sum->dtype;
    decl.role = Role::kTemp;
    decl.device = placement_.Name(placement_.Of(sum));
    for (const Dim& d : shapes_.Of(sum)) decl.shape.push_back({d.value(), ""});
    const UOp* buffer = b_.Buffer(decl.name, sum->dtype);
    module_.buffers.push_back(std::move(decl));
    return buffer;
  }

  Module& module_;
  Body& body_;
  Builder b_;
  ShapeMap& shapes_;
  const passes::Target& target_;
  NodeSet& fused_;
  const UOpSpan order_;
  Placement placement_;
  NodeMap<uint32_t> users_;
  NodeSet of_pads_;        // sums that may be concatenations
  NodeSet inside_;         // sums that are parts of others
  NodeMap<size_t> found_;  // 1 + number in all_
  std::vector<Pieces> all_;
  NodeMap<const UOp*> home_;  // by sum: the buffer that it is written to in any case
  NodeMap<const UOp*> map_;
  NodeSet written_;
  std::set<std::string> names_;
  int next_buffer_ = 0;
};

}  // namespace

NodeSet WriteConcatenations(Module& module, Body& body, ShapeMap& shapes,
                            const passes::Target& target, NodeSet& fused, UOpSpan order) {
  return Writer(module, body, shapes, target, fused, order).Run();
}

std::optional<Slice> SliceOf(const UOp* target) {
  if (target->op != Op::kShrink || target->num_srcs != 1) return std::nullopt;
  const UOp* of = target->src(0);
  while (of->op == Op::kReshape) of = of->src(0);
  if (IsMovement(of->op)) return std::nullopt;
  Slice out{target->src(0), {}};
  for (const auto& [begin, end] : PairsOf(target)) {
    out.ranges.emplace_back(begin.value(), end.value());
  }
  return out;
}

bool AreDisjoint(const Ranges& a, const Ranges& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].second <= b[k].first || b[k].second <= a[k].first) return true;
  }
  return false;
}

std::optional<Ranges> UnionOf(const std::vector<Ranges>& parts) {
  Ranges all = parts[0];
  int64_t volume = 0;
  for (const Ranges& part : parts) {
    volume += Volume(part);
    for (size_t k = 0; k < all.size(); ++k) {
      all[k] = {std::min(all[k].first, part[k].first), std::max(all[k].second, part[k].second)};
    }
  }
  if (Volume(all) != volume) return std::nullopt;
  return all;
}

}  // namespace tg::kernelize
