// For tests: a kernel must give the same values in the interpreter and on the device.
#ifndef TG_CODEGEN_OPENCL_TESTING_CHECK_KERNEL_H_
#define TG_CODEGEN_OPENCL_TESTING_CHECK_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/compare_values.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"

namespace tg::opencl {

// Linearizes the module's only kernel (stage expanded) with `shuffle`, renders it for its target,
// and runs it in the interpreter and on the device with copies of `buffers` (by slot; undefined
// elements start with arbitrary values). Returns the differences or an error, with the source; ""
// if there are none. `tolerance` applies to every written buffer; `written`, if given, receives the
// interpreter's buffers.
std::string CheckOnDevice(Module& module, const std::vector<interpret::HostBuffer>& buffers,
                          const interpret::VarValues& vars = {},
                          const interpret::Tolerance& tolerance = {}, int64_t shuffle = -1);

// Does the same but returns both results without comparing them.
struct BothResults {
  std::string error, source;
  std::vector<interpret::HostBuffer> expected, actual;
};
BothResults RunBothWays(Module& module, const std::vector<interpret::HostBuffer>& buffers,
                        const interpret::VarValues& vars = {}, int64_t shuffle = -1);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_TESTING_CHECK_KERNEL_H_
