#include "runtime/search/kernel_search.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "ir/text/parser.h"
#include "passes/schedule/schedule_file.h"
#include "runtime/report/format.h"

namespace tg::search {
namespace {

// Schedules of a visit. The workers open the kernel for each visit, which takes as long as some
// schedules.
constexpr size_t kVisit = 8;
// What the buffers of the kernel may take in all workers, each of which has two sessions.
constexpr double kMostWorkerBytes = double{1ull << 31};
constexpr double kSessions = 2;
// Neighbours of a new best schedule that are measured before what was pending.
constexpr size_t kFirstNeighbours = 12;
// A schedule of more than this share of the first one's time has no neighbours measured.
constexpr double kSlowest = 1.5;
// How many workers have the memory for a kernel's buffers.
size_t WorkersFor(const CapturedKernel& kernel, const CopyCounts& copies) {
  double bytes = 1;
  for (const BufferReuse& r : kernel.reuse) {
    const auto count = copies.find(r.buffer);
    bytes += r.bytes * (count == copies.end() ? 1 : static_cast<double>(count->second));
  }
  return static_cast<size_t>(std::max(1.0, kMostWorkerBytes / (kSessions * bytes)));
}

}  // namespace

KernelSearch::KernelSearch(ModelKernels& model, const KernelCalls& calls, size_t kernel,
                           const SearchOptions& options, const std::string& scratch,
                           SearchWorkers& workers, Record& record)
    : model_(model),
      calls_(calls),
      kernel_(kernel),
      options_(options),
      scratch_(scratch),
      workers_(workers),
      record_(record),
      gain_(model.gains()[kernel]),
      plain_key_(schedule::KernelKey(model.unscheduled().kernels[kernel]->body)) {}

void KernelSearch::Tell(const std::string& line) const {
  if (options_.tell) options_.tell(line);
}

std::string KernelSearch::IdOf(const Candidate& candidate) const {
  return Cat(space_->KeyOf(candidate), " ", schedule::DirectivesText(candidate.directives));
}

std::string KernelSearch::Line() const {
  return Cat("@", gain_.name, ": ", runtime::FormatSeconds(gain_.seconds), " -> ",
             runtime::FormatSeconds(gain_.seconds * gain_.share), " by ", gain_.directives);
}

absl::Status KernelSearch::OpenSpace() {
  if (space_ != nullptr) return absl::OkStatus();
  space_ = std::make_unique<Space>(model_.unscheduled(), calls_,
                                   *model_.unscheduled().kernels[kernel_], model_.target());
  if (options_.sample > 0) {
    TakeSample();
    return absl::OkStatus();
  }
  for (Candidate& candidate : space_->Considered()) pending_.push_back(std::move(candidate));
  unexpanded_.emplace(1, space_->first());
  return absl::OkStatus();
}

void KernelSearch::TakeSample() {
  std::vector<Candidate> proposed = space_->Considered();
  // The first schedule is one of the sample.
  proposed.resize(std::min(proposed.size(), options_.sample / 2 - 1));
  pending_.assign(proposed.begin(), proposed.end());
  // Those that the rules lack are drawn, too.
  for (Candidate& drawn : space_->Drawn(options_.sample - 1 - pending_.size(), options_.draw)) {
    pending_.push_back(std::move(drawn));
  }
}

absl::Status KernelSearch::Resume() {
  TG_ASSIGN_OR_RETURN(const std::vector<Measurement> known,
                      record_.Of(plain_key_, model_.target().name, model_.driver()));
  if (known.empty()) return absl::OkStatus();
  TG_RETURN_IF_ERROR(OpenSpace());
  for (const Measurement& m : known) {
    done_.insert(Cat(m.key, " ", m.directives));
    const absl::StatusOr<std::vector<Directive>> directives =
        schedule::ParseDirectives(m.directives);
    // A form that the passes do not make any more is of no use.
    const std::optional<size_t> form = space_->FindForm(m.key);
    if (!directives.ok() || !form) continue;
    Learn({*form, *directives, m.predicted_seconds}, m);
  }
  return absl::OkStatus();
}

std::optional<Candidate> KernelSearch::Next() {
  while (true) {
    const auto best = options_.sample > 0 ? unexpanded_.end() : unexpanded_.begin();
    const bool is_best = best != unexpanded_.end() && best->first <= gain_.share && best->first < 1;
    if (best != unexpanded_.end() && (is_best || pending_.empty()) && best->first < kSlowest) {
      const Candidate candidate = std::move(best->second);
      unexpanded_.erase(best);
      Expand(candidate, is_best);
      continue;
    }
    if (pending_.empty()) return std::nullopt;
    Candidate next = std::move(pending_.front());
    pending_.pop_front();
    if (done_.insert(IdOf(next)).second) return next;
  }
}

std::vector<Candidate> KernelSearch::NextSome(size_t count) {
  std::vector<Candidate> some;
  while (some.size() < count) {
    std::optional<Candidate> next = Next();
    if (!next) break;
    some.push_back(*std::move(next));
  }
  return some;
}

Request KernelSearch::RequestOf(const Candidate& candidate) const {
  return {space_->KeyOf(candidate), schedule::DirectivesText(candidate.directives)};
}

absl::Status KernelSearch::MeasureSome(const std::vector<Candidate>& candidates) {
  std::vector<Request> requests;
  for (const Candidate& candidate : candidates) requests.push_back(RequestOf(candidate));
  const std::vector<Answer> compiled = workers_.Compile(requests);
  // Of many measurements the least is too low by chance: a new best one is measured again.
  const auto share_of = [](const Answer& a) {
    return a.first_seconds > 0 ? a.seconds / a.first_seconds : 1;
  };
  for (size_t i = 0; i < candidates.size(); ++i) {
    Answer answer = compiled[i];
    if (answer.outcome == Outcome::kMeasured) answer = workers_.Measure(i, requests[i]);
    if (answer.outcome == Outcome::kMeasured && share_of(answer) < gain_.share * kGain) {
      const Answer again = workers_.Measure(i, requests[i]);
      if (again.outcome != Outcome::kMeasured || share_of(again) > share_of(answer)) answer = again;
    }
    TG_RETURN_IF_ERROR(Keep(candidates[i], answer));
    if (answer.outcome == Outcome::kMeasured) TG_RETURN_IF_ERROR(KeepFirst(answer));
  }
  return absl::OkStatus();
}

void KernelSearch::Learn(const Candidate& candidate, const Measurement& m) {
  if (!IsTimed(m.outcome) || m.seconds <= 0) return;
  unexpanded_.emplace(m.share(), candidate);
  if (m.share() > kGain || m.outcome == Outcome::kNoGain || m.outcome == Outcome::kFirst) return;
  gains_.emplace(m.share(), m);
  SetGain();
}

void KernelSearch::SetGain() {
  const Measurement* best = Best();
  gain_.share = best == nullptr ? 1 : best->share();
  gain_.directives = best == nullptr ? "" : best->directives;
}

absl::Status KernelSearch::Confirm(double share) {
  Measurement m = gains_.begin()->second;
  m.outcome = Outcome::kConfirmed;
  gain_.share = share;
  return record_.Add(m);
}

absl::Status KernelSearch::Drop() {
  Measurement m = gains_.begin()->second;
  gains_.erase(gains_.begin());
  m.outcome = Outcome::kNoGain;
  ++gain_.dropped;
  SetGain();
  return record_.Add(m);
}

void KernelSearch::Expand(const Candidate& candidate, bool is_best) {
  std::vector<Candidate> neighbours = space_->Neighbours(candidate);
  const size_t first = is_best ? std::min(kFirstNeighbours, neighbours.size()) : 0;
  for (size_t i = first; i-- > 0;) pending_.push_front(std::move(neighbours[i]));
  for (size_t i = first; i < neighbours.size(); ++i) pending_.push_back(std::move(neighbours[i]));
}

absl::Status KernelSearch::Keep(const Candidate& candidate, const Answer& answer) {
  const Measurement m = {plain_key_,
                         model_.target().name,
                         model_.driver(),
                         space_->KeyOf(candidate),
                         schedule::DirectivesText(candidate.directives),
                         answer.outcome,
                         candidate.predicted_seconds,
                         answer.seconds,
                         answer.first_seconds,
                         answer.what};
  ++gain_.measured;
  if (answer.outcome != Outcome::kMeasured) {
    ++gain_.failed;
    // That a compiler refuses a schedule is ordinary; the others are faults of tg or the driver.
    if (answer.outcome != Outcome::kRefused) {
      Tell(Cat("@", gain_.name, ": ", OutcomeName(m.outcome), " (", m.what, ") with ",
               m.directives));
    }
  }
  Learn(candidate, m);
  return record_.Add(m);
}

void KernelSearch::GiveUp() {
  gains_.clear();
  SetGain();
}

absl::Status KernelSearch::KeepFirst(const Answer& answer) {
  if (is_recorded_) return absl::OkStatus();
  is_recorded_ = true;
  TG_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(scratch_ + "/kernel.uop"));
  TG_RETURN_IF_ERROR(record_.AddKernel({plain_key_, gain_.name, text}));
  const Candidate& first = space_->first();
  return record_.Add({plain_key_, model_.target().name, model_.driver(), space_->KeyOf(first),
                      schedule::DirectivesText(first.directives), Outcome::kFirst,
                      first.predicted_seconds, answer.first_seconds, answer.first_seconds, ""});
}

absl::StatusOr<KernelSearch::Visit> KernelSearch::Measure(
    const std::function<double()>& seconds_left) {
  TG_RETURN_IF_ERROR(OpenSpace());
  TG_ASSIGN_OR_RETURN(const CapturedKernel written,
                      model_.WriteKernel(kernel_, Cat(scratch_, "/kernel")));
  const CopyCounts copies =
      CopiesOf(written.reuse, gain_.seconds / static_cast<double>(gain_.calls), model_.target());
  workers_.Begin({written.files[0], options_.device, options_.target,
                  passes::PrintPipeline(options_.pipeline), Cat(scratch_, "/schedule"),
                  written.inputs, written.vars, copies});
  const size_t most = std::min(workers_.count(), WorkersFor(written, copies));
  Visit visit;
  const double share = gain_.share;
  for (size_t measured = 0; measured < kVisit && seconds_left() > 0;) {
    TG_ASSIGN_OR_RETURN(const size_t open, workers_.Open(std::min(most, kVisit - measured)));
    if (open == 0) {
      Tell(Cat("@", gain_.name, ": not searched; without a search it ",
               OutcomeName(workers_.problem().outcome), ": ", workers_.problem().what));
      visit.is_exhausted = true;
      break;
    }
    const std::vector<Candidate> candidates = NextSome(open);
    if (candidates.empty()) {
      visit.is_exhausted = true;
      break;
    }
    TG_RETURN_IF_ERROR(MeasureSome(candidates));
    measured += candidates.size();
  }
  visit.has_gained = gain_.share < share;
  return visit;
}

}  // namespace tg::search
