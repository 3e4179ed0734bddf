// Context: the arena and unique table of one body's UOps, its attributes and its strings.
// Belongs to one thread. Everything in it lives until it dies.
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

  // The one node with these parts. Checks nothing but the arity: ir/builder.h infers types, the
  // verifier judges.
  const UOp* Make(Op op, DType dtype, UOpSpan srcs, Attr attr = {});
  const UOp* Make(Op op, DType dtype, std::initializer_list<const UOp*> srcs, Attr attr = {}) {
    return Make(op, dtype, UOpSpan(srcs.begin(), srcs.size()), attr);
  }
  // `u`, which may be of another Context, with other sources (of this one).
  const UOp* Rebuild(const UOp* u, const Context& from, UOpSpan srcs);

  // The attribute for `op` made of these words (see Attr for the encoding).
  Attr MakeAttr(Op op, std::span<const int64_t> words);
  Attr MakeAttr(Op op, std::initializer_list<int64_t> words) {
    return MakeAttr(op, std::span<const int64_t>(words.begin(), words.size()));
  }
  // The same of an op whose only field is a list, of these items.
  Attr MakeListAttr(Op op, std::span<const int64_t> items);
  // An attribute that holds strings, moved here from another Context.
  Attr ImportAttr(Op op, Attr attr, const Context& from);

  StringId Intern(std::string_view s);
  std::string_view String(StringId id) const { return strings_[id]; }

  uint32_t num_nodes() const { return static_cast<uint32_t>(nodes_.size()); }
  const UOp* node(uint32_t id) const { return nodes_[id]; }
  std::vector<const UOp*> FirstNodes(uint32_t n) const {
    return {nodes_.begin(), nodes_.begin() + static_cast<ptrdiff_t>(n)};
  }
  // Makes room for `n` nodes.
  void Reserve(size_t n);
  // Forgets all nodes but these, of which sources stand before users; their ids are now 0, 1, ...
  // Attributes, strings and the memory of the others stay until the Context dies.
  void Retain(std::vector<const UOp*> nodes);
  size_t bytes_used() const;

  // Its own in this process: that of no other Context, living or dead.
  uint64_t serial() const { return serial_; }

  // Range and scratch ids that no node of this Context has used so far.
  int64_t NextId() { return next_id_++; }

 private:
  class Arena;
  void Grow();
  void* AllocateNode(size_t bytes);
  // Ids of ranges and scratch areas that others gave stay behind NextId.
  void NoteId(const UOp* u);
  // The words are those of `head` and then those of `rest`.
  Attr InternWords(std::span<const int64_t> head, std::span<const int64_t> rest, uint32_t hash);

  std::unique_ptr<Arena> arena_;
  char *room_ = nullptr, *room_end_ = nullptr;  // the arena's, for nodes
  void Enter(uint32_t hash, uint32_t id);

  // Open addressing, a power of two. A slot has 1 + the id of its node, which takes no more bits
  // than its own number does, and above these the hash's: most slots that a probe passes need no
  // look at their node. 0: empty.
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
