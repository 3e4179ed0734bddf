// What a run is given, and what it still needs: buffers with contents, variables with values.
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
#include "ir/module.h"
#include "runtime/io/host_tensor.h"
#include "runtime/plan/plan.h"

namespace tg::runtime {

// By buffer with contents: their shape.
using ShapesByName = std::map<std::string, std::vector<int64_t>, std::less<>>;

// Whether a tensor of this type and shape may be given for `name`. NotFound (with the names there
// are) for another name, InvalidArgument for another type or shape.
absl::Status CheckInput(const Module& module, std::string_view name, ElementType type,
                        std::span<const int64_t> shape);

// The declaration of a variable that may have `value`. NotFound where there is no such variable,
// InvalidArgument outside of its bounds.
absl::StatusOr<const VarDecl*> CheckVar(const Module& module, std::string_view name, int64_t value);

// `given` and what follows from the shapes of inputs and from bounds that leave one value.
absl::StatusOr<VarMap> ResolveVars(const Module& module, const VarMap& given,
                                   const ShapesByName& shapes);

// The buffers that a graph reads or writes by name, in the module's order.
std::vector<const BufferDecl*> BuffersOf(const Module& module, const Graph& graph);

// What a run of a graph asks for.
struct Needs {
  std::vector<const BufferDecl*> buffers;  // BuffersOf
  std::vector<const VarDecl*> vars;        // but for those that a `bind` gives their value
};
Needs NeedsOf(const Module& module, const Graph& graph);

// Of what runs of several graphs need: inputs and params without contents, variables without value.
struct Missing {
  std::vector<const BufferDecl*> buffers;
  std::vector<const VarDecl*> vars;

  bool any() const { return !buffers.empty() || !vars.empty(); }
  // "input @x (f32[4, @n]), variable @n (1 to 16)"
  std::string ToString() const;
};
Missing FindMissing(std::span<const Needs* const> needs, const VarMap& vars,
                    const ShapesByName& shapes);

// "; there are @a, @b" after an unknown name, or a guess where one is close.
std::string OtherNames(std::string_view wrong, std::span<const std::string_view> names);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_GIVEN_H_
