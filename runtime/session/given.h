// The inputs of a run: buffers with contents, variables with values, and the ones that are missing.
#ifndef TG_RUNTIME_SESSION_GIVEN_H_
#define TG_RUNTIME_SESSION_GIVEN_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/decls.h"
#include "runtime/io/host_tensor.h"
#include "runtime/plan/extents.h"

namespace tg {
struct Graph;
struct Module;
}  // namespace tg

namespace tg::runtime {

// The shapes of buffers with contents, by name.
using ShapesByName = std::map<std::string, std::vector<int64_t>, std::less<>>;

// Checks whether a tensor of this type and shape may be given for `name`. NotFound (with the
// existing names) for an unknown name, InvalidArgument for another type or shape.
absl::Status CheckInput(const Declarations& decls, std::string_view name, ElementType type,
                        std::span<const int64_t> shape);

// Returns the declaration of a variable and checks `value`. NotFound if there is no such variable,
// InvalidArgument outside of its bounds.
absl::StatusOr<const VarDecl*> CheckVar(const Declarations& decls, std::string_view name,
                                        int64_t value);

// Returns `given` and the values that follow from the shapes of inputs and from bounds that allow
// only one value.
absl::StatusOr<VarMap> ResolveVars(const Declarations& decls, const VarMap& given,
                                   const ShapesByName& shapes);

// Returns the buffers that a graph reads or writes by name, in the module's order. This function
// and NeedsOf are a part of //runtime/session.
std::vector<const BufferDecl*> BuffersOf(const Module& module, const Graph& graph);

// The buffers and variables that a run of a graph requires.
struct Needs {
  std::vector<const BufferDecl*> buffers;  // see BuffersOf
  std::vector<const VarDecl*> vars;        // without the variables that a `bind` sets

  // Whether the run depends on this variable: by the graph, or by the shape of one of the buffers.
  bool Uses(std::string_view var) const;
};
Needs NeedsOf(const Module& module, const Graph& graph);

// A graph by its name, with what its runs require.
struct GraphNeeds {
  std::string name;
  Needs needs;
};

// Inputs and params without contents, and variables without a value, that runs of several graphs
// require.
struct Missing {
  std::vector<const BufferDecl*> buffers;
  std::vector<const VarDecl*> vars;

  bool any() const { return !buffers.empty() || !vars.empty(); }
  // "input @x (f32[4, @n]), variable @n (1 to 16)"
  std::string ToString() const;
};
Missing FindMissing(std::span<const Needs* const> needs, const VarMap& vars,
                    const ShapesByName& shapes);

// Returns "; there are @a, @b" for the message about an unknown name, or a guess if one is close.
std::string OtherNames(std::string_view wrong, std::span<const std::string_view> names);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_GIVEN_H_
