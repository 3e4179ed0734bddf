// UOp: one immutable node of a program, `(op, dtype, attribute, sources)`.
//
// Nodes live in the arena of one Context and are uniqued there: within a Context, structural
// equality is pointer equality. No reference counts, no virtual calls. Names and source locations
// are no part of a node; the body that holds it keeps them in side tables (ir/module.h).
//
// Semantics, for every evaluator, rule and renderer:
//  - i8..i64 and u8..u64 wrap modulo 2^bits, also where C would promote. `index` never overflows.
//  - Floor and truncating division are different ops; a division by zero has a value (ops.def).
//  - A value computed in a float type is the exact result rounded once to that type, except that
//    mulacc may round its product too, and that transcendentals are within their stated ulp.
//    Comparisons with NaN: cmplt false, cmpne true.
//  - Loads and stores happen in the order that tokens (`after`, `end`) give them, no other.
//  - Constants are equal by their bits: 0.0 and -0.0 differ, equal NaNs are equal.
#ifndef TG_IR_UOP_H_
#define TG_IR_UOP_H_

#include <cstdint>
#include <span>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg {

// Marks an entry of a shape (or pad, ...) that is not a number. Its value is one of the node's
// extra sources; these are in the order of the entries.
inline constexpr int64_t kSymbolic = INT64_MIN;

// The attribute of a node. One word where the op's schema says so (OpInfo::inline_attr), else a
// pointer to an interned array of words, so that equality is equality of `bits` in both cases.
// Encoding of the array, field by field: one word for a one-word kind; for a list, its length and
// its items (pairs: two words an item). Strings and symbols are StringIds of the Context.
struct Attr {
  uint64_t bits = 0;
  friend constexpr bool operator==(Attr, Attr) = default;
};

struct AttrData {
  uint32_t size;
  uint32_t hash;
  int64_t words[];  // NOLINT: flexible array in the arena
};

struct UOp {
  Op op;
  uint32_t num_srcs;
  uint32_t id;  // dense in the Context, in order of creation: sources have smaller ids
  uint32_t hash;
  DType dtype;
  Attr attr;
  const UOp* src_tail[];  // NOLINT: flexible array in the arena

  std::span<const UOp* const> srcs() const { return {src_tail, num_srcs}; }
  const UOp* src(size_t i) const { return src_tail[i]; }

  // The attribute's words: inline or interned.
  std::span<const int64_t> words() const {
    if (HasInlineAttr(op)) return {reinterpret_cast<const int64_t*>(&attr.bits), 1};
    if (!HasAttr(op)) return {};
    const auto* data = reinterpret_cast<const AttrData*>(attr.bits);
    return {data->words, data->size};
  }
  int64_t word(size_t i = 0) const {
    if (HasInlineAttr(op)) return static_cast<int64_t>(attr.bits);
    return reinterpret_cast<const AttrData*>(attr.bits)->words[i];
  }
  // The list attribute that starts at word `at`.
  std::span<const int64_t> list(size_t at = 0) const {
    const auto w = words();
    return w.subspan(at + 1, static_cast<size_t>(w[at]));
  }
};

using UOpSpan = std::span<const UOp* const>;

// Whether `srcs` are exactly the sources of `u`. A loop is cheaper than memcmp for so short a list.
inline bool HasSources(const UOp* u, UOpSpan srcs) {
  if (srcs.size() != u->num_srcs) return false;
  for (size_t i = 0; i < srcs.size(); ++i) {
    if (srcs[i] != u->src_tail[i]) return false;
  }
  return true;
}

inline bool IsConst(const UOp* u) { return u->op == Op::kConst; }

// The memory object behind an address or a memory state: a define_global, scratch or stage. Where
// `u` addresses no memory, the first leaf that is reached through sources 0.
inline const UOp* MemoryOf(const UOp* u) {
  while (u->op != Op::kDefineGlobal && u->op != Op::kScratch && u->op != Op::kStage &&
         u->num_srcs > 0) {
    u = u->src(0);
  }
  return u;
}

// The axes that a `stage` is filled along, and the range whose iterations alternate between its two
// buffers. Null if there is only one buffer.
inline const UOp* StageStep(const UOp* stage) {
  return stage->word(2) > 1 ? stage->src(stage->num_srcs - 1) : nullptr;
}
inline UOpSpan StageAxes(const UOp* stage) {
  return stage->srcs().subspan(3, stage->num_srcs - 3u - (stage->word(2) > 1 ? 1u : 0u));
}

// The kernel argument that a memory object (MemoryOf) is. Empty for scratch.
inline UOpSpan ArgumentsOf(const UOp* const& memory) {
  return {&memory, memory->op == Op::kDefineGlobal ? size_t{1} : size_t{0}};
}

UOpSpan ArgumentsOf(const UOp*&& memory) = delete;  // the span may point to it

// Whether `u` is a coordinate of a work-item in its group.
inline bool IsLocalId(const UOp* u) {
  return u->op == Op::kSpecial && u->word() >= static_cast<int64_t>(SpecialName::kLocal0);
}

// Distance, in elements, between the addresses of consecutive lanes of a load or store.
inline int64_t StrideOf(const UOp* access) { return access->word() == 0 ? 1 : access->word(); }
// Span of a vector access from one address: (lanes - 1) * stride. 0 if each lane has an address.
inline int64_t ReachOf(const UOp* access) {
  const DType value = access->op == Op::kLoad ? access->dtype : access->src(1)->dtype;
  return access->src(0)->dtype.lanes() == 1 ? (value.lanes() - 1) * StrideOf(access) : 0;
}

}  // namespace tg

#endif  // TG_IR_UOP_H_
