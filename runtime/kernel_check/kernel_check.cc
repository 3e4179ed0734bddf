#include "runtime/kernel_check/kernel_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "base/status.h"
#include "ir/interpret/allowed.h"
#include "ir/interpret/kernel.h"
#include "ir/interpret/options.h"
#include "ir/interpret/run.h"
#include "ir/value.h"
#include "runtime/device/buffer.h"
#include "runtime/report/kernel_table.h"
#include "runtime/report/tensor_difference.h"

namespace tg::kernel_check {

using runtime::BufferSlice;
using runtime::Plan;
using runtime::ScheduledKernel;
using runtime::VarMap;

namespace {

// Bounds are first-order in the rounding errors.
constexpr double kSlack = 1.01;
// A kernel that takes more is sampled in any case, since its values would not fit into memory.
constexpr int64_t kMaxWhole = int64_t{1} << 28;
// The least that a sampled kernel gets.
constexpr int64_t kMinShare = int64_t{1} << 16;
// The nodes of a kernel past stage kernel that are executed, by one work-item or by many at once.
constexpr int64_t kMaxSteps = int64_t{1} << 26;

std::string Number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Compares elements of one buffer, one by one.
class Comparison {
 public:
  Comparison(int buffer, Scalar scalar) : scalar_(scalar) { mismatch_.buffer = buffer; }

  void Add(int64_t element, int64_t expected, int64_t actual, double allowed) {
    ++mismatch_.compared;
    const double of_allowed = interpret::OfAllowed(scalar_, expected, actual, allowed);
    if (!(of_allowed > kSlack)) {
      largest_ = std::max(largest_, of_allowed);
      return;
    }
    const double a = DoubleFromBits(scalar_, actual), e = DoubleFromBits(scalar_, expected);
    double difference = std::fabs(a - e);
    if (std::isnan(difference)) difference = HUGE_VAL;
    if (mismatch_.differing++ > 0 && !(difference > mismatch_.difference)) return;
    mismatch_.element = element;
    mismatch_.actual = a;
    mismatch_.expected = e;
    mismatch_.difference = difference;
    mismatch_.allowed = allowed;
  }

  const Mismatch& mismatch() const { return mismatch_; }
  double largest() const { return largest_; }

 private:
  const Scalar scalar_;
  Mismatch mismatch_;
  double largest_ = 0;
};

// The tolerance where the interpreter gives no bounds.
double ToleranceOf(Scalar scalar, int64_t expected, ModuleFlags flags) {
  if (!IsFloat(scalar)) return 0;
  const double v = DoubleFromBits(scalar, expected);
  if (interpret::AllowAnyValueFor(flags, v)) return HUGE_VAL;
  if (!std::isfinite(v)) return 0;
  return 1e-5 + std::max(1e-5, 8 * interpret::UnitRoundoff(scalar)) * std::fabs(v);
}

}  // namespace

KernelChecker::KernelChecker(const Module& reference, const Module& compiled, CheckOptions options)
    : reference_(reference), compiled_(compiled), options_(std::move(options)) {}

const Kernel* KernelChecker::ReferenceOf(const ScheduledKernel& call) const {
  const auto i = static_cast<size_t>(call.kernel);
  return call.is_copy() || i >= reference_.kernels.size() ? nullptr : reference_.kernels[i].get();
}

std::pair<int64_t, int64_t> KernelChecker::Window(const BufferSlice& slice) const {
  const Contents& all = Before(slice.buffer);
  const int64_t total = interpret::NumElements(all.shape);
  const int64_t first = std::min(slice.offset, total);
  return {first, slice.size < 0 ? total - first : std::min(slice.size, total - first)};
}

const Contents& KernelChecker::Before(int buffer) const { return before_.find(buffer)->second; }

absl::StatusOr<Contents> KernelChecker::ReadBuffer(const Plan& plan, int buffer,
                                                   const VarMap& vars) const {
  const BufferDecl& decl = compiled_.buffers[static_cast<size_t>(buffer)];
  Contents contents;
  contents.buffer = buffer;
  TG_ASSIGN_OR_RETURN(contents.shape, runtime::ShapeOf(decl, vars));
  const auto elements = static_cast<size_t>(interpret::NumElements(contents.shape));
  contents.bytes.resize(elements * static_cast<size_t>(ByteSize(decl.dtype.scalar())));
  if (contents.bytes.empty()) return contents;
  TG_RETURN_IF_ERROR(runtime::Read(*plan.buffer(buffer), 0, contents.bytes));
  return contents;
}

absl::StatusOr<std::vector<interpret::SampleArg>> KernelChecker::ArgsOf(const Plan& plan,
                                                                        size_t step) const {
  std::vector<interpret::SampleArg> args;
  for (const BufferSlice& slice : plan.step(step).buffers) {
    const BufferDecl& decl = compiled_.buffers[static_cast<size_t>(slice.buffer)];
    interpret::SampleArg& arg = args.emplace_back();
    arg.scalar = decl.dtype.scalar();
    arg.is_symbolic = std::any_of(decl.shape.begin(), decl.shape.end(),
                                  [](const DeclDim& d) { return d.is_symbolic(); });
    const auto known = before_.find(slice.buffer);
    if (known == before_.end()) {
      TG_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                          runtime::ShapeOf(decl, plan.VarsOf(step)));
      const int64_t rest = std::max<int64_t>(0, interpret::NumElements(shape) - slice.offset);
      arg.size = slice.size < 0 ? rest : std::min(slice.size, rest);
      continue;
    }
    const auto [first, size] = Window(slice);
    arg.size = size;
    arg.bytes = known->second.bytes.data() + first * ByteSize(arg.scalar);
  }
  return args;
}

absl::Status KernelChecker::Distribute(const Plan& plan) {
  const size_t steps = plan.kernels().size();
  share_.assign(steps, std::nullopt);
  std::vector<std::pair<int64_t, size_t>> costs;
  for (size_t i = 0; i < steps; ++i) {
    if (plan.step(i).is_copy() || plan.kernels()[i].empty) continue;
    const Kernel* reference = ReferenceOf(plan.step(i));
    if (reference == nullptr) continue;
    TG_ASSIGN_OR_RETURN(const std::vector<interpret::SampleArg> args, ArgsOf(plan, i));
    const VarMap vars = plan.VarsOf(i);
    const absl::StatusOr<int64_t> cost = interpret::CountEvaluations(*reference, args, vars);
    // A kernel that cannot be sampled is interpreted as a whole.
    if (cost.ok()) costs.emplace_back(*cost, i);
  }
  std::sort(costs.begin(), costs.end());
  int64_t rest = options_.max_evaluations;
  for (size_t i = 0; i < costs.size(); ++i) {
    const auto [cost, step] = costs[i];
    const int64_t share = rest / static_cast<int64_t>(costs.size() - i);
    if (cost <= std::min(share, kMaxWhole)) {
      rest -= cost;
    } else {
      share_[step] = std::max(share, kMinShare);
      rest -= share;
    }
  }
  return absl::OkStatus();
}

absl::Status KernelChecker::BeforeStep(const runtime::ScheduledGraph&, const Plan& plan,
                                       size_t step) {
  before_.clear();
  if (step == 0) TG_RETURN_IF_ERROR(Distribute(plan));
  const VarMap vars = plan.VarsOf(step);
  for (const BufferSlice& slice : plan.step(step).buffers) {
    if (before_.contains(slice.buffer)) continue;
    TG_ASSIGN_OR_RETURN(before_[slice.buffer], ReadBuffer(plan, slice.buffer, vars));
  }
  return absl::OkStatus();
}

absl::Status KernelChecker::AfterStep(const runtime::ScheduledGraph& graph, const Plan& plan,
                                      size_t step) {
  const ScheduledKernel& call = plan.step(step);
  if (plan.kernels()[step].empty) return absl::OkStatus();
  TG_RETURN_IF_ERROR(call.is_copy() ? CompareCopy(plan, step) : CompareKernel(plan, step));
  if (options_.progress) options_.progress(step + 1, plan.kernels().size());
  if (!finding_) return absl::OkStatus();
  finding_->graph = graph.name;
  finding_->step = step;
  finding_->steps = plan.kernels().size();
  finding_->device = plan.kernels()[step].context;
  finding_->call = call;
  finding_->vars = plan.VarsOf(step);
  finding_->compiled = plan.kernels()[step].kernel;
  finding_->nodes = runtime::DescribeNodes(plan.kernels()[step]);
  finding_->reference = ReferenceOf(call);
  for (auto& [buffer, contents] : before_) finding_->before.push_back(std::move(contents));
  before_.clear();
  return absl::FailedPreconditionError(finding_->Describe(compiled_));
}

void KernelChecker::Found(const Mismatch& mismatch, bool sampled) {
  if (mismatch.differing == 0) return;
  if (finding_ && !(mismatch.difference > finding_->worst.difference)) return;
  finding_.emplace();
  finding_->worst = mismatch;
  finding_->sampled = sampled;
}

absl::Status KernelChecker::CompareCopy(const Plan& plan, size_t step) {
  const std::vector<BufferSlice>& ends = plan.step(step).buffers;
  TG_ASSIGN_OR_RETURN(const Contents after, ReadBuffer(plan, ends[0].buffer, plan.VarsOf(step)));
  const auto [to, size] = Window(ends[0]);
  const auto [from, from_size] = Window(ends[1]);
  const Contents& source = Before(ends[1].buffer);
  const Scalar scalar = compiled_.buffers[static_cast<size_t>(ends[0].buffer)].dtype.scalar();
  Comparison comparison(ends[0].buffer, scalar);
  for (int64_t i = 0; i < std::min(size, from_size); ++i) {
    comparison.Add(to + i,
                   interpret::LoadBits(scalar, source.bytes.data(), static_cast<size_t>(from + i)),
                   interpret::LoadBits(scalar, after.bytes.data(), static_cast<size_t>(to + i)), 0);
  }
  Found(comparison.mismatch(), false);
  ++counts_.copies;
  return absl::OkStatus();
}

absl::Status KernelChecker::CompareKernel(const Plan& plan, size_t step) {
  const ScheduledKernel& call = plan.step(step);
  const Kernel* reference = ReferenceOf(call);
  if (reference == nullptr) {
    return absl::InternalError(
        Cat("kernel @", plan.kernels()[step].kernel->name, " has no reference"));
  }
  const std::vector<bool> stored = interpret::StoredSlots(*reference, call.buffers.size());
  std::map<int, Contents> after;
  for (size_t i = 0; i < stored.size(); ++i) {
    const int buffer = call.buffers[i].buffer;
    if (!stored[i] || after.contains(buffer)) continue;
    TG_ASSIGN_OR_RETURN(after[buffer], ReadBuffer(plan, buffer, plan.VarsOf(step)));
  }
  if (share_[step]) {
    TG_ASSIGN_OR_RETURN(const bool done, CompareSample(plan, step, *reference, after));
    if (done) return absl::OkStatus();
  }
  return CompareWhole(plan, step, *reference, after);
}

absl::StatusOr<bool> KernelChecker::CompareSample(const Plan& plan, size_t step,
                                                  const Kernel& reference,
                                                  const std::map<int, Contents>& after) {
  const ScheduledKernel& call = plan.step(step);
  TG_ASSIGN_OR_RETURN(const std::vector<interpret::SampleArg> args, ArgsOf(plan, step));
  interpret::InterpretOptions options = interpret::OptionsFor(reference_);
  options.track_error = true;
  interpret::SampleOptions sample;
  sample.max_evaluations = *share_[step];
  const VarMap vars = plan.VarsOf(step);
  const auto stores = interpret::SampleKernel(reference, args, vars, options, sample);
  if (absl::IsResourceExhausted(stores.status())) {
    counts_.skipped.push_back(std::string(stores.status().message()));
    return true;
  }
  if (!stores.ok()) return stores.status();
  int64_t compared = 0, total = 0;
  for (const interpret::StoredSample& store : *stores) {
    const BufferSlice& slice = call.buffers[store.slot];
    const int64_t first = Window(slice).first;
    const Scalar scalar = args[store.slot].scalar;
    const std::byte* bytes = after.at(slice.buffer).bytes.data();
    Comparison comparison(slice.buffer, scalar);
    for (size_t i = 0; i < store.elements.size(); ++i) {
      const int64_t element = first + store.elements[i];
      comparison.Add(element, (*store.values.data)[i],
                     interpret::LoadBits(scalar, bytes, static_cast<size_t>(element)),
                     store.values.ErrorAt(i));
    }
    if (comparison.largest() > counts_.largest) {
      counts_.largest = comparison.largest();
      counts_.largest_kernel = plan.kernels()[step].kernel->name;
    }
    compared += comparison.mismatch().compared;
    total += store.total;
    Found(comparison.mismatch(), true);
  }
  if (finding_) return true;
  ++counts_.sampled;
  counts_.sampled_elements += compared;
  if (counts_.least_sample_of == 0 ||
      static_cast<double>(compared) * static_cast<double>(counts_.least_sample_of) <
          static_cast<double>(counts_.least_sample) * static_cast<double>(total)) {
    counts_.least_sample = compared;
    counts_.least_sample_of = total;
  }
  return true;
}

absl::Status KernelChecker::CompareWhole(const Plan& plan, size_t step, const Kernel& reference,
                                         const std::map<int, Contents>& after) {
  const ScheduledKernel& call = plan.step(step);
  const bool tracked = reference.stage == Stage::kKernel;
  interpret::InterpretOptions options = interpret::OptionsFor(reference_);
  options.track_error = tracked;
  options.max_steps = kMaxSteps;
  std::map<int, interpret::HostBuffer> buffers;
  std::vector<interpret::KernelArg> args;
  for (const BufferSlice& slice : call.buffers) {
    const BufferDecl& decl = compiled_.buffers[static_cast<size_t>(slice.buffer)];
    interpret::HostBuffer& buffer = buffers[slice.buffer];
    if (buffer.data.empty()) {
      const Contents& contents = Before(slice.buffer);
      buffer = interpret::BufferFromBytes(decl.dtype, contents.shape, contents.bytes.data());
      buffer.written.assign(buffer.data.size(), 0);
    }
    const auto [first, size] = Window(slice);
    const bool is_symbolic = std::any_of(decl.shape.begin(), decl.shape.end(),
                                         [](const DeclDim& d) { return d.is_symbolic(); });
    args.push_back({&buffer, first, size, is_symbolic});
  }
  const VarMap vars = plan.VarsOf(step);
  if (const absl::Status s = interpret::RunKernel(reference, args, vars, options); !s.ok()) {
    if (tracked || s.message().find("too many steps") == std::string::npos) return s;
    counts_.skipped.push_back(
        Cat("kernel @", plan.kernels()[step].kernel->name, " takes too long to be interpreted"));
    return absl::OkStatus();
  }
  for (const auto& [number, contents] : after) {
    const interpret::HostBuffer& expected = buffers[number];
    const Scalar scalar = expected.dtype.scalar();
    Comparison comparison(number, scalar);
    for (size_t i = 0; i < expected.data.size(); ++i) {
      const int64_t actual = interpret::LoadBits(scalar, contents.bytes.data(), i);
      // An element that the kernel does not write keeps its value.
      const double allowed = !expected.written[i] ? 0
                             : !tracked ? ToleranceOf(scalar, expected.data[i], reference_.flags)
                             : expected.error.empty() ? 0
                                                      : expected.error[i];
      comparison.Add(static_cast<int64_t>(i), expected.data[i], actual, allowed);
    }
    if (comparison.largest() > counts_.largest) {
      counts_.largest = comparison.largest();
      counts_.largest_kernel = plan.kernels()[step].kernel->name;
    }
    Found(comparison.mismatch(), false);
  }
  if (!finding_) ++counts_.whole;
  return absl::OkStatus();
}

std::string Finding::Describe(const Module& module) const {
  const BufferDecl& decl = module.buffers[static_cast<size_t>(worst.buffer)];
  std::string place;
  for (const Contents& contents : before) {
    if (contents.buffer == worst.buffer) {
      place = runtime::Coordinates(contents.shape, worst.element);
    }
  }
  std::string text = compiled == nullptr
                         ? Cat("copy ", step + 1, " of ", steps, " to @", decl.name)
                         : Cat("kernel ", step + 1, " of ", steps, ", @", compiled->name);
  if (graph == kInitGraph) text += " of @init";
  if (!nodes.empty()) text += Cat(" (", nodes, ")");
  text += Cat(", differs from the interpreter: ", worst.differing, " of ", worst.compared,
              sampled ? " sampled elements" : " elements", "; the largest difference ",
              Number("%.3g", worst.difference), " is at @", decl.name, place, ": ",
              Number("%.9g", worst.actual), ", not ", Number("%.9g", worst.expected));
  if (worst.allowed > 0) text += Cat(" within ", Number("%.3g", worst.allowed));
  return text;
}

std::string KernelChecker::Summary() const {
  const size_t agree = counts_.whole + counts_.sampled;
  std::string text = Cat(agree, agree == 1 ? " kernel agrees" : " kernels agree",
                         " with the interpreter", finding_ ? ", one does not" : "");
  if (!counts_.largest_kernel.empty()) {
    text += Cat("; the largest difference is ", Number("%.3g", counts_.largest),
                " of what is allowed, in @", counts_.largest_kernel);
  }
  text += "\n";
  if (counts_.sampled > 0) {
    text += Cat(counts_.sampled, " of them were compared at ", counts_.sampled_elements,
                " sampled elements, since interpreting all would take minutes; at least at ",
                counts_.least_sample, " of ", counts_.least_sample_of, "\n");
  }
  if (counts_.copies > 0) text += Cat(counts_.copies, " copies between devices are equal\n");
  for (const std::string& skipped : counts_.skipped) text += "not compared: " + skipped + "\n";
  return text;
}

}  // namespace tg::kernel_check
