// Declarations: the symbols of a module, which are buffers and variables. They are what a caller of
// the module sees, and they hold no node, so that code without graphs can use them.
#ifndef TG_IR_DECLS_H_
#define TG_IR_DECLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dim_expr.h"
#include "ir/dtype.h"

namespace tg {

class Context;
class Dim;

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

  // None for an extent that no DimExpr can hold. This function and the next are a part of //ir.
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

// The graph with this name runs before the others, once for each set of params. It computes values
// that depend on no input, and stores them in states that the other graphs read.
inline constexpr std::string_view kInitGraph = "init";

struct Declarations {
  std::string name;  // of the module
  std::vector<VarDecl> vars;
  std::vector<BufferDecl> buffers;
  std::vector<Requirement> requirements;
  std::string path;  // the file it was read from, for messages and relative names

  const BufferDecl* FindBuffer(std::string_view buffer) const;
  const VarDecl* FindVar(std::string_view var) const;
};

// Least and greatest value of a declared extent, by the bounds of the variables. None where 64 bits
// do not hold them, or a variable is not declared.
std::optional<DimExpr::Range> BoundsOf(const Declarations& decls, const DeclDim& dim);
// A sentence about the first requirement that these values of variables break; empty if none is
// broken. Requirements with a variable that has no value are skipped.
std::string BrokenRequirement(const Declarations& decls, const DimExpr::Lookup& vars);

}  // namespace tg

#endif  // TG_IR_DECLS_H_
