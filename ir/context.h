// Context: the arena and unique table of one body's UOps, its attributes and its strings.
// Used by one thread at a time. Everything in it lives as long as the Context.
#ifndef TG_IR_CONTEXT_H_
#define TG_IR_CONTEXT_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/uop.h"

namespace tg {

using StringId = uint32_t;  // 0 is the empty string

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The unique node with these parts, created if it does not exist. Checks the arity only;
  // ir/builder.h infers types, and the verifier checks the rest.
  const UOp* Make(Op op, DType dtype, UOpSpan srcs, Attr attr = {});
  const UOp* Make(Op op, DType dtype, std::initializer_list<const UOp*> srcs, Attr attr = {}) {
    return Make(op, dtype, UOpSpan(srcs.begin(), srcs.size()), attr);
  }
  // A copy of `u` (of Context `from`) with sources `srcs` of this Context.
  const UOp* Rebuild(const UOp* u, const Context& from, UOpSpan srcs);

  // The attribute for `op` made of these words (see Attr for the encoding).
  Attr MakeAttr(Op op, std::span<const int64_t> words);
  Attr MakeAttr(Op op, std::initializer_list<int64_t> words) {
    return MakeAttr(op, std::span<const int64_t>(words.begin(), words.size()));
  }
  // The attribute of an op whose only field is a list.
  Attr MakeListAttr(Op op, std::span<const int64_t> items);
  // A copy of an attribute of Context `from`, whose strings are interned here.
  Attr ImportAttr(Op op, Attr attr, const Context& from);

  StringId Intern(std::string_view s);
  std::string_view String(StringId id) const { return strings_[id]; }

  uint32_t num_nodes() const { return static_cast<uint32_t>(nodes_.size()); }
  const UOp* node(uint32_t id) const { return nodes_[id]; }
  std::vector<const UOp*> FirstNodes(uint32_t n) const {
    return {nodes_.begin(), nodes_.begin() + static_cast<ptrdiff_t>(n)};
  }
  // Allocates tables for `n` nodes.
  void Reserve(size_t n);
  // Removes all nodes except `nodes`, which must be ordered sources first and get the ids 0, 1, ...
  // Attributes, strings and the memory of removed nodes are only freed with the Context.
  void Retain(std::vector<const UOp*> nodes);
  size_t bytes_used() const;

  // Unique in this process; never reused by another Context.
  uint64_t serial() const { return serial_; }

  // Range and scratch ids that no node of this Context has used so far.
  int64_t NextId() { return next_id_++; }

 private:
  class Arena;
  void Grow();
  void* AllocateNode(size_t bytes);
  // Keeps NextId above the range and scratch ids of nodes that were made with explicit ids.
  void NoteId(const UOp* u);
  // The words of `head` followed by those of `rest`.
  Attr InternWords(std::span<const int64_t> head, std::span<const int64_t> rest, uint32_t hash);

  std::unique_ptr<Arena> arena_;
  char *free_begin_ = nullptr, *free_end_ = nullptr;  // free part of the arena's block
  void Enter(uint32_t hash, uint32_t id);

  // Open addressing; the size is a power of two. A slot is 0 if it is empty. Else its low bits,
  // log2 of the size, are 1 + the id of a node, and its high bits are bits of the node's hash, so
  // that most probes need not load the node.
  std::vector<uint32_t> table_;
  std::vector<const UOp*> nodes_;
  std::vector<const AttrData*> attr_table_;
  size_t num_attrs_ = 0;
  std::vector<uint32_t> string_table_;
  std::vector<std::string_view> strings_;
  int64_t next_id_ = 0;
  const uint64_t serial_;
};

}  // namespace tg

#endif  // TG_IR_CONTEXT_H_
