// A part of an axis that a directive splits off and binds.
#ifndef TG_PASSES_DIRECTIVES_PART_H_
#define TG_PASSES_DIRECTIVES_PART_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
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
absl::Status FindAxis(const LoopNest& nest, const std::string& name, size_t& at);

// Fails if an axis can be neither split nor bound: others share its work-items, or copies are made
// in its steps.
absl::Status CheckUnused(const LoopNest& nest, size_t axis);

// Fails if the axis cannot be split into parts of which one has `size` steps.
absl::Status CheckSplit(const LoopNest& nest, size_t axis, int64_t size);

// `size` steps of an axis, or all of it.
struct Part {
  std::string axis;
  std::optional<int64_t> size;

  // Fails if the axis is of none of these kinds, if no part of this size can be split off, or if it
  // is over `limit`. `symbolic`: all of a symbolic axis will do.
  absl::Status CheckOf(const LoopNest& nest, std::initializer_list<AxisKind> kinds, int64_t limit,
                       bool symbolic = false) const;
  // Splits the part off, as the inner axis unless `is_outer`, and binds it. Returns its position.
  size_t Bind(LoopNest& nest, AxisKind kind, bool is_outer = false) const;
};

}  // namespace tg::directive

#endif  // TG_PASSES_DIRECTIVES_PART_H_
