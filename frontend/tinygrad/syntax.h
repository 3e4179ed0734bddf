// Syntax: the text that tinygrad's `print(uop)` prints, as a graph of its parts. This layer knows
// only Python's notation for values and the names (`x1:=`) that the printer gives to shared nodes;
// the translator (graph_import.h) interprets ops and arguments.
//
// A Text owns all parts. Their views point into the text that was read, which must outlive the
// Text.
#ifndef TG_FRONTEND_TINYGRAD_SYNTAX_H_
#define TG_FRONTEND_TINYGRAD_SYNTAX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "llvm/ADT/STLExtras.h"

namespace tg::tinygrad {

struct Item;
struct Node;

enum class Kind : uint8_t {
  kNone,
  kBool,
  kInt,     // of any size
  kFloat,   // includes inf and nan
  kString,  // with its quotes and escapes, see Unquote
  kName,    // dtypes.float, Ops.ADD; also an enum printed as <Ops.ADD: 48>
  kTuple,   // includes lists
  kCall,    // callee(items); a method's callee begins with '.' and its receiver is item 0
  kOpaque,  // <...>
  kUOp,
};

struct Value {
  Kind kind = Kind::kNone;
  uint32_t count = 0;        // number of items
  uint32_t size = 0;         // bytes of the text, or of a call's callee
  const char* at = nullptr;  // start of its text
  union {
    int64_t number = 0;  // kBool, kInt (modulo 2^64)
    double real;         // kFloat
    const Item* items;   // kTuple, kCall
    const Node* node;    // kUOp
  };

  std::string_view text() const { return {at, size}; }
  std::span<const Item> list() const;
  bool is_name(std::string_view name) const { return kind == Kind::kName && text() == name; }
  bool is_call(std::string_view callee) const { return kind == Kind::kCall && text() == callee; }
};

// An item of a tuple or a call. `key` is empty for a positional one.
struct Item {
  std::string_view key;
  Value value;
};

inline std::span<const Item> Value::list() const {
  if (kind != Kind::kTuple && kind != Kind::kCall) return {};
  return {items, count};
}

// A printed UOp. Sources precede their users in Text::nodes.
struct Node {
  std::string_view op;  // without "Ops."
  Value dtype, arg;
  const Item* src_items = nullptr;
  uint32_t num_srcs = 0;
  uint32_t id = 0;      // its index in Text::nodes
  bool in_arg = false;  // printed inside an argument of another node
  // Index among the nodes of one graph or kernel; the current Demand assigns it.
  mutable uint32_t slot = UINT32_MAX;
  Location loc;

  const Node* src(size_t i) const { return src_items[i].value.node; }
};

// A line `# ...` before, between or after UOps, without the '#'.
struct Comment {
  std::string_view text;
  Location loc;
};

class Text {
 public:
  explicit Text(std::string_view source) : source_(source) {}

  // All nodes, in the order in which their texts end.
  std::deque<Node> nodes;
  // The UOps that are not inside any other, in the order of the text.
  std::vector<const Node*> roots;
  std::vector<Comment> comments;
  // Whether the text is a list of the roots.
  bool is_list = false;

  // The location of `at`, which points into the text.
  Location LocationOf(const char* at) const;

  // Copies the items into this Text.
  const Item* Keep(const Item* items, size_t count);

 private:
  std::string_view source_;
  std::vector<std::unique_ptr<Item[]>> chunks_;
  size_t used_ = 0, capacity_ = 0;
};

// Calls `visit` for each UOp in an argument, but not for UOps below it.
void ForEachNodeIn(const Value& arg, llvm::function_ref<void(const Node*)> visit);

// The value of a string literal: no quotes, escapes resolved.
std::string Unquote(std::string_view quoted);

// The item `key` of a call, or else the positional item `position`; null if there is neither.
const Value* FindItem(const Value& call, std::string_view key, size_t position = SIZE_MAX);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_SYNTAX_H_
