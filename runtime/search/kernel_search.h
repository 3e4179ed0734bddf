// The search for one kernel's schedule, visit by visit.
#ifndef TG_RUNTIME_SEARCH_KERNEL_SEARCH_H_
#define TG_RUNTIME_SEARCH_KERNEL_SEARCH_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/kernel_calls.h"
#include "runtime/search/model_kernels.h"
#include "runtime/search/record.h"
#include "runtime/search/search.h"
#include "runtime/search/search_workers.h"
#include "runtime/search/space.h"

namespace tg::search {

class KernelSearch {
 public:
  // All arguments must outlive the object. `scratch`: a folder.
  KernelSearch(ModelKernels& model, const KernelCalls& calls, size_t kernel,
               const SearchOptions& options, const std::string& scratch, SearchWorkers& workers,
               Record& record);

  // Takes over what the record has of this kernel.
  absl::Status Resume();

  struct Visit {
    bool has_gained = false;
    bool is_exhausted = false;  // there is nothing else to measure
  };
  // Measures some schedules, in the worker processes. None is begun once `seconds_left` is not
  // positive.
  absl::StatusOr<Visit> Measure(const std::function<double()>& seconds_left);

  // The fastest schedule that gains and has not lost in the model; null: there is none.
  const Measurement* Best() const { return gains_.empty() ? nullptr : &gains_.begin()->second; }
  // Keeps that the best schedule gains in the model, where the kernel takes `share` of its time; or
  // that it does not, after which the next one is the best.
  absl::Status Confirm(double share);
  absl::Status Drop();
  // This search does not use any schedule of the kernel.
  void GiveUp();

  // Seconds of a run that it may gain still.
  double Hope() const { return gain_.seconds * gain_.share - gain_.ideal; }
  const KernelGain& gain() const { return gain_; }
  size_t kernel() const { return kernel_; }
  // The kernel, its time before and after, and the directives.
  std::string Line() const;

 private:
  absl::Status OpenSpace();
  // Makes the schedules of SearchOptions::sample the pending ones.
  void TakeSample();
  // Keeps the first schedule with its time.
  absl::Status KeepFirst(const Answer& answer);
  // The next schedule; none if there is no other.
  std::optional<Candidate> Next();
  // The next schedules, at most `count`.
  std::vector<Candidate> NextSome(size_t count);
  Request RequestOf(const Candidate& candidate) const;
  // Compiles the schedules and measures them, one for each worker.
  absl::Status MeasureSome(const std::vector<Candidate>& candidates);
  absl::Status Keep(const Candidate& candidate, const Answer& answer);
  // Takes a measurement into account, which may be the best so far.
  void Learn(const Candidate& candidate, const Measurement& measurement);
  // Puts the neighbours of a schedule among the pending ones: the first few before all others if it
  // is the best.
  void Expand(const Candidate& candidate, bool is_best);
  std::string IdOf(const Candidate& candidate) const;
  void Tell(const std::string& line) const;
  // Takes the share and the directives from the best schedule.
  void SetGain();

  ModelKernels& model_;
  const KernelCalls& calls_;
  const size_t kernel_;
  const SearchOptions& options_;
  const std::string scratch_;
  SearchWorkers& workers_;
  Record& record_;
  KernelGain gain_;
  std::string plain_key_;
  std::unique_ptr<Space> space_;
  std::deque<Candidate> pending_;
  std::multimap<double, Measurement> gains_;  // by share of the first schedule's time
  std::set<std::string> done_;                // schedules that are in the record
  // Schedules whose neighbours were not taken yet, by their share of the first one's time.
  std::multimap<double, Candidate> unexpanded_;
  bool is_recorded_ = false;  // the record has the kernel and its first schedule
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_KERNEL_SEARCH_H_
