// The command line of tg-tune.
#ifndef TG_TOOLS_TUNE_TUNE_FLAGS_H_
#define TG_TOOLS_TUNE_TUNE_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/extents.h"
#include "tools/driver/flags.h"
#include "tools/driver/input.h"
#include "tools/driver/model_sizes.h"

namespace tg::tune {

struct TuneFlags {
  std::string record, export_file, graph, target, pass = "default", input_format = "auto";
  std::vector<std::string> devices, merged, var_texts;
  runtime::VarMap vars;  // of var_texts
  driver::ModelSizes sizes;
  driver::AllowedFlags allowed;
  std::optional<int64_t> budget, deadline, sample, seed;
  bool float16 = false, report = false, list_devices = false, version = false, help = false;

  void AddTo(driver::Flags& flags);
  // Checks the values. Errors name the option.
  absl::Status Interpret();
};

}  // namespace tg::tune

#endif  // TG_TOOLS_TUNE_TUNE_FLAGS_H_
