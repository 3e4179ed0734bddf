// The header of an .npy file: a Python dict literal with three known entries.
#ifndef TG_RUNTIME_IO_NPY_HEADER_H_
#define TG_RUNTIME_IO_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

struct NpyHeaderFields {
  std::string descr;  // such as "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// NumPy arrays have at most 64 dimensions.
inline constexpr size_t kNpyMaxRank = 64;

// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`. Each entry occurs exactly
// once, in any order; only white space may follow the dict. Errors call the file `name`.
absl::StatusOr<NpyHeaderFields> ParseNpyHeader(std::string_view text, std::string_view name);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_NPY_HEADER_H_
