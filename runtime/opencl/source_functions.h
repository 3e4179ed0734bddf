// The functions of a program in OpenCL C, and which of them are called by which kernel.
#ifndef TG_RUNTIME_OPENCL_SOURCE_FUNCTIONS_H_
#define TG_RUNTIME_OPENCL_SOURCE_FUNCTIONS_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace tg::runtime {

struct SourceFunction {
  std::string_view name;  // empty if the braces belong to another declaration, such as a struct
  std::string_view body;  // with its braces
  bool is_kernel = false;
  size_t end = 0;  // offset behind the body
};

// Returns the functions that `source` defines, in order. Comments must be `//` comments, and braces
// in strings are not recognised: sources are those of the renderer.
std::vector<SourceFunction> FunctionsIn(std::string_view source);

// Returns the function at the offset, or else the next one; null behind the last one.
const SourceFunction* FunctionAt(const std::vector<SourceFunction>& functions, size_t offset);

// Returns the function itself if it is a kernel, else the first kernel that calls it, maybe through
// other functions. Null if there is none.
const SourceFunction* KernelThatUses(const std::vector<SourceFunction>& functions,
                                     const SourceFunction& function);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_SOURCE_FUNCTIONS_H_
