#include "runtime/search/space.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cat.h"
#include "ir/shape.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/directives/directives.h"
#include "passes/schedule/forms.h"
#include "passes/schedule/schedule_file.h"

namespace tg::search {
namespace {

// A schedule that makes more copies of a kernel's body takes long to compile.
constexpr int64_t kMostCopies = 512;
// Schedules of a form that the rules considered, at most: more than a reader wants, since a search
// measures what the predictions put wrong.
constexpr size_t kMostConsidered = 32;
// Draws for each schedule that is wanted, at most.
constexpr size_t kMostDraws = 20;

void CopyKernel(const Kernel& from, Kernel& to) {
  to.name = from.name;
  to.metadata = from.metadata;
  to.directives = from.directives;
  CloneBody(from.body, to.body);
}

// Sizes near `size`: other multiples and parts of it that tiles and vectors have.
std::vector<int64_t> SizesNear(int64_t size) {
  std::vector<int64_t> sizes = {size * 2};
  if (size % 2 == 0 && size > 2) sizes.push_back(size / 2);
  if (size % 2 == 0 && size > 2) sizes.push_back(size / 2 * 3);
  if (size % 4 == 0) sizes.push_back(size / 4 * 3);
  if (size % 3 == 0) sizes.push_back(size / 3 * 2), sizes.push_back(size / 3 * 4);
  sizes.push_back(size + 1);
  if (size > 2) sizes.push_back(size - 1);
  return sizes;
}

// How often the directives copy the kernel's body, at most kMostCopies + 1.
int64_t Copies(const std::vector<Directive>& directives) {
  int64_t copies = 1;
  for (const Directive& d : directives) {
    const bool copied = d.name == "upcast" || d.name == "unroll";
    if (copied && d.args.size() == 2 && d.args[1].number > 0) {
      copies *= std::min(d.args[1].number, kMostCopies + 1);
    }
    copies = std::min(copies, kMostCopies + 1);
  }
  return copies;
}

}  // namespace

Space::Space(const Module& module, const KernelCalls& calls, const Kernel& kernel,
             const passes::Target& target)
    : module_(module), calls_(calls), target_(target) {
  Kernel formed;
  CopyKernel(kernel, formed);
  const UOp* const root = formed.body.root;
  // The first is what is chosen without a search.
  for (const schedule::Form& form :
       schedule::FormsOf(module, calls, formed, target, kMostConsidered)) {
    schedule::Take(form, formed);
    std::vector<std::vector<Directive>> considered = form.considered.Schedules();
    // What is best in its form may not be among what was considered.
    considered.push_back(form.directives);
    const bool is_first = forms_.empty();
    const size_t number = AddForm(formed, std::move(considered));
    if (is_first) first_ = {number, form.directives, 0};
    formed.body.root = root;
    formed.directives.clear();
  }
  AddForm(kernel, {});
  // A schedule of one form may be legal for another one.
  std::vector<std::vector<Directive>> all;
  for (const OneForm& form : forms_) {
    all.insert(all.end(), form.considered.begin(), form.considered.end());
  }
  for (OneForm& form : forms_) form.considered = all;
  std::vector<Candidate> legal;
  Add(first_.form, first_.directives, legal);
  if (!legal.empty()) first_ = legal.front();
}

size_t Space::AddForm(const Kernel& kernel, std::vector<std::vector<Directive>> considered) {
  const std::string key = schedule::KernelKey(kernel.body);
  if (const std::optional<size_t> known = FindForm(key)) {
    auto& all = forms_[*known].considered;
    all.insert(all.end(), considered.begin(), considered.end());
    return *known;
  }
  OneForm& form = forms_.emplace_back();
  CopyKernel(kernel, form.kernel);
  form.key = key;
  form.considered = std::move(considered);
  form.facts = std::make_unique<schedule::KernelFacts>(module_, calls_, form.kernel, target_);
  return forms_.size() - 1;
}

std::optional<size_t> Space::FindForm(const std::string& key) const {
  for (size_t i = 0; i < forms_.size(); ++i) {
    if (forms_[i].key == key) return i;
  }
  return std::nullopt;
}

void Space::Add(size_t form, std::vector<Directive> directives, std::vector<Candidate>& to) {
  if (!known_.insert(Cat(form, " ", schedule::DirectivesText(directives))).second) return;
  const absl::StatusOr<cost::Cost> cost = forms_[form].facts->CostOf(directives);
  if (!cost.ok() || !std::isfinite(cost->OnDevice())) return;
  to.push_back({form, std::move(directives), cost->OnDevice()});
}

double Space::Predict(size_t form, const std::vector<Directive>& directives) const {
  const absl::StatusOr<cost::Cost> cost = forms_[form].facts->CostOf(directives);
  return cost.ok() && std::isfinite(cost->OnDevice()) ? cost->OnDevice() : 0;
}

std::vector<Candidate> Space::Considered() {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < forms_.size(); ++i) {
    for (const std::vector<Directive>& directives : forms_[i].considered) {
      Add(i, directives, candidates);
    }
  }
  llvm::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.predicted_seconds < b.predicted_seconds;
  });
  return candidates;
}

std::vector<std::vector<Directive>> Space::Changes(const Candidate& of) const {
  std::vector<std::vector<Directive>> changes;
  const std::vector<Directive>& directives = of.directives;
  for (size_t i = 0; i < directives.size(); ++i) {
    for (size_t a = 0; a < directives[i].args.size(); ++a) {
      const DirectiveArg& argument = directives[i].args[a];
      if (!argument.ident.empty()) continue;
      for (const int64_t size : SizesNear(argument.number)) {
        changes.push_back(directives);
        changes.back()[i].args[a].number = size;
      }
    }
    if (directives[i].name == "group") {
      changes.push_back(directives);
      changes.back()[i].name = "shuffle";
    }
    changes.push_back(directives);
    changes.back().erase(changes.back().begin() + static_cast<ptrdiff_t>(i));
    if (i + 1 == directives.size()) continue;
    changes.push_back(directives);
    std::swap(changes.back()[i], changes.back()[i + 1]);
  }
  // One more directive, at the end.
  Kernel scheduled;
  CopyKernel(forms_[of.form].kernel, scheduled);
  scheduled.directives = directives;
  ShapeMap shapes(module_, *scheduled.body.context);
  const absl::StatusOr<loop_nest::LoopNest> nest =
      directive::MakeLoopNest(module_, calls_, scheduled, target_, shapes);
  if (!nest.ok()) return changes;
  const auto add = [&](const char* name, const std::string& axis, int64_t size) {
    changes.push_back(directives);
    changes.back().push_back({name, {{axis, 0}, {"", size}}});
  };
  for (const loop_nest::LoopAxis& axis : nest->axes) {
    for (const int64_t size : {2, 4, 8}) {
      if (axis.max_size <= size) continue;
      if (axis.kind == AxisKind::kGlobal) {
        add("upcast", axis.name, size);
        add("loop", axis.name, size);
      }
      if (axis.kind == AxisKind::kReduce) add("unroll", axis.name, size);
    }
    if (!target_.is_gpu || axis.kind != AxisKind::kGlobal) continue;
    for (const int64_t size : {8, 16, 32}) {
      if (axis.max_size >= size) add("local", axis.name, size);
    }
  }
  return changes;
}

std::vector<Candidate> Space::Drawn(size_t count, const Draw& draw) {
  std::vector<Candidate> candidates;
  // A kernel of few loops has few schedules.
  for (size_t i = 0; i < kMostDraws * count && candidates.size() < count; ++i) {
    const size_t form = i % forms_.size();
    Kernel drawn;
    CopyKernel(forms_[form].kernel, drawn);
    draw(module_, drawn, target_, draws_++);
    if (Copies(drawn.directives) <= kMostCopies) Add(form, drawn.directives, candidates);
  }
  return candidates;
}

std::vector<Candidate> Space::Neighbours(const Candidate& of) {
  std::vector<Candidate> candidates;
  for (std::vector<Directive>& directives : Changes(of)) {
    if (Copies(directives) <= kMostCopies) Add(of.form, std::move(directives), candidates);
  }
  llvm::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.predicted_seconds < b.predicted_seconds;
  });
  return candidates;
}

}  // namespace tg::search
