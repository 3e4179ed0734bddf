// Upper bounds of symbolic extents.
#ifndef TG_FRONTEND_TINYGRAD_EXTENTS_H_
#define TG_FRONTEND_TINYGRAD_EXTENTS_H_

#include <cstdint>
#include <optional>

#include "ir/dim.h"
#include "ir/module.h"

namespace tg::tinygrad {

// An upper bound of the extent for all values of its variables; exact for a weighted sum of
// variables. Returns nullopt if the extent contains other ops than sums, products, maxima, minima
// and quotients by numbers, or has no bound below 2^62.
std::optional<int64_t> LargestExtent(const Module& module, const Context& ctx, const Dim& extent);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_EXTENTS_H_
