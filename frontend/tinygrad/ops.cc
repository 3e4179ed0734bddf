#include "frontend/tinygrad/ops.h"

#include <vector>

#include "base/suggest.h"
#include "frontend/tinygrad/types.h"
#include "ir/text/diagnostic.h"
#include "llvm/ADT/StringMap.h"

namespace tg::tinygrad {
namespace {

constexpr OpEntry kOps[] = {
#define TG_TINYGRAD_OP(name, cls, op) {#name, OpClass::cls, Op::op},
#include "frontend/tinygrad/ops.def"
#undef TG_TINYGRAD_OP
};

llvm::StringRef Ref(std::string_view s) { return {s.data(), s.size()}; }

const Value* IntItem(const Value& call, size_t i) {
  const auto items = call.list();
  return i < items.size() && items[i].value.kind == Kind::kInt ? &items[i].value : nullptr;
}

std::optional<ForeignType> ImageType(const Value& call, Scalar storage) {
  const Value* shape = call.count == 1 ? &call.list()[0].value : nullptr;
  if (!shape || shape->kind != Kind::kTuple) return std::nullopt;
  const Value *height = IntItem(*shape, 0), *width = IntItem(*shape, 1);
  if (!height || !width || height->number < 0 || height->number > INT32_MAX || width->number < 0 ||
      width->number > INT32_MAX) {
    return std::nullopt;
  }
  return ForeignType{DType::Image(storage, static_cast<int32_t>(height->number),
                                  static_cast<int32_t>(width->number))};
}

// Applies a method call to `t`: .vec(n), .ptr(size, local=True).
std::optional<ForeignType> WithMethod(ForeignType t, const Value& call) {
  if (call.is_call(".vec")) {
    const Value* lanes = IntItem(call, 1);
    if (!lanes || lanes->number < 1 || lanes->number > UINT16_MAX) return std::nullopt;
    t.type = t.type.WithLanes(static_cast<int>(lanes->number));
    return t;
  }
  if (call.is_call(".ptr")) {
    const Value* size = IntItem(call, 1);
    if (!size || size->number < DType::kUnknownSize || !t.type.is_value()) return std::nullopt;
    AddrSpace space = AddrSpace::kGlobal;
    if (const Value* local = FindItem(call, "local"); local && local->number) {
      space = AddrSpace::kLocal;
    }
    if (const Value* named = FindItem(call, "addrspace", 2); named) {
      if (named->is_name("AddrSpace.LOCAL")) space = AddrSpace::kLocal;
      if (named->is_name("AddrSpace.REG")) space = AddrSpace::kReg;
    }
    // A pointer to vectors becomes a pointer to scalars; the accesses are vectors.
    t.type = DType::Pointer(t.type.scalar(), size->number, space);
    return t;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ForeignType> TypeNamed(std::string_view name) {
  static const auto* const kTypes = [] {
    auto* types = new llvm::StringMap<ForeignType>;
    for (auto [scalar, names] : kTypeNames) {
      while (!names.empty()) {
        const size_t bar = names.find('|');
        (*types)[Ref(names.substr(0, bar))] = {scalar};
        names.remove_prefix(bar == std::string_view::npos ? names.size() : bar + 1);
      }
    }
    // Some versions call weakint `index`.
    (*types)["weakint"] = (*types)["index"] = {kIndex, true};
    (*types)["weakfloat"] = {kF32, true};
    return types;
  }();
  constexpr std::string_view kPrefix = "dtypes.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const auto it = kTypes->find(Ref(name.substr(kPrefix.size())));
  if (it == kTypes->end()) return std::nullopt;
  return it->second;
}

const OpEntry* FindOp(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new llvm::StringMap<const OpEntry*>;
    for (const OpEntry& op : kOps) (*map)[Ref(op.name)] = &op;
    return map;
  }();
  return kByName->lookup(Ref(name));
}

std::string SuggestOp(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OpEntry& op : kOps) names.push_back(op.name);
  return DidYouMean(name, names);
}

std::optional<ForeignType> TypeOf(const Value& dtype) {
  // Receivers from the outermost inwards: float.vec(4).ptr(16) is ptr of vec of float.
  std::vector<const Value*> methods;
  const Value* v = &dtype;
  while (v->kind == Kind::kCall && v->text().substr(0, 1) == "." && v->count > 0) {
    methods.push_back(v);
    v = &v->list()[0].value;
  }
  std::optional<ForeignType> t;
  if (v->kind == Kind::kName) {
    t = TypeNamed(v->text());
  } else if (v->is_call("dtypes.imageh")) {
    t = ImageType(*v, Scalar::kF16);
  } else if (v->is_call("dtypes.imagef")) {
    t = ImageType(*v, Scalar::kF32);
  } else if (v->kind == Kind::kCall && v->text().substr(0, 7) == "dtypes.") {
    // The call's name contains the first method after a name: dtypes.float.vec(4).
    const size_t dot = v->text().rfind('.');
    t = TypeNamed(v->text().substr(0, dot));
    if (!t) return std::nullopt;
    Value first = *v;
    std::vector<Item> items{{{}, Value{}}};
    items.insert(items.end(), v->list().begin(), v->list().end());
    first.at += dot;
    first.size -= static_cast<uint32_t>(dot);
    first.items = items.data();
    first.count = static_cast<uint32_t>(items.size());
    t = WithMethod(*t, first);
  }
  while (t && !methods.empty()) {
    t = WithMethod(*t, *methods.back());
    methods.pop_back();
  }
  return t;
}

}  // namespace tg::tinygrad
