#include "runtime/artifact/fold_init.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/extents.h"
#include "runtime/plan/init_constants.h"

namespace tg::artifact {
namespace {

using runtime::Executable;
using runtime::ScheduledGraph;
using runtime::StepAccess;

bool AnyOf(const std::set<int>& of, const std::set<int>& in) {
  return std::any_of(of.begin(), of.end(), [&](int b) { return in.contains(b); });
}

class Folder {
 public:
  Folder(Executable& executable, ScheduledGraph& init)
      : e_(executable), init_(init), steps_(runtime::AccessesOf(executable, init)) {
    for (const ScheduledGraph& graph : e_.graphs) {
      if (&graph == &init) continue;
      others_use_.insert(graph.buffers.begin(), graph.buffers.end());
      others_write_.merge(runtime::WrittenBy(e_, graph));
    }
    for (const StepAccess& step : steps_) {
      for (const int b : step.writes) {
        if (Decl(b).role == Role::kState) results_.insert(b);
      }
    }
  }

  std::set<int> Run() {
    // What is kept needs its params, which makes others larger than what they replace. Steps of
    // loops are not chosen one by one.
    while (init_.loops.empty() && init_.measures.empty() && KeepLarger()) {
    }
    std::set<int> folded;
    for (const int b : results_) {
      if (!remaining_.contains(b)) folded.insert(b);
    }
    RemoveSteps(folded);
    return folded;
  }

 private:
  BufferDecl& Decl(int b) const { return e_.buffers[static_cast<size_t>(b)]; }
  int64_t Bytes(int b) const {
    const absl::StatusOr<size_t> bytes = runtime::BufferBytes(e_, Decl(b));
    return bytes.ok() ? static_cast<int64_t>(*bytes) : INT64_MAX / 2;
  }

  // Marks the steps on which the buffers depend, and adds the params that they read.
  void Mark(std::set<int> needed, std::vector<bool>& marked, std::set<int>& params) const {
    for (size_t i = steps_.size(); i-- > 0;) {
      if (!AnyOf(steps_[i].writes, needed)) continue;
      marked[i] = true;
      needed.insert(steps_[i].reads.begin(), steps_[i].reads.end());
    }
    for (const int b : needed) {
      if (Decl(b).role == Role::kParam) params.insert(b);
    }
  }

  bool KeepLarger() {
    std::vector<bool> marked(steps_.size(), false);
    std::set<int> used = others_use_;
    Mark(remaining_, marked, used);
    std::set<int> larger;
    for (const int b : results_) {
      // A step that stays writes all of its results.
      for (size_t i = 0; i < steps_.size(); ++i) {
        if (marked[i] && steps_[i].writes.contains(b)) larger.insert(b);
      }
      if (Bytes(b) <= kSmallResultBytes) continue;
      std::vector<bool> own(steps_.size(), false);
      std::set<int> params;
      Mark({b}, own, params);
      int64_t replaced = 0;
      for (const int p : params) replaced += used.contains(p) ? 0 : Bytes(p);
      if (Bytes(b) > replaced) larger.insert(b);
    }
    const size_t before = remaining_.size();
    remaining_.merge(larger);
    return remaining_.size() > before;
  }

  void RemoveSteps(const std::set<int>& folded) {
    std::vector<bool> stays(steps_.size(), false);
    std::set<int> params;
    Mark(remaining_, stays, params);
    std::set<int> used;
    std::vector<runtime::ScheduledKernel> steps;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!stays[i]) continue;
      used.insert(steps_[i].reads.begin(), steps_[i].reads.end());
      used.insert(steps_[i].writes.begin(), steps_[i].writes.end());
      steps.push_back(std::move(init_.steps[i]));
    }
    init_.steps = std::move(steps);
    std::erase_if(init_.buffers, [&](int b) { return !used.contains(b); });
    for (const int b : folded) {
      // What no other graph writes is a constant.
      if (!others_write_.contains(b)) Decl(b).role = Role::kParam;
    }
    if (init_.steps.empty()) {
      std::erase_if(e_.graphs, [](const ScheduledGraph& g) { return g.name == kInitGraph; });
    }
  }

  Executable& e_;
  ScheduledGraph& init_;
  const std::vector<StepAccess> steps_;  // of @init
  std::set<int> others_use_, others_write_;
  std::set<int> results_, remaining_;
};

}  // namespace

std::set<int> FoldInit(Executable& executable) {
  const auto init = std::find_if(executable.graphs.begin(), executable.graphs.end(),
                                 [](const ScheduledGraph& g) { return g.name == kInitGraph; });
  return Folder(executable, *init).Run();
}

}  // namespace tg::artifact
