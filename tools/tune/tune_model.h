// Searches on one or several devices of this machine.
#ifndef TG_TOOLS_TUNE_TUNE_MODEL_H_
#define TG_TOOLS_TUNE_TUNE_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "passes/pipeline_text.h"
#include "runtime/search/record.h"
#include "tools/tune/tune_flags.h"

namespace tg::tune {

// The share of each search when several processes search: the kernels `number`, `number` + `count`,
// ...
struct Rank {
  size_t number = 0, count = 1;
};

// Reads the model, searches on all devices at once, and prints progress on standard error and gains
// on standard output.
absl::Status TuneModel(const std::string& path, const TuneFlags& flags,
                       const passes::Pipeline& pipeline, const Rank& rank, search::Record& record);

}  // namespace tg::tune

#endif  // TG_TOOLS_TUNE_TUNE_MODEL_H_
