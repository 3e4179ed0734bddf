// Makes a compiler's log readable: which line of the source, in which kernel.
#ifndef TG_RUNTIME_OPENCL_BUILD_LOG_H_
#define TG_RUNTIME_OPENCL_BUILD_LOG_H_

#include <string>
#include <string_view>

namespace tg::runtime {

// The first error of `log` with its line of `source`:
//   kernel @r_4: line 2, column 8: use of undeclared identifier 'y'
//       x[0] = y;
//              ^
// then, from a new line, the log (its first kilobytes, if it is long). Understands
// "<file>:LINE:COLUMN: ", as compilers that descend from Clang write; the log alone where there is
// no such place.
std::string DescribeBuildLog(std::string_view log, std::string_view source);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_BUILD_LOG_H_
