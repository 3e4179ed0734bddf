// What several directives check.
#ifndef TG_PASSES_DIRECTIVES_CHECKS_H_
#define TG_PASSES_DIRECTIVES_CHECKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "passes/loop_nest/loop_nest.h"

namespace tg::directive {

template <typename... Parts>
absl::Status Illegal(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Sets `at` to the position of the axis of that name; an error lists the axes that there are.
absl::Status FindAxis(const loop_nest::LoopNest& nest, const std::string& name, size_t& at);

// Fails if an axis can be neither split nor bound: it shares the work-items of another axis,
// another axis shares its work-items, or a value is packed in its steps.
absl::Status CheckUnused(const loop_nest::LoopNest& nest, size_t axis);

// Fails if the axis cannot be split into parts of which one has `size` steps.
absl::Status CheckSplit(const loop_nest::LoopNest& nest, size_t axis, int64_t size);

}  // namespace tg::directive

#endif  // TG_PASSES_DIRECTIVES_CHECKS_H_
