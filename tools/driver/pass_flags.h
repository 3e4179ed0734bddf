// The options about passes that tools share: what to print, count, time, check and reproduce.
#ifndef TG_TOOLS_DRIVER_PASS_FLAGS_H_
#define TG_TOOLS_DRIVER_PASS_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"
#include "passes/instrument/report.h"
#include "passes/pass_registry.h"
#include "passes/pipeline_text.h"
#include "tools/driver/flags.h"

namespace tg::driver {

struct PassFlags {
  std::string target;  // empty: the module's target
  std::vector<std::string> print_before, print_after;
  bool print_before_all = false, print_after_all = false, print_changed = false;
  std::string color = "auto";
  bool verify_each = true, check = false, time_passes = false, stats = false;
  std::optional<int64_t> bisect_limit, check_seed, jobs;
  std::string dump_dir;
  std::string crash_reproducer;

  void AddTo(Flags& flags);
  // Validates the values, and replaces former names of passes; an error is a usage error.
  absl::Status Check(const passes::PassRegistry& registry);

  // Runs the pipeline on the module, which was read from `input`, according to the options. Prints
  // to standard error. `tool` is the tool's name, for reproducers. Appends the times of the parts.
  absl::Status Run(passes::Pipeline pipeline, const std::string& tool, std::string_view input,
                   Module& module, std::vector<instrument::TimeRow>& times) const;
};

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_PASS_FLAGS_H_
