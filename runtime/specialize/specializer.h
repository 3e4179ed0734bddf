// Specializer: plans for the sizes that a session runs often.
//
// A module with symbolic extents is compiled once for all sizes. Its kernels cannot use what only
// follows from numbers: whole vectors, merged axes, loops of a known length. So a size that comes
// again is compiled as a module without variables, in another thread, while the session serves its
// runs. From the next run of that size on, a second session runs that module with the first one's
// buffers: inputs, outputs, params and states. Packed weights and other values that passes have
// moved to @init belong to the module that computes them.
//
// Where some variables stay and others change from run to run, as a text grows token by token, the
// values that stay are a size as well. Its module has the other variables.
//
// Compiling never takes more time than the runs so far and one more compile. The sessions are
// bounded in number and memory; that which has not run for the longest time is dropped. A size that
// fails to compile or to be planned is run by the general plan for ever.
#ifndef TG_RUNTIME_SPECIALIZE_SPECIALIZER_H_
#define TG_RUNTIME_SPECIALIZE_SPECIALIZER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "passes/pipeline_text.h"
#include "runtime/session/device_session.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/given.h"

namespace tg::specialize {

struct SpecializeOptions {
  size_t max_sessions = 8;
  size_t max_bytes = size_t{1} << 30;  // of their temporaries and packed weights, in all
  int64_t min_runs = 2;                // a size is compiled when it comes for this time
  size_t max_counted_sizes = 256;      // sizes whose runs are counted
  bool budget = true;  // compiling takes no more time than the runs so far and one more compile
  bool wait = false;   // the run that asks for a compile waits for it: for tests
};

// What has been done, for reports.
struct SpecializeStats {
  int64_t compiled = 0, failed = 0, dropped = 0;
  int64_t general_runs = 0, specialized_runs = 0;
  double compile_seconds = 0;
  std::string last_error;
};

class Specializer : public runtime::SessionChooser {
 public:
  // Null where nothing can be gained: no variable is open, several devices, or a device whose
  // driver compiles at the first launch. `module`: before the passes. `session`: the options of the
  // session that will ask.
  static std::shared_ptr<Specializer> Create(const Module& module, const passes::Pipeline& pipeline,
                                             const runtime::DeviceSessionOptions& session,
                                             SpecializeOptions options = {});
  // Waits for a compile that has begun.
  ~Specializer() override;

  runtime::DeviceSession* Choose(const std::string& graph, const runtime::VarMap& vars) override;
  void Refused(const std::string& graph, const runtime::VarMap& vars,
               const absl::Status& why) override;
  void Ran(const std::string& graph, const runtime::VarMap& vars, runtime::DeviceSession* chosen,
           double seconds) override;

  SpecializeStats stats() const;
  // The variables of the last run that a chosen session did: "h = 480, w = 640"; empty if the last
  // run was a general one.
  std::string last_size() const;

 private:
  // A graph, and values of the variables that it depends on: of all, or of some of the open ones.
  using Key = std::pair<std::string, runtime::VarMap>;
  enum class State { kCounted, kQueued, kCompiling, kReady, kFailed };
  struct Size {
    State state = State::kCounted;
    bool is_open = false;  // depends on a variable that is open
    int64_t runs = 0, own_runs = 0;
    uint64_t last_used = 0;
    std::unique_ptr<runtime::DeviceSession> session;
  };

  Specializer(const Module& module, passes::Pipeline pipeline,
              const runtime::DeviceSessionOptions& session, SpecializeOptions options);
  Key KeyOf(const std::string& graph, const runtime::VarMap& vars) const;
  absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> Compile(const Key& key) const;
  void Work();
  // The following require mutex_.
  using Entry = std::pair<const Key, Size>;
  // The entry of a graph's size, which is the last one if nothing differs from the last call.
  Entry& Find(const std::string& graph, const runtime::VarMap& vars);
  // The entry of what stays from the graph's last run to this one, of `key`; null if all or nothing
  // does.
  Entry* FindWhatStays(const Key& key);
  // Counts a run of a size, and has it compiled if it may be.
  void Count(Entry& entry, std::unique_lock<std::mutex>& lock);
  // The session whose module has the most variables of `key` as numbers; null: none has any.
  Entry* FindReady(const Key& key);
  void Erase(std::map<Key, Size>::iterator at);
  bool MayCompile(const Size& size) const;
  // Drops sessions, but not that of `in_use`, until the others are within the bounds.
  void Drop(const Key& in_use);
  size_t SessionBytes() const;

  const std::unique_ptr<const Module> module_;
  const passes::Pipeline pipeline_;
  runtime::DeviceSessionOptions session_options_;
  const SpecializeOptions options_;
  std::vector<std::string> declared_;            // the module's buffers before the passes
  std::map<std::string, runtime::Needs> needs_;  // by graph

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Size> sizes_;
  // What Find was asked, and its answer; null where that entry may be gone.
  std::string last_graph_;
  runtime::VarMap last_vars_;
  Entry* last_ = nullptr;
  std::map<std::string, runtime::VarMap> last_sizes_;  // by graph
  Entry* chosen_ = nullptr;                            // by the last call of Choose
  std::optional<Key> queued_;                          // the next to compile
  bool is_compiling_ = false, is_ending_ = false;
  std::thread worker_;
  uint64_t clock_ = 0;
  int64_t min_runs_;
  double run_seconds_ = 0;
  SpecializeStats stats_;
  bool last_was_own_ = false;  // whether the last run was one of a chosen session
};

}  // namespace tg::specialize

#endif  // TG_RUNTIME_SPECIALIZE_SPECIALIZER_H_
