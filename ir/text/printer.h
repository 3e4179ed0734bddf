// Prints modules as text: the inverse of ir/text/parser.h. The text reads back as the same module
// and prints the same again, byte for byte; equal modules print equally on every machine.
//
// Sources precede users, in a depth-first post-order from the sink that visits sources from left to
// right; the linear stage keeps its order. Nodes without a name are numbered in print order.
#ifndef TG_IR_TEXT_PRINTER_H_
#define TG_IR_TEXT_PRINTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ir/uop.h"
#include "ir/walk.h"

namespace tg {

std::string PrintModule(const Module& module);
std::string PrintGraph(const Graph& graph);
std::string PrintKernel(const Kernel& kernel);
// Prints the nodes that the body reaches as statements, without braces.
std::string PrintBody(const Body& body);

// Prints statements of one body with the names that they have in its printed form.
class NodePrinter {
 public:
  // Names and numbers all nodes that the body reaches, in time linear in its size.
  explicit NodePrinter(const Body& body);

  // The nodes in print order.
  const std::vector<const UOp*>& order() const { return order_; }
  // Appends "%3 = add %1, %2 : f32", without a line end. A node outside `order` is printed with the
  // name that the text gave it, or as %?.
  void Append(std::string& out, const UOp* u) const;
  std::string ToString(const UOp* u) const;
  // "%3"
  std::string Name(const UOp* u) const;

 private:
  class NameChooser;
  void AppendName(std::string& out, const UOp* u) const;
  void AppendFields(std::string& out, const UOp* u) const;

  const Body& body_;
  std::vector<const UOp*> order_;
  // By node: 0 if not in the body, kNoName, n+1 for %n, or kFirstName + an index into names_.
  static constexpr uint32_t kNoName = 0xffffffff, kFirstName = 0x80000000;
  NodeMap<uint32_t> labels_;
  std::vector<std::string_view> names_;
  std::vector<std::string> made_up_;  // owns the names that were changed
};

// Prints one node, named as in the body's printed form. Linear in the body: use a NodePrinter for
// several nodes.
std::string PrintNode(const Body& body, const UOp* u);

// Appends a string literal.
void AppendQuoted(std::string& out, std::string_view s);

}  // namespace tg

#endif  // TG_IR_TEXT_PRINTER_H_
