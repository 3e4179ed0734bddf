// Module: a program in text form. Symbols (buffers and variables), graphs over them, and the
// kernels that graphs run. Every body has a Context of its own, so bodies can be worked on in
// parallel.
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
#include "ir/dtype.h"
#include "ir/module_flags.h"
#include "ir/uop.h"

namespace tg {

// The version in a file's first line, `tg 1`.
inline constexpr int kFormatVersion = 1;

enum class Role : uint8_t { kInput, kOutput, kParam, kState, kTemp };
std::string_view RoleName(Role r);  // "input", "output", "param", "state", "temp"
std::optional<Role> RoleFromName(std::string_view name);

// A place in the text it was read from; line 0: none.
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

// An extent of a declared buffer: a number, or a variable (then `var` is its name and the buffer is
// allocated for the variable's upper bound).
struct DeclDim {
  int64_t size = 0;
  std::string var;
  friend bool operator==(const DeclDim&, const DeclDim&) = default;
};

struct BufferDecl {
  std::string name;
  DType dtype;  // a scalar, or an image
  std::vector<DeclDim> shape;
  Role role = Role::kTemp;
  std::string device;  // empty: the default device
  // The bytes of a param, or of a state at first: tensor `tensor` of safetensors file `file`
  // (relative to the module's file), or literal values (bits, one word an element). Without: of a
  // param, given by whoever runs the module; of a state, zeros.
  std::string file;
  std::string tensor;
  std::optional<std::vector<int64_t>> values;
  Location loc;
};

struct VarDecl {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;  // inclusive
  Location loc;
};

// Names and places of a body's nodes, by node id. They are no part of a node's identity; passes
// carry them along by their old-to-new map (Body::CarryOver).
class SideTable {
 public:
  StringId name(const UOp* u) const { return u->id < rows_.size() ? rows_[u->id].name : 0; }
  Location loc(const UOp* u) const { return u->id < rows_.size() ? rows_[u->id].loc : Location{}; }
  void SetName(const UOp* u, StringId name) { Row(u).name = name; }
  void SetLoc(const UOp* u, Location loc) { Row(u).loc = loc; }
  // Calls f(node) for those of `context` that have a name or a place, by ascending ids; f may give
  // others theirs.
  template <typename F>
  void ForEach(const Context& context, F&& f) const {
    for (uint32_t id = 0, n = static_cast<uint32_t>(rows_.size()); id < n; ++id) {
      if (rows_[id].name || rows_[id].loc.line) f(context.node(id));
    }
  }
  // To be called before these nodes get the ids 0, 1, ... and all others are gone.
  void Retain(UOpSpan nodes) {
    std::vector<RowData> kept(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]->id < rows_.size()) kept[i] = rows_[nodes[i]->id];
    }
    rows_ = std::move(kept);
  }
  // Gives `to` the name and place of `from`, unless it has its own.
  void CarryOver(const UOp* from, const UOp* to) {
    if (from == to || from->id >= rows_.size()) return;
    const RowData given = rows_[from->id];
    if (!given.name && !given.loc.line) return;
    RowData& row = Row(to);
    if (!row.name) row.name = given.name;
    if (!row.loc.line) row.loc = given.loc;
  }

 private:
  struct RowData {
    StringId name = 0;
    Location loc;
  };
  RowData& Row(const UOp* u) {
    if (u->id >= rows_.size()) rows_.resize(u->id + 1 + rows_.size() / 2);
    return rows_[u->id];
  }
  std::vector<RowData> rows_;
};

struct Body {
  Body() : context(std::make_unique<Context>()) {}
  std::unique_ptr<Context> context;
  const UOp* root = nullptr;       // the sink
  std::vector<const UOp*> linear;  // Stage::kLinear: every node in execution order, sink last
  SideTable side;
  // Nodes of smaller ids are as the rules of passes/simplify leave them, who made them having said
  // so: they need not be tried again.
  uint32_t num_simple = 0;

  // The context's first nodes are what the root of id num_ordered - 1 reaches, in PostOrder; 0:
  // that is not said of any.
  uint32_t num_ordered = 0;

  // PostOrder of the root, without a walk where that is known.
  std::vector<const UOp*> Order() const;

  // Gives `to` the name and place of `from`, a node of this body that it replaces, unless it has
  // its own.
  void CarryOver(const UOp* from, const UOp* to) { side.CarryOver(from, to); }

  // What messages call a node: "assign %a at line 3, column 3", or "buffer @s".
  std::string Describe(const UOp* u) const;
};

// The graph of this name runs before the others, once for each set of params: it computes what no
// input reaches into states that the others read.
inline constexpr std::string_view kInitGraph = "init";

// What a body's root reaches, sources first, for steps of which many leave the root as it is.
class RootOrder {
 public:
  explicit RootOrder(const Body& body) : body_(body) {}
  // Good until the next call.
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

// How the iterations of a kernel's axis are spread.
enum class AxisKind : uint8_t {
  kGlobal,
  kLocal,
  kGroup,
  kReduce,
  kUnroll,
  kUpcast,
  kVector,
  kLoop,
  kStage  // a loop that fills memory of the kernel
};
std::string_view AxisKindName(AxisKind k);  // "global", "local", ...
std::optional<AxisKind> AxisKindFromName(std::string_view name);

struct Axis {
  std::string name;
  int64_t size = 0;  // a symbolic axis: its greatest size
  AxisKind kind = AxisKind::kGlobal;
  bool symbolic = false;
  friend bool operator==(const Axis&, const Axis&) = default;
};

// One scheduling decision, as text: `local(i0, 4)`. passes/optimize knows what each name means.
struct OptArg {
  std::string ident;  // empty: the number counts
  int64_t number = 0;
  friend bool operator==(const OptArg&, const OptArg&) = default;
};
struct Opt {
  std::string name;
  std::vector<OptArg> args;
  friend bool operator==(const Opt&, const Opt&) = default;
};

struct Kernel {
  std::string name;
  Stage stage = Stage::kKernel;
  std::vector<std::string> metadata;  // what the kernel computes, for people
  std::vector<Axis> axes;
  std::vector<Opt> opts;
  Body body;
  Location loc;
  // What an analysis left for the next pass that asks it, in a form of its own; it sees by itself
  // whether the kernel is as it was. Null: nothing.
  std::shared_ptr<void> kept_analysis;
};

struct Module {
  std::string name;
  std::string target;  // a preset's name; empty: the default
  ModuleFlags flags;
  std::vector<VarDecl> vars;
  std::vector<BufferDecl> buffers;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::string path;  // the file it was read from, for messages and relative names

  const BufferDecl* FindBuffer(std::string_view name) const;
  const VarDecl* FindVar(std::string_view name) const;
  Graph* FindGraph(std::string_view name) const;
  Kernel* FindKernel(std::string_view name) const;
};

// The buffer that an operand of a kernel's call, or a version of a buffer, is or is a part of.
const UOp* BufferOf(const UOp* operand);

// A deep copy: nodes that the bodies reach, names and places included.
std::unique_ptr<Module> Clone(const Module& module);
// Copies what `from` reaches into `to`'s (empty) context; returns nothing, sets root and linear.
void CloneBody(const Body& from, Body& to);
// Drops what the body does not reach, so that tables by node stay small. Nodes get new ids: what
// was known by id is known no more.
void Compact(Body& body);

}  // namespace tg

#endif  // TG_IR_MODULE_H_
