// The schedules of a kernel that a search may measure.
#ifndef TG_RUNTIME_SEARCH_SPACE_H_
#define TG_RUNTIME_SEARCH_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "passes/schedule/kernel_facts.h"
#include "passes/target.h"

namespace tg::search {

// Directives for one of a kernel's forms.
struct Candidate {
  size_t form = 0;  // of the kernel's body, of those of its space
  std::vector<Directive> directives;
  double predicted_seconds = 0;  // on the device, without the launch
};

class Space {
 public:
  // `kernel`: of the module, not scheduled yet. All arguments must outlive the object.
  Space(const Module& module, const KernelCalls& calls, const Kernel& kernel,
        const passes::Target& target);

  // What is chosen without a search.
  const Candidate& first() const { return first_; }
  // The key of the form that a candidate is for.
  const std::string& KeyOf(const Candidate& candidate) const { return forms_[candidate.form].key; }
  // The form of this key; nullopt if there is none.
  std::optional<size_t> FindForm(const std::string& key) const;

  // The time of a schedule on the device, as the target's fields say at present; 0 if it is not
  // legal.
  double Predict(size_t form, const std::vector<Directive>& directives) const;

  // The other schedules that the pass considered, by ascending prediction.
  std::vector<Candidate> Considered();
  // The legal schedules that differ from this one by one change: another size of a directive, one
  // directive fewer, one more on an axis. Those that were returned before are left out. By
  // ascending prediction.
  std::vector<Candidate> Neighbours(const Candidate& of);
  // At most `count` legal schedules of random forms. What was returned before is left out.
  // `draw` as SearchOptions::draw.
  using Draw = std::function<void(const Module&, Kernel&, const passes::Target&, uint64_t seed)>;
  std::vector<Candidate> Drawn(size_t count, const Draw& draw);

 private:
  struct OneForm {
    Kernel kernel;
    std::string key;
    std::unique_ptr<schedule::KernelFacts> facts;
    std::vector<std::vector<Directive>> considered;
  };

  // Adds a form, unless there is one with that body. Returns its number.
  size_t AddForm(const Kernel& kernel, std::vector<std::vector<Directive>> considered);
  // Adds the candidate unless it is known or not legal.
  void Add(size_t form, std::vector<Directive> directives, std::vector<Candidate>& to);
  std::vector<std::vector<Directive>> Changes(const Candidate& of) const;

  const Module& module_;
  const KernelCalls& calls_;
  const passes::Target& target_;
  std::deque<OneForm> forms_;  // facts refer to the kernels
  Candidate first_;
  std::set<std::string> known_;
  uint64_t draws_ = 0;
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_SPACE_H_
