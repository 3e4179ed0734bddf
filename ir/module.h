// Module: a program, as its text describes it: symbols (buffers and variables), graphs over them,
// and the kernels that the graphs run. Every body owns its Context, so that passes can process
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
#include "ir/dim.h"
#include "ir/dim_expr.h"
#include "ir/dtype.h"
#include "ir/module_flags.h"
#include "ir/uop.h"

namespace tg {

// The version in a file's first line, `tg 1`.
inline constexpr int kFormatVersion = 1;

enum class Role : uint8_t { kInput, kOutput, kParam, kState, kTemp };
std::string_view RoleName(Role r);  // "input", "output", "param", "state", "temp"
std::optional<Role> RoleFromName(std::string_view name);

// A position in the text that the module was read from. Line 0: none.
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

// An extent of a declared buffer: a number, a variable (then `var` is its name), or an expression
// of variables (then `expr` is not empty).
struct DeclDim {
  int64_t size = 0;
  std::string var;
  DimExpr expr = {};

  // None for an extent that no DimExpr can hold.
  static std::optional<DeclDim> From(const Context& context, const Dim& dim);
  // The extent with nodes of this context.
  Dim In(Context& context) const;

  bool is_symbolic() const { return !var.empty() || !expr.empty(); }
  // None if a variable has no value, or the value overflows.
  std::optional<int64_t> Evaluate(const DimExpr::Lookup& lookup) const;
  // As the text format has it.
  std::string Text() const;
  // Calls f(name) for each occurrence of a variable.
  template <typename F>
  void ForEachVar(F&& f) const {
    if (!var.empty()) f(var);
    for (const DimTerm& t : expr.terms()) {
      if (t.op == Op::kVar) f(t.var);
    }
  }
  friend bool operator==(const DeclDim&, const DeclDim&) = default;
};

struct BufferDecl {
  std::string name;
  DType dtype;  // a scalar, or an image
  std::vector<DeclDim> shape;
  Role role = Role::kTemp;
  std::string device;  // empty: the default device
  // The contents of a param, or the initial contents of a state, in file `file` (relative to the
  // module's file): tensor `tensor` of a safetensors file, or packed little-endian elements from
  // byte `offset` of any file. Or literal values (bits, one word an element). Without either, the
  // caller of the module provides a param, and a state starts with zeros.
  std::string file;
  std::string tensor;
  std::optional<int64_t> offset;
  // If not 0, the elements from byte `offset` on are in runs of `run_bytes` bytes, each of which
  // begins `stride_bytes` bytes after the start of the previous one. This is a field in an array of
  // structures.
  int64_t run_bytes = 0, stride_bytes = 0;
  std::optional<std::vector<int64_t>> values;
  Location loc;
};

struct VarDecl {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;  // inclusive
  Location loc;
};

// A condition on the variables that a graph relies on: two extents, given by different expressions,
// must have the same value; or a slice must end within its axis. Kernelize makes requirements, and
// they are checked before each run.
struct Requirement {
  bool is_equality = true;  // left = right; otherwise left <= right
  DimExpr left, right;
  std::string what;  // the node, for messages
  Location loc;
};

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

// The graph with this name runs before the others, once for each set of params. It computes values
// that depend on no input, and stores them in states that the other graphs read.
inline constexpr std::string_view kInitGraph = "init";

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

struct Module {
  std::string name;
  std::string target;  // a preset's name; empty: the default
  ModuleFlags flags;
  std::vector<VarDecl> vars;
  std::vector<BufferDecl> buffers;
  std::vector<Requirement> requirements;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::string path;  // the file it was read from, for messages and relative names

  const BufferDecl* FindBuffer(std::string_view name) const;
  const VarDecl* FindVar(std::string_view name) const;
  Graph* FindGraph(std::string_view name) const;
  Kernel* FindKernel(std::string_view name) const;
};

// Least and greatest value of a declared extent, by the bounds of the variables. None where 64 bits
// do not hold them, or a variable is not declared.
std::optional<DimExpr::Range> BoundsOf(const Module& module, const DeclDim& dim);
// A sentence about the first requirement that these values of variables break; empty if none is
// broken. Requirements with a variable that has no value are skipped.
std::string BrokenRequirement(const Module& module, const DimExpr::Lookup& vars);

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
