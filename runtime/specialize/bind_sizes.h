// Replaces variables of a module by numbers.
#ifndef TG_RUNTIME_SPECIALIZE_BIND_SIZES_H_
#define TG_RUNTIME_SPECIALIZE_BIND_SIZES_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/plan/extents.h"

namespace tg::specialize {

// A copy of the module with one of its graphs, in which each variable of `vars` has become its
// value: in the graph's arithmetic, the shapes of its nodes, and those of declared buffers. The
// copy does not declare these variables. A variable that the graph itself binds stays one.
// Unimplemented for what a graph alone does not say: kernels, and an @init of the module's
// own.
absl::StatusOr<std::unique_ptr<Module>> BindSizes(const Module& module, std::string_view graph,
                                                  const runtime::VarMap& vars);

}  // namespace tg::specialize

#endif  // TG_RUNTIME_SPECIALIZE_BIND_SIZES_H_
