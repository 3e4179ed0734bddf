#include "tools/compile/compile_to_c.h"

#include <utility>
#include <vector>

#include "base/status.h"
#include "base/write_file.h"
#include "codegen/c/renderer.h"
#include "passes/thread_pool.h"
#include "runtime/cpu/code_generator.h"
#include "runtime/export/c_unit.h"
#include "tools/driver/c_files.h"

namespace tg::compile {
namespace {

absl::Status CheckEnding(const std::string& output, std::string_view ending) {
  if (output.ends_with(ending) && driver::CUnitName(output) != "") return absl::OkStatus();
  return InvalidArgument("--output: ", output, " does not end in ", ending,
                         "; functions and the other files have the name before it");
}

// The files of the unit, and `first`.
absl::Status WriteUnit(const Module& module, runtime::CUnit& unit, driver::OutputFile first,
                       const std::string& source) {
  TG_ASSIGN_OR_RETURN(std::vector<driver::OutputFile> files,
                      driver::CUnitFiles(module, unit, first.path));
  files.push_back(std::move(first));
  if (files.back().path != source) files.push_back({source, std::move(unit.source)});
  for (const driver::OutputFile& file : files) {
    TG_RETURN_IF_ERROR(WriteFile(file.path, file.text));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteC(const Module& module, const std::string& output) {
  TG_RETURN_IF_ERROR(CheckEnding(output, ".c"));
  TG_ASSIGN_OR_RETURN(const passes::Target target, passes::FindTarget(module.target));
  passes::ThreadPool workers(0);
  const codegen::Renderer& renderer = module.target == "c" ? c::C17Renderer() : c::C99Renderer();
  TG_ASSIGN_OR_RETURN(runtime::CUnit unit, runtime::MakeCUnit(module, renderer, target, &workers,
                                                              driver::CUnitName(output)));
  std::string source = std::move(unit.source);
  return WriteUnit(module, unit, {output, std::move(source)}, output);
}

absl::Status WriteObject(const Module& module, const passes::Target& target,
                         const std::string& device, const std::string& output) {
  TG_RETURN_IF_ERROR(CheckEnding(output, ".o"));
  passes::ThreadPool workers(0);
  TG_ASSIGN_OR_RETURN(runtime::CUnit unit,
                      runtime::MakeObjectUnit(module, target, &workers, driver::CUnitName(output)));
  TG_ASSIGN_OR_RETURN(std::string object, cpu::Compile(unit.assembly, cpu::Output::kObject));
  const std::string stem = output.substr(0, output.size() - 2);
  unit.source = Cat("// Launches the kernels of ", driver::CUnitName(output),
                    ".o, which is machine code for ", device, ".\n", unit.source);
  return WriteUnit(module, unit, {output, std::move(object)}, stem + ".c");
}

}  // namespace tg::compile
