#include "frontend/tinygrad/demand.h"

#include <algorithm>
#include <optional>
#include <string>

#include "frontend/tinygrad/buffers.h"
#include "llvm/ADT/StringMap.h"

namespace tg::tinygrad {

std::optional<int64_t> PowerOf(Op op, const Node& n) {
  if (n.num_srcs != 2 || n.src(1)->op != "CONST" || n.src(1)->arg.kind != Kind::kInt) {
    return std::nullopt;
  }
  const int64_t c = n.src(1)->arg.number;
  if (op == Op::kAnd) {
    const bool mask = c > 0 && c < int64_t{1} << 31 && (c & (c + 1)) == 0;
    return mask ? std::optional(c + 1) : std::nullopt;
  }
  return c >= 0 && c < 31 ? std::optional(int64_t{1} << c) : std::nullopt;
}

bool IsInvalid(const Node* n) { return n->op == "CONST" && n->arg.is_name("Invalid"); }

bool IsFloatFunction(Op op) {
  const OpInfo& info = GetOpInfo(op);
  return info.min_sources == 1 && info.AllowsClass('f') && !info.AllowsClass('i');
}

// Whether source `i` of an op of class `cls` is one extent or a list of extents.
static bool IsExtents(OpClass cls, size_t i) {
  switch (cls) {
    case OpClass::kMovement:
      return i > 0;
    case OpClass::kBuffer:
    case OpClass::kParam:
    case OpClass::kVar:
    case OpClass::kConst:
      return true;
    default:
      return false;
  }
}

DType Demand::SourceType(const Node* n, size_t i, DType t) const {
  const ForeignType source = foreign_[n->src(i)->slot];
  if (!source.weak) return source.type;
  return WeakSourceType(n, i, t, source).WithLanes(source.type.lanes());
}

DType Demand::WeakSourceType(const Node* n, size_t i, DType t, ForeignType source) const {
  switch (ops_[n->slot]->cls) {
    case OpClass::kMovement:
    case OpClass::kReduce:
    case OpClass::kDefineAcc:
    case OpClass::kIndex:
      return i == 0 ? t : kIndex;
    case OpClass::kBuffer:
    case OpClass::kParam:
    case OpClass::kRange:
    case OpClass::kSpecial:
      return kIndex;
    case OpClass::kCompare: {
      const ForeignType other = TypeOf(n->src(n->num_srcs > 1 ? 1 - std::min<size_t>(i, 1) : 0));
      // If both types are weak, the float one wins.
      return !other.weak || other.type.is_float() ? other.type : source.type;
    }
    case OpClass::kWhere:
      return i == 0 ? kBool : t;
    case OpClass::kStack:
    case OpClass::kVectorize:
    case OpClass::kCat:
      return t.is_memory() ? source.type : t;
    case OpClass::kElementwise:
      // An integer computation below the conversion stays integer; a constant takes any type.
      if (IsFloatFunction(ops_[n->slot]->op) && t.is_float() && n->src(i)->op != "CONST") {
        return source.type;
      }
      break;
    case OpClass::kCast:
      if (ops_[n->slot]->op == Op::kBitcast) return source.printed;
      return source.type.is_float() && t.is_float() ? t : source.type;
    case OpClass::kStore: {
      const DType target = TypeOf(n->src(0)).type;
      return target.is_memory() ? DType(target.value_scalar()) : target;
    }
    default:
      break;
  }
  return t.is_void() || t.is_memory() || i > 2 ? source.type : t;
}

void Demand::Request(const Node* n, DType t) {
  auto& types = types_[n->slot];
  if (!foreign_[n->slot].weak) {
    t = foreign_[n->slot].type;
    if (!types.empty()) return;
  }
  if (std::find(types.begin(), types.end(), t) == types.end()) types.push_back(t);
}

void Demand::FindAddresses() {
  for (const OpEntry* op : ops_) {
    is_lowered_ |=
        op->cls == OpClass::kIndex || op->cls == OpClass::kRange || op->cls == OpClass::kSpecial;
  }
  if (!is_lowered_) return;
  for (const Node* n : nodes_) {
    ForeignType& type = foreign_[n->slot];
    if (!type.type.is_int()) continue;
    const OpEntry& op = *ops_[n->slot];
    size_t first = 0, last = n->num_srcs;
    switch (op.cls) {
      case OpClass::kConst:
      case OpClass::kVConst:
      case OpClass::kVar:
      case OpClass::kSpecial:
      case OpClass::kUnroll:
      case OpClass::kVectorize:
      case OpClass::kGep:
      case OpClass::kCat:
        break;
      case OpClass::kRange:
        last = std::min<size_t>(last, 1);  // sources after the trip count run before the loop
        break;
      case OpClass::kWhere:
        first = 1;
        break;
      case OpClass::kElementwise:
        // A constant operand turns these ops into a product, a quotient or a remainder.
        if (op.op == Op::kShl || op.op == Op::kShr || op.op == Op::kAnd) {
          if (!PowerOf(op.op, *n)) continue;
        } else if (!GetOpInfo(op.op).AllowsClass('x')) {
          continue;
        }
        break;
      default:
        continue;
    }
    bool good = true;
    for (size_t i = first; i < last; ++i) {
      good &= foreign_[n->src(i)->slot].weak || IsInvalid(n->src(i));
    }
    if (good) type = {kIndex.WithLanes(type.type.lanes()), true, type.type};
  }
}

void Demand::FindLanes() {
  const auto is_buffer = [this](const Node* n) {
    const OpClass cls = ops_[n->slot]->cls;
    return (cls == OpClass::kParam || cls == OpClass::kBuffer) && !IsVariable(n);
  };
  if (std::none_of(nodes_.begin(), nodes_.end(), is_buffer)) return;
  memory_.resize(nodes_.size());
  for (const Node* n : nodes_) {
    ForeignType& type = foreign_[n->slot];
    const auto lanes_of = [&](size_t i) { return foreign_[n->src(i)->slot].type.lanes(); };
    const OpClass cls = ops_[n->slot]->cls;
    const bool in_memory = n->num_srcs > 0 && memory_[n->src(0)->slot];
    int64_t lanes = type.type.lanes();
    switch (cls) {
      case OpClass::kParam:
      case OpClass::kBuffer:
        memory_[n->slot] = is_buffer(n);
        break;
      case OpClass::kAfter:
        memory_[n->slot] = in_memory;
        break;
      case OpClass::kIndex:
        memory_[n->slot] = in_memory;
        if (in_memory && n->num_srcs > 1) lanes = lanes_of(1);
        break;
      case OpClass::kMovement:
        memory_[n->slot] = in_memory;
        if (const auto count = in_memory && n->num_srcs > 2 ? StaticShape(n->src(2)) : std::nullopt;
            count && count->size() == 1) {
          lanes = (*count)[0];
        }
        break;
      case OpClass::kStack:
        lanes = n->num_srcs;
        break;
      case OpClass::kLoad:
      case OpClass::kCast:
        memory_[n->slot] = in_memory && cls == OpClass::kCast;
        if (n->num_srcs > 0) lanes = lanes_of(0);
        break;
      case OpClass::kElementwise:
      case OpClass::kCompare:
      case OpClass::kWhere:
        for (size_t i = 0; i < n->num_srcs; ++i) lanes = std::max<int64_t>(lanes, lanes_of(i));
        break;
      default:
        break;
    }
    const bool has_lanes = type.type.is_value() && !type.type.is_void() && lanes > 1;
    if (has_lanes && lanes <= UINT16_MAX) type.type = type.type.WithLanes(static_cast<int>(lanes));
  }
}

void Demand::Collect(std::span<const Node* const> roots) {
  std::vector<const Node*> stack(roots.begin(), roots.end());
  // A slot is valid only if the node at that index is this node: slots of earlier Demands remain.
  const auto is_new = [this](const Node* n) {
    return n->slot >= nodes_.size() || nodes_[n->slot] != n;
  };
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    if (!is_new(n)) continue;
    n->slot = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(n);
    for (size_t i = 0; i < n->num_srcs; ++i) {
      if (is_new(n->src(i))) stack.push_back(n->src(i));
    }
    ForEachNodeIn(n->arg, [&](const Node* s) { stack.push_back(s); });
  }
  std::sort(nodes_.begin(), nodes_.end(),
            [](const Node* a, const Node* b) { return a->id < b->id; });
  for (uint32_t i = 0; i < nodes_.size(); ++i) nodes_[i]->slot = i;
}

bool Demand::Compute(const Text& text, std::span<const Node* const> roots, Diagnostics& diags) {
  Collect(roots);
  const size_t count = nodes_.size();
  ops_.resize(count);
  foreign_.resize(count);
  types_.resize(count);
  is_data_.resize(count);
  // Each op name is looked up once.
  llvm::StringMap<const OpEntry*> ops;
  llvm::StringMap<std::optional<ForeignType>> named;
  for (const Node* node : nodes_) {
    const Node& n = *node;
    const OpEntry*& op = ops[llvm::StringRef(n.op.data(), n.op.size())];
    if (!op) op = FindOp(n.op);
    if (!op) {
      diags.Error(n.loc, "unknown op '" + std::string(n.op) + "'" + SuggestOp(n.op));
      return false;
    }
    ops_[n.slot] = op;
    std::optional<ForeignType> type;
    if (n.dtype.kind == Kind::kName) {
      auto& known = named[llvm::StringRef(n.dtype.at, n.dtype.size)];
      if (!known) known = tinygrad::TypeOf(n.dtype);
      type = known;
    } else {
      type = tinygrad::TypeOf(n.dtype);
    }
    if (!type) {
      diags.Error(text.LocationOf(n.dtype.at),
                  "unknown type '" + std::string(n.dtype.text()) + "'");
      return false;
    }
    // tinygrad also assumes that extents do not overflow.
    if (n.in_arg && type->type.is_int()) type = ForeignType{kIndex, true, type->type};
    foreign_[n.slot] = *type;
  }

  FindAddresses();
  if (is_lowered_) FindLanes();
  for (const Node* root : roots) {
    Request(root, TypeOf(root).type);
    is_data_[root->slot] = true;
  }
  // Users follow their sources in `nodes`. The user of a node in an argument is the node that has
  // the argument.
  for (size_t i = count; i-- > 0;) {
    const Node& n = *nodes_[i];
    if (n.in_arg && types_[i].empty()) Request(&n, foreign_[i].type);
    for (size_t k = 0; k < n.num_srcs; ++k) {
      if (!IsExtents(ops_[i]->cls, k)) is_data_[n.src(k)->slot] = true;
    }
    for (const DType t : llvm::SmallVector<DType, 1>(types_[i])) {
      for (size_t k = 0; k < n.num_srcs; ++k) Request(n.src(k), SourceType(&n, k, t));
    }
  }
  return true;
}

}  // namespace tg::tinygrad
