// --search of tools that run models: tg-tune as a child searches for schedules of the module.
//
// It is another program because it links SQLite, and tools that only use schedules build without
// (docs/search.md).
#ifndef TG_TOOLS_DRIVER_TUNE_CHILD_H_
#define TG_TOOLS_DRIVER_TUNE_CHILD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "runtime/plan/extents.h"

namespace tg::driver {

struct TuneRequest {
  int64_t seconds = 60;  // for all graphs together
  std::string device, target, pipeline;
  struct GraphRun {
    std::string graph;
    runtime::VarMap vars;  // variables without a value get the greatest one
  };
  std::vector<GraphRun> graphs;
};

// A file of schedules, which goes with the object.
class FoundSchedules {
 public:
  ~FoundSchedules();
  const std::string& file() const { return file_; }

 private:
  friend absl::StatusOr<std::unique_ptr<FoundSchedules>> SearchWithTune(const Module&,
                                                                        const TuneRequest&);
  std::string folder_, file_;
};

// Runs the tg-tune of this program's folder on the module, as it is before any pass. What it prints
// goes to standard error. NotFound if there is no such program.
absl::StatusOr<std::unique_ptr<FoundSchedules>> SearchWithTune(const Module& module,
                                                               const TuneRequest& request);

}  // namespace tg::driver

#endif  // TG_TOOLS_DRIVER_TUNE_CHILD_H_
