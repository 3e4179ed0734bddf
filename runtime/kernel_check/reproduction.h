// A module of one kernel with the contents of its buffers, to run it again without its model.
#ifndef TG_RUNTIME_KERNEL_CHECK_REPRODUCTION_H_
#define TG_RUNTIME_KERNEL_CHECK_REPRODUCTION_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/kernel_check/kernel_check.h"

namespace tg::kernel_check {

struct Reproduction {
  std::vector<std::string> files;      // the module first
  std::vector<std::string> arguments;  // of tg-run: options, then the module
  // The same as values: inputs that the module lacks, by name their files; and variables.
  std::map<std::string, std::string> inputs;
  runtime::VarMap vars;
};

// A module with the finding's kernel as it was interpreted, and a graph that runs it. Buffers whose
// shape is fixed have their contents in `data`, from which the module reads them.
std::unique_ptr<Module> MakeReproduction(const Finding& finding, const Module& reference,
                                         const Module& compiled, const std::string& data);

// Writes PATH.uop with that module and PATH.bin with the contents; those of a buffer of symbolic
// shape go to PATH.NAME.npy.
absl::StatusOr<Reproduction> WriteReproduction(const Finding& finding, const Module& reference,
                                               const Module& compiled, const std::string& path);

}  // namespace tg::kernel_check

#endif  // TG_RUNTIME_KERNEL_CHECK_REPRODUCTION_H_
