#include "passes/devectorize/image_access.h"

#include <utility>
#include <vector>

namespace tg::devectorize {
namespace {

constexpr int64_t kChannels = 4;

std::vector<const UOp*> Conjuncts(const UOp* gate) {
  std::vector<const UOp*> all, todo;
  if (gate) todo.push_back(gate);
  while (!todo.empty()) {
    const UOp* u = todo.back();
    todo.pop_back();
    if (u->op == Op::kAnd) {
      todo.push_back(u->src(1));
      todo.push_back(u->src(0));
    } else {
      all.push_back(u);
    }
  }
  return all;
}

std::vector<AffineExpr> ClausesOf(const AffineBuilder& linear, const std::vector<const UOp*>& gates,
                                  const UOp* except = nullptr) {
  std::vector<AffineExpr> clauses;
  for (const UOp* g : gates) {
    const AffineExpr* clause = linear.ClauseOf(g);
    if (clause && g != except) clauses.push_back(*clause);
  }
  return clauses;
}

// Whether `coordinate` lies outside 0..size-1 wherever `clause` is not negative.
bool OutsideUnless(AffineBuilder& linear, const AffineExpr& coordinate, int64_t size,
                   const AffineExpr& clause) {
  const auto [scale, rest] = linear.Eliminate(coordinate, clause);
  if (scale == 0) return false;
  const analysis::Interval r = linear.BoundsOf(rest);
  return scale > 0 ? r.HasLo() && r.lo >= size : r.HasHi() && r.hi < 0;
}

struct Place {
  AffineExpr x, y;
};

// The coordinates of the texel of `element`, assuming that `gates` hold.
Place PlaceOf(AffineBuilder& linear, const UOp* image, const AffineExpr& element,
              const std::vector<const UOp*>& gates) {
  linear.Assume(ClausesOf(linear, gates));
  const AffineExpr texel = linear.FloorDiv(element, kChannels);
  Place place{linear.FloorMod(texel, image->dtype.width()),
              linear.FloorDiv(texel, image->dtype.width())};
  linear.Assume({});
  return place;
}

const UOp* AddressOf(Builder& b, AffineBuilder& linear, const UOp* image, const Place& place,
                     const std::vector<const UOp*>& gates) {
  const UOp* xy[] = {linear.Build(place.x), linear.Build(place.y)};
  const UOp* gate = nullptr;
  for (const UOp* g : gates) gate = gate ? b.And(gate, g) : g;
  return b.IndexPtr(image, b.Vectorize(xy), gate);
}

}  // namespace

bool AddressesImageElements(const UOp* address) {
  return address->op == Op::kIndex && address->dtype.is_image() &&
         address->src(1)->dtype.lanes() == address->dtype.lanes();
}

const UOp* TexelAddress(Builder& b, AffineBuilder& linear, const UOp* image,
                        const AffineExpr& first, const UOp* gate) {
  const std::vector<const UOp*> gates = Conjuncts(gate);
  return AddressOf(b, linear, image, PlaceOf(linear, image, first, gates), gates);
}

LaneRef LoadImageElement(Builder& b, AffineBuilder& linear, const UOp* image,
                         const AffineExpr& element, const UOp* gate) {
  std::vector<const UOp*> gates = Conjuncts(gate);
  const Place place = PlaceOf(linear, image, element, gates);
  for (size_t i = 0; i < gates.size();) {
    // Only the remaining gates may be assumed.
    linear.Assume(ClausesOf(linear, gates, gates[i]));
    const AffineExpr* clause = linear.ClauseOf(gates[i]);
    if (clause && (OutsideUnless(linear, place.x, image->dtype.width(), *clause) ||
                   OutsideUnless(linear, place.y, image->dtype.height(), *clause))) {
      gates.erase(gates.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  linear.Assume({});
  const UOp* address = AddressOf(b, linear, image, place, gates);
  const UOp* texel = b.Load(address, nullptr, kChannels);
  const AffineExpr channel = linear.FloorMod(element, kChannels);
  if (channel.is_constant()) return {texel, static_cast<int>(channel.constant)};
  const UOp* value = Lane(b, texel, kChannels - 1);
  for (int c = kChannels - 2; c >= 0; --c) {
    const UOp* below = linear.Less(channel, AffineExpr::Constant(c + 1));
    value = b.Where(below, Lane(b, texel, c), value);
  }
  return {value, 0};
}

}  // namespace tg::devectorize
