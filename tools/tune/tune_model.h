// Searches on one or several devices of this machine.
#ifndef TG_TOOLS_TUNE_TUNE_MODEL_H_
#define TG_TOOLS_TUNE_TUNE_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "passes/pipeline_text.h"
#include "runtime/search/record.h"
#include "tools/tune/ranks.h"
#include "tools/tune/tune_flags.h"

namespace tg::tune {

// Reads the model, searches on all devices at once, and prints progress on standard error and gains
// on standard output. Devices of all ranks that are alike share the model's kernels.
absl::Status TuneModel(const std::string& path, const TuneFlags& flags,
                       const passes::Pipeline& pipeline, Ranks& ranks, search::Record& record);

}  // namespace tg::tune

#endif  // TG_TOOLS_TUNE_TUNE_MODEL_H_
