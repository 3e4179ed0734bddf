#include "ir/context.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "ir/attr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

namespace tg {
namespace {

constexpr size_t kFirstSlots = 1024;

inline uint64_t Mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9fb21c651e98df25ull;
  return h ^ (h >> 32);
}

inline uint32_t HashNode(Op op, const DType& dtype, UOpSpan srcs, Attr attr) {
  // A sum of products: they do not depend on each other, so that a processor computes them in
  // parallel. The sum is mixed at the end.
  const auto [type, size] = dtype.Words();
  uint64_t h = (static_cast<uint64_t>(op) + 1) * 0x9fb21c651e98df25ull;
  h += (type + size) * 0xd6e8feb86659fd93ull;
  h += attr.bits * 0xa0761d6478bd642full;
  uint64_t factor = 0xe7037ed1a0b428dbull;
  for (const UOp* s : srcs) {
    h += (uint64_t{s->hash} + 1) * factor;
    factor += 0x8ebc6af09c88c6e2ull;  // factors stay odd
  }
  h = (h ^ (h >> 32)) * 0x9fb21c651e98df25ull;
  return static_cast<uint32_t>(h >> 32);
}

// As in HashNode, a sum of products that do not depend on each other, since lists of lanes are
// long.
uint32_t HashWords(std::span<const int64_t> head, std::span<const int64_t> rest) {
  uint64_t h = 0, factor = 0xe7037ed1a0b428dbull;
  const auto add = [&](int64_t word) {
    h += static_cast<uint64_t>(word) * factor;
    factor = std::rotl(factor, 23) + 0x8ebc6af09c88c6e3ull;
  };
  for (int64_t w : head) add(w);
  for (int64_t w : rest) add(w);
  return static_cast<uint32_t>(Mix(h, h >> 32) >> 32);
}

// As HasSources, without a call of memcmp.
bool SameWords(std::span<const int64_t> words, const int64_t* others) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != others[i]) return false;
  }
  return true;
}

uint32_t HashString(std::string_view s) {
  uint64_t h = s.size();
  for (char c : s) h = Mix(h, static_cast<unsigned char>(c));
  return static_cast<uint32_t>(h ^ (h >> 29));
}

// At most half of the slots are full: probes are short.
size_t SlotsFor(size_t nodes, size_t least) {
  while (least < nodes * 2) least *= 2;
  return least;
}

uint64_t NextSerial() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

class Context::Arena : public llvm::BumpPtrAllocatorImpl<llvm::MallocAllocator, 1 << 14> {};

Context::Context() : arena_(std::make_unique<Arena>()), serial_(NextSerial()) {
  table_.assign(kFirstSlots, 0);
  attr_table_.assign(64, nullptr);
  string_table_.assign(64, 0);
  strings_.push_back({});
}
Context::~Context() = default;

void Context::Reserve(size_t n) {
  nodes_.reserve(n);
  const size_t want = SlotsFor(n, table_.size());
  if (want == table_.size()) return;
  table_ = std::vector<uint32_t>(want);
  for (const UOp* u : nodes_) Enter(u->hash, u->id);
}

// Adds a node that the table does not hold.
inline void Context::Enter(uint32_t hash, uint32_t id) {
  const auto mask = static_cast<uint32_t>(table_.size() - 1);
  uint32_t i = hash & mask;
  while (table_[i]) i = (i + 1) & mask;
  table_[i] = (hash & ~mask) | (id + 1);
}

// Small tables grow fourfold, since most tables of kernels end at a few thousand slots; larger ones
// double.
void Context::Grow() { Reserve(table_.size() < 4096 ? 2 * table_.size() : table_.size()); }

size_t Context::bytes_used() const {
  return arena_->getTotalMemory() + table_.capacity() * sizeof(uint32_t) +
         nodes_.capacity() * sizeof(void*) + attr_table_.capacity() * sizeof(void*) +
         strings_.capacity() * sizeof(std::string_view);
}

// The arena's own allocation is a call, and nodes are most of what is allocated.
inline void* Context::AllocateNode(size_t bytes) {
  constexpr size_t kChunk = 4096;  // a slab of the arena is some of these
  if (static_cast<size_t>(free_end_ - free_begin_) < bytes) {
    const size_t size = std::max(bytes, kChunk);
    free_begin_ = static_cast<char*>(arena_->Allocate(size, llvm::Align(alignof(UOp))));
    free_end_ = free_begin_ + size;
  }
  return std::exchange(free_begin_, free_begin_ + bytes);
}

inline void Context::NoteId(const UOp* u) {
  if (u->op != Op::kRange && u->op != Op::kScratch && u->op != Op::kGroupReduce &&
      u->op != Op::kStage) {
    return;
  }
  const int64_t id = u->word(u->op == Op::kGroupReduce ? 1 : 0);
  if (id >= next_id_ && id < INT64_MAX) next_id_ = id + 1;
}

const UOp* Context::Make(Op op, DType dtype, UOpSpan srcs, Attr attr) {
  const uint32_t hash = HashNode(op, dtype, srcs, attr);
  const auto mask = static_cast<uint32_t>(table_.size() - 1);
  uint32_t i = hash & mask;
  for (; const uint32_t slot = table_[i]; i = (i + 1) & mask) {
    if (((slot ^ hash) & ~mask) != 0) continue;
    const UOp* u = nodes_[(slot & mask) - 1];
    if (u->op == op && u->attr == attr && u->dtype == dtype && HasSources(u, srcs)) return u;
  }
  auto* u = static_cast<UOp*>(AllocateNode(sizeof(UOp) + srcs.size_bytes()));
  u->op = op;
  u->num_srcs = static_cast<uint32_t>(srcs.size());
  u->id = static_cast<uint32_t>(nodes_.size());
  u->hash = hash;
  u->dtype = dtype;
  u->attr = attr;
  for (size_t k = 0; k < srcs.size(); ++k) u->src_tail[k] = srcs[k];
  NoteId(u);
  nodes_.push_back(u);
  table_[i] = (hash & ~mask) | static_cast<uint32_t>(nodes_.size());
  if (nodes_.size() * 2 > table_.size()) Grow();
  return u;
}

void Context::Retain(std::vector<const UOp*> nodes) {
  nodes_ = std::move(nodes);
  // The next pass usually makes several times as many nodes.
  table_.assign(SlotsFor(4 * nodes_.size(), kFirstSlots), 0);
  nodes_.reserve(table_.size() / 2);
  next_id_ = 0;
  for (uint32_t id = 0; id < num_nodes(); ++id) {
    auto* u = const_cast<UOp*>(nodes_[id]);
    u->id = id;
    Enter(u->hash, id);
    NoteId(u);
  }
}

const UOp* Context::Rebuild(const UOp* u, const Context& from, UOpSpan srcs) {
  if (&from == this && HasSources(u, srcs)) return u;
  return Make(u->op, u->dtype, srcs, &from == this ? u->attr : ImportAttr(u->op, u->attr, from));
}

Attr Context::MakeAttr(Op op, std::span<const int64_t> words) {
  if (!HasAttr(op)) return {};
  if (HasInlineAttr(op)) {
    TG_CHECK(words.size() == 1);
    return {static_cast<uint64_t>(words[0])};
  }
  return InternWords(words, {}, HashWords(words, {}));
}

Attr Context::MakeListAttr(Op op, std::span<const int64_t> items) {
  TG_CHECK(HasAttr(op) && !HasInlineAttr(op));
  const auto size = static_cast<int64_t>(items.size());
  const std::span head(&size, 1);
  return InternWords(head, items, HashWords(head, items));
}

Attr Context::InternWords(std::span<const int64_t> head, std::span<const int64_t> rest,
                          uint32_t hash) {
  const size_t size = head.size() + rest.size();
  size_t mask = attr_table_.size() - 1;
  size_t i = hash & mask;
  for (; const AttrData* a = attr_table_[i]; i = (i + 1) & mask) {
    if (a->hash == hash && a->size == size && SameWords(head, a->words) &&
        SameWords(rest, a->words + head.size())) {
      return {reinterpret_cast<uint64_t>(a)};
    }
  }
  auto* a = static_cast<AttrData*>(
      arena_->Allocate(sizeof(AttrData) + size * sizeof(int64_t), llvm::Align(8)));
  a->size = static_cast<uint32_t>(size);
  a->hash = hash;
  std::copy(rest.begin(), rest.end(), std::copy(head.begin(), head.end(), a->words));
  attr_table_[i] = a;
  if (++num_attrs_ * 2 > attr_table_.size()) {
    std::vector<const AttrData*> old(attr_table_.size() * 2, nullptr);
    old.swap(attr_table_);
    mask = attr_table_.size() - 1;
    for (const AttrData* e : old) {
      if (!e) continue;
      size_t k = e->hash & mask;
      while (attr_table_[k]) k = (k + 1) & mask;
      attr_table_[k] = e;
    }
  }
  return {reinterpret_cast<uint64_t>(a)};
}

Attr Context::ImportAttr(Op op, Attr attr, const Context& from) {
  if (!HasAttr(op)) return {};
  if (HasInlineAttr(op)) {
    return HasStrings(op) ? Attr{Intern(from.String(static_cast<StringId>(attr.bits)))} : attr;
  }
  const auto* data = reinterpret_cast<const AttrData*>(attr.bits);
  if (!HasStrings(op)) return InternWords({data->words, data->size}, {}, data->hash);
  const OpInfo& info = GetOpInfo(op);
  llvm::SmallVector<int64_t, 16> words(data->words, data->words + data->size);
  ForEachStringWord(
      info, words, [&](int64_t& word) { word = Intern(from.String(static_cast<StringId>(word))); });
  return MakeAttr(op, std::span<const int64_t>(words.data(), words.size()));
}

StringId Context::Intern(std::string_view s) {
  if (s.empty()) return 0;
  size_t mask = string_table_.size() - 1;
  size_t i = HashString(s) & mask;
  for (; uint32_t id = string_table_[i]; i = (i + 1) & mask) {
    if (strings_[id] == s) return id;
  }
  char* copy = static_cast<char*>(arena_->Allocate(s.size(), llvm::Align(1)));
  std::memcpy(copy, s.data(), s.size());
  const auto id = static_cast<StringId>(strings_.size());
  strings_.emplace_back(copy, s.size());
  string_table_[i] = id;
  if (strings_.size() * 2 > string_table_.size()) {
    string_table_.assign(string_table_.size() * 2, 0);
    mask = string_table_.size() - 1;
    for (uint32_t k = 1; k < strings_.size(); ++k) {
      size_t at = HashString(strings_[k]) & mask;
      while (string_table_[at]) at = (at + 1) & mask;
      string_table_[at] = k;
    }
  }
  return id;
}

}  // namespace tg
