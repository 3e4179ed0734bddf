// Module: a program, as its text describes it: symbols (decls.h), graphs over them, and the kernels
// that the graphs run. Every body owns its Context, so that passes can process
// bodies in parallel.
#ifndef TG_IR_MODULE_H_
#define TG_IR_MODULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/context.h"
#include "ir/decls.h"
#include "ir/dim.h"
#include "ir/dim_expr.h"
#include "ir/dtype.h"
#include "ir/module_flags.h"
#include "ir/uop.h"

namespace tg {

// The version in a file's first line, `tg 1`.
inline constexpr int kFormatVersion = 1;

// Names, source locations and origins of a body's nodes, by node id. They are no part of a node's
// identity; passes carry them along with their old-to-new map (Body::CarryOver).
//
// An origin says which node of an imported model a node was made for: "Conv 'conv1'". That of a
// `kernel` node has a line for each node of the model that the kernel computes. Origins are not
// printed.
class SideTable {
 public:
  StringId name(const UOp* u) const { return u->id < rows_.size() ? rows_[u->id].name : 0; }
  Location loc(const UOp* u) const { return u->id < rows_.size() ? rows_[u->id].loc : Location{}; }
  StringId origin(const UOp* u) const { return u->id < rows_.size() ? rows_[u->id].origin : 0; }
  void SetName(const UOp* u, StringId name) { Row(u).name = name; }
  void SetOrigin(const UOp* u, StringId origin) {
    Row(u).origin = origin;
    has_origins_ = true;
  }
  bool has_origins() const { return has_origins_; }
  void SetLoc(const UOp* u, Location loc) { Row(u).loc = loc; }
  // Calls f(node) for each node of `context` with a name, a location or an origin, by ascending
  // ids. f may set these.
  template <typename F>
  void ForEach(const Context& context, F&& f) const {
    for (uint32_t id = 0, n = static_cast<uint32_t>(rows_.size()); id < n; ++id) {
      if (rows_[id].any()) f(context.node(id));
    }
  }
  // Keeps the rows of `nodes` only. Call it before Context::Retain gives them the ids 0, 1, ...
  void Retain(UOpSpan nodes) {
    std::vector<RowData> retained(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]->id < rows_.size()) retained[i] = rows_[nodes[i]->id];
    }
    rows_ = std::move(retained);
  }
  // Gives `to` the name, the location and the origin of `from`, unless `to` has them already.
  void CarryOver(const UOp* from, const UOp* to) {
    if (from == to || from->id >= rows_.size()) return;
    const RowData given = rows_[from->id];
    if (!given.any()) return;
    RowData& row = Row(to);
    if (!row.name) row.name = given.name;
    if (!row.origin) row.origin = given.origin;
    if (!row.loc.line) row.loc = given.loc;
  }

 private:
  struct RowData {
    StringId name = 0;
    StringId origin = 0;
    Location loc;
    bool any() const { return name || origin || loc.line; }
  };
  RowData& Row(const UOp* u) {
    if (u->id >= rows_.size()) rows_.resize(u->id + 1 + rows_.size() / 2);
    return rows_[u->id];
  }
  std::vector<RowData> rows_;
  bool has_origins_ = false;
};

struct Body {
  Body() : context(std::make_unique<Context>()) {}
  std::unique_ptr<Context> context;
  const UOp* root = nullptr;       // the sink
  std::vector<const UOp*> linear;  // Stage::kLinear: every node in execution order, sink last
  SideTable side;
  // Nodes with smaller ids are in the canonical form of passes/simplify. The pass that made them
  // sets this, so that the rules are not tried on them again.
  uint32_t num_simple = 0;

  // If not 0: the nodes with ids below num_ordered are what node num_ordered - 1 reaches, in
  // PostOrder.
  uint32_t num_ordered = 0;

  // PostOrder of the root. Needs no walk if num_ordered gives the order.
  std::vector<const UOp*> Order() const;

  // Gives `to` the name, the location and the origin of `from`, the node of this body that it
  // replaces, unless `to` has them already.
  void CarryOver(const UOp* from, const UOp* to) { side.CarryOver(from, to); }

  // Gives `origin` to the nodes that were made since the context had `first` nodes, unless they
  // have one already or are leaves.
  void SetOrigin(uint32_t first, StringId origin);

  // The node as error messages name it: "assign %a at line 3, column 3", or "buffer @s".
  std::string Describe(const UOp* u) const;
};

// Caches the post-order of a body for a sequence of steps, many of which keep the root.
class RootOrder {
 public:
  explicit RootOrder(const Body& body) : body_(body) {}
  // The nodes that the root reaches, sources first. Valid until the next call.
  UOpSpan Get() {
    if (root_ != body_.root) {
      order_ = body_.Order();
      root_ = body_.root;
    }
    return order_;
  }

 private:
  const Body& body_;
  const UOp* root_ = nullptr;
  std::vector<const UOp*> order_;
};

struct Graph {
  std::string name;
  Body body;
  Location loc;
};

// How the iterations of a kernel's axis are executed (docs/directives.md).
enum class AxisKind : uint8_t {
  kGlobal,
  kLocal,
  kGroup,
  kReduce,
  kUnroll,
  kUpcast,
  kVector,
  kLoop,
  kStage  // a loop that computes a staged value
};
std::string_view AxisKindName(AxisKind k);  // "global", "local", ...
std::optional<AxisKind> AxisKindFromName(std::string_view name);

struct Axis {
  std::string name;
  int64_t size = 0;  // upper bound if the axis is symbolic
  AxisKind kind = AxisKind::kGlobal;
  bool symbolic = false;
  friend bool operator==(const Axis&, const Axis&) = default;
};

// A scheduling directive as text: `local(i0, 4)`. The table is in passes/directives/table.cc.
struct DirectiveArg {
  std::string ident;  // if empty, the argument is the number
  int64_t number = 0;
  friend bool operator==(const DirectiveArg&, const DirectiveArg&) = default;
};
struct Directive {
  std::string name;
  std::vector<DirectiveArg> args;
  friend bool operator==(const Directive&, const Directive&) = default;
};

struct Kernel {
  std::string name;
  Stage stage = Stage::kKernel;
  std::vector<std::string> metadata;  // what the kernel computes, for people
  std::vector<Axis> axes;
  std::vector<Directive> directives;
  Body body;
  Location loc;
};

struct Module : Declarations {
  std::string target;  // a preset's name; empty: the default
  ModuleFlags flags;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<Kernel>> kernels;

  Graph* FindGraph(std::string_view name) const;
  Kernel* FindKernel(std::string_view name) const;
};

// The buffer that `operand` names: an operand of a kernel call, a view, or a version of a buffer.
const UOp* BufferOf(const UOp* operand);

// A deep copy of all nodes that the bodies reach, with names and locations.
std::unique_ptr<Module> Clone(const Module& module);
// Copies what `from` reaches into the empty context of `to`, and sets its root and linear list.
void CloneBody(const Body& from, Body& to);
// Drops nodes that the body does not reach, so that tables indexed by id stay small. The other
// nodes get new ids, which invalidates every such table.
void Compact(Body& body);

}  // namespace tg

#endif  // TG_IR_MODULE_H_
