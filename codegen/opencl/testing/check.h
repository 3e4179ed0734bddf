// For tests: a kernel in the interpreter and on the device must give the same values.
#ifndef TG_CODEGEN_OPENCL_TESTING_CHECK_H_
#define TG_CODEGEN_OPENCL_TESTING_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/compare.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"

namespace tg {

// Linearizes the module's only kernel (stage expanded) with `shuffle`, renders it for its target,
// and runs it both ways on copies of `buffers` (by slot; an element that is not defined starts as
// rubbish). What differs, or an error, with the source; "" where all is well. `tolerance` counts
// for every buffer that is written; `written`, if given, gets the buffers as the interpreter left
// them.
std::string CheckOnDevice(Module& module, const std::vector<HostBuffer>& buffers,
                          const VarValues& vars = {}, const Tolerance& tolerance = {},
                          int64_t shuffle = -1);

// The same with both results handed out instead of compared.
struct BothResults {
  std::string error, source;
  std::vector<HostBuffer> expected, actual;
};
BothResults RunBothWays(Module& module, const std::vector<HostBuffer>& buffers,
                        const VarValues& vars = {}, int64_t shuffle = -1);

}  // namespace tg

#endif  // TG_CODEGEN_OPENCL_TESTING_CHECK_H_
