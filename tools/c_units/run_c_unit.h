// For tests: compiles a C unit, links it to a small program, and runs that.
#ifndef TG_TOOLS_C_UNITS_RUN_C_UNIT_H_
#define TG_TOOLS_C_UNITS_RUN_C_UNIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"
#include "runtime/export/c_unit.h"

namespace tg::c_units {

struct RunOptions {
  std::string compiler = "gcc";
  std::string flags = "-std=c17 -O1";  // of the unit
  std::string link_flags;
  std::string short_buffer;  // this buffer gets one element less than the module declares
};

// Runs graph `main` of a linear module, after @init if it has one, on copies of `inputs`. Returns
// all buffers that are not temporary. A warning of the compiler is an error, and so is a report of
// a sanitizer: its first lines are the message.
absl::StatusOr<interpret::HostBuffers> RunCUnit(const runtime::CUnit& unit, const Module& module,
                                                const interpret::HostBuffers& inputs,
                                                const interpret::VarValues& vars,
                                                const RunOptions& options);

}  // namespace tg::c_units

#endif  // TG_TOOLS_C_UNITS_RUN_C_UNIT_H_
