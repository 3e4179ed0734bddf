// The files of a model that is C to link: docs/renderers.md.
#ifndef TG_TOOLS_DRIVER_C_FILES_H_
#define TG_TOOLS_DRIVER_C_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/export/c_unit.h"

namespace tg::driver {

struct OutputFile {
  std::string path, text;
};

// The name of functions, header and weights of a unit that is written to this file.
std::string CUnitName(const std::string& path);

// STEM.h and, if there are weights, STEM.weights.
absl::StatusOr<std::vector<OutputFile>> CUnitFiles(const Module& module, runtime::CUnit& unit,
                                                   const std::string& path);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_C_FILES_H_
