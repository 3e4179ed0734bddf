#include "tools/driver/c_files.h"

#include <utility>

#include "base/status.h"

namespace tg::driver {
namespace {

// Without the ending, which may be of any length.
std::string StemOf(const std::string& path) { return path.substr(0, path.rfind('.')); }

}  // namespace

std::string CUnitName(const std::string& path) {
  const std::string stem = StemOf(path);
  return stem.substr(stem.rfind('/') + 1);
}

absl::StatusOr<std::vector<OutputFile>> CUnitFiles(const Module& module, runtime::CUnit& unit,
                                                   const std::string& path) {
  std::vector<OutputFile> files;
  files.push_back({StemOf(path) + ".h", std::move(unit.header)});
  if (unit.weights_bytes > 0) {
    TG_ASSIGN_OR_RETURN(std::string weights, runtime::ReadCWeights(module, unit));
    files.push_back({StemOf(path) + ".weights", std::move(weights)});
  }
  return files;
}

}  // namespace tg::driver
