// Searches for faster schedules of a model's kernels, by measuring them (docs/search.md).
//
// Kernels are taken in the order of what they may gain: their time in a run, less the time that the
// device's rates allow. Each visit measures a few schedules of one kernel: first what the
// pass considered, by prediction, then neighbours of the fastest. Measured is in a worker process
// on the contents that the kernel's buffers have in a run of the model, by turns with the schedule
// that is chosen without a search, and the values are compared with that one's. At the end the
// model is run with what was found, and what does not gain there is dropped.
#ifndef TG_RUNTIME_SEARCH_SEARCH_H_
#define TG_RUNTIME_SEARCH_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/module.h"
#include "passes/pipeline_text.h"
#include "passes/target.h"
#include "runtime/search/record.h"
#include "runtime/session/session.h"

namespace tg::search {

struct SearchOptions {
  double seconds = 60;  // how long; what is being measured at its end is finished
  std::string device;   // as for ChooseDevice
  std::string target;   // as for ChooseTarget
  std::string graph;    // as for Session::Run
  passes::Pipeline pipeline;
  // The executable that is a worker (worker.h).
  std::string worker = "/proc/self/exe";
  // How many of them compile at once.
  size_t workers = 1;
  // The seconds that a schedule may take, besides several times what the first one took.
  double deadline = 10;
  // Takes kernels `part`, `part` + `parts`, ... in the order of what they may gain: several
  // searches share a model's kernels.
  size_t part = 0, parts = 1;
  // Not 0: no search, but this number of schedules of each kernel, to see how good the choice is:
  // half of them by prediction, of what the rules propose, and half drawn at random.
  size_t sample = 0;
  // Gives a kernel random legal directives.
  std::function<void(const Module&, Kernel&, const passes::Target&, uint64_t seed)> draw = {};
  // Called with a line for each kernel that is visited, and each schedule that fails.
  std::function<void(const std::string&)> tell = {};
};

struct KernelGain {
  std::string name;    // of the kernel without a search
  size_t calls = 0;    // in a run
  double seconds = 0;  // of a run, all calls
  double ideal = 0;    // what the device's rates allow
  double share = 1;    // of the time that the best schedule takes, in the model if it was compared
  size_t measured = 0, failed = 0;
  size_t dropped = 0;      // schedules that gained alone, but not in the model
  std::string directives;  // of the best schedule; empty if there is no gain
};

struct SearchResult {
  std::vector<KernelGain> kernels;  // which the search may visit, by what they may gain
  double run_seconds = 0;           // of all kernels in a run, before
  double searched_seconds = 0;      // how long the search took
  // A run of the model without the schedules and with them, by turns; 0: there was nothing to
  // compare.
  double before_seconds = 0, after_seconds = 0;
  // What a run takes with the best schedules.
  double ExpectedSeconds() const;
};

// Searches for the kernels of one graph. `feed` sets the inputs and variables of a session of the
// module. InvalidArgument if the module runs on several devices.
absl::StatusOr<SearchResult> Search(const Module& module,
                                    const std::function<absl::Status(runtime::Session&)>& feed,
                                    const SearchOptions& options, Record& record);

// Lines with the gain of each kernel that gained, and of the whole.
std::string GainTable(const SearchResult& result);

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_SEARCH_H_
