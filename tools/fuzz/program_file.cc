#include "tools/fuzz/program_file.h"

#include <cstdlib>

#include "ir/interpret/random_data.h"
#include "ir/text/parser.h"

namespace tg::fuzz {

absl::StatusOr<testing::RandomProgram> ReadProgram(const std::string& path,
                                                   const std::vector<std::string>& vars,
                                                   uint64_t seed) {
  testing::RandomProgram program;
  auto module = ReadModuleFile(path);
  if (!module.ok()) return module.status();
  program.module = *std::move(module);
  if (program.module->graphs.size() != 1 || !program.module->kernels.empty()) {
    return absl::InvalidArgumentError(path + ": must hold one graph and no kernels");
  }
  program.module->graphs[0]->name = "main";
  for (const VarDecl& v : program.module->vars) program.vars[v.name] = v.max;
  for (const std::string& v : vars) {
    const size_t equal = v.find('=');
    if (equal == std::string::npos || !program.module->FindVar(v.substr(0, equal))) {
      return absl::InvalidArgumentError("'" + v + "' is not VARIABLE=NUMBER");
    }
    program.vars[v.substr(0, equal)] = std::atoll(v.c_str() + equal + 1);
  }
  interpret::RandomDataOptions data;
  data.seed = seed;
  program.inputs = interpret::RandomInputs(*program.module, program.vars, data);
  return program;
}

}  // namespace tg::fuzz
