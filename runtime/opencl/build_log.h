// Explains a compiler's log: names the kernel and the line of the source.
#ifndef TG_RUNTIME_OPENCL_BUILD_LOG_H_
#define TG_RUNTIME_OPENCL_BUILD_LOG_H_

#include <string>
#include <string_view>

namespace tg::runtime {

// Returns the first error of `log` with its line of `source`:
//   kernel @r_4: line 2, column 8: use of undeclared identifier 'y'
//       x[0] = y;
//              ^
// An error in a function that is no kernel names the first kernel that calls it, and the function:
//   kernel @r_4, in sum_of: line 1, column 1: ...
// The log follows on a new line (only its first kilobytes if it is long). Locations have the form
// "<file>:LINE:COLUMN: " that compilers based on Clang write; if the log contains none, the result
// is the names of the program's kernels, followed by the log.
std::string DescribeBuildLog(std::string_view log, std::string_view source);

// Whether the log names a line of the source as wrong.
bool NamesPlace(std::string_view log);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_BUILD_LOG_H_
