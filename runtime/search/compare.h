// Whether two schedules of a kernel store the same.
#ifndef TG_RUNTIME_SEARCH_COMPARE_H_
#define TG_RUNTIME_SEARCH_COMPARE_H_

#include <string>

#include "runtime/io/host_tensor.h"

namespace tg::search {

// What differs, with the place; empty if nothing does. A schedule adds up in another order, so that
// floats may differ by rounding: by some units of their type, and by a small part of the greatest
// number of the tensor, since the terms of a sum may be that large. NaN and infinity are equal to
// themselves only.
std::string Difference(const runtime::HostTensor& expected, const runtime::HostTensor& actual);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_COMPARE_H_
