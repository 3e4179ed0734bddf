// Finds the kernel that computes wrong values: runs a graph on a device kernel by kernel, and
// compares what each kernel writes with the interpreter, on the contents that the kernel's buffers
// had on the device. So an error does not reach the check of a later kernel.
#ifndef TG_RUNTIME_KERNEL_CHECK_KERNEL_CHECK_H_
#define TG_RUNTIME_KERNEL_CHECK_KERNEL_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/sample.h"
#include "ir/module.h"
#include "runtime/plan/plan.h"
#include "runtime/session/device_session.h"

namespace tg::kernel_check {

struct CheckOptions {
  // The evaluations of nodes that the interpreter makes in one run of a graph, about. Kernels that
  // take more than a fair share of it are compared at sampled elements only.
  int64_t max_evaluations = int64_t{1} << 31;
  // Called after each kernel.
  std::function<void(size_t done, size_t total)> progress = {};
};

// What a kernel reads and writes.
struct Contents {
  int buffer = 0;              // index in the module
  std::vector<int64_t> shape;  // in this run
  std::vector<std::byte> bytes;
};

// Elements of one buffer that differ by more than is allowed.
struct Mismatch {
  int buffer = 0;
  int64_t compared = 0, differing = 0;
  int64_t element = 0;                 // the one with the largest difference
  double actual = 0, expected = 0;     // there
  double difference = 0, allowed = 0;  // there
};

// A kernel that differs.
struct Finding {
  std::string graph;
  size_t step = 0, steps = 0;         // in the plan
  const Kernel* reference = nullptr;  // as it was interpreted; null: a copy between devices
  const runtime::CompiledKernel* compiled = nullptr;  // null: a copy
  const runtime::Context* device = nullptr;
  runtime::ScheduledKernel call;
  runtime::VarMap vars;
  std::string nodes;             // of the model, as runtime::DescribeNodes has them; may be empty
  std::vector<Contents> before;  // of each buffer that the kernel gets
  Mismatch worst;
  bool sampled = false;

  // One line: which kernel, the largest difference and its place.
  std::string Describe(const Module& module) const;
};

// Counts over all graphs that were run.
struct Counts {
  size_t whole = 0;    // kernels all of whose elements were compared
  size_t sampled = 0;  // kernels of which some were
  size_t copies = 0;   // copies between devices
  int64_t sampled_elements = 0;
  int64_t least_sample = 0, least_sample_of = 0;  // the smallest share of a kernel's elements
  double largest = 0;                // the largest difference, in parts of what is allowed
  std::string largest_kernel;        // where it was
  std::vector<std::string> skipped;  // kernels that were not compared, with the reason
};

class KernelChecker final : public runtime::StepObserver {
 public:
  // `reference`: the module whose kernels define what is right, at an earlier stage than those of
  // `compiled`, in the same order. `compiled`: the module of the session. Both outlive the checker.
  KernelChecker(const Module& reference, const Module& compiled, CheckOptions options = {});

  absl::Status BeforeStep(const runtime::ScheduledGraph& graph, const runtime::Plan& plan,
                          size_t step) override;
  // FailedPrecondition if the kernel differs; finding() has the details.
  absl::Status AfterStep(const runtime::ScheduledGraph& graph, const runtime::Plan& plan,
                         size_t step) override;

  const std::optional<Finding>& finding() const { return finding_; }
  const Counts& counts() const { return counts_; }
  // A few lines about what was compared.
  std::string Summary() const;

 private:
  const Kernel* ReferenceOf(const runtime::ScheduledKernel& call) const;
  // Decides how many evaluations each kernel of the plan gets.
  absl::Status Distribute(const runtime::Plan& plan);
  absl::StatusOr<std::vector<interpret::SampleArg>> ArgsOf(const runtime::Plan& plan,
                                                           size_t step) const;
  absl::StatusOr<Contents> ReadBuffer(const runtime::Plan& plan, int buffer,
                                      const runtime::VarMap& vars) const;
  const Contents& Before(int buffer) const;
  absl::Status CompareCopy(const runtime::Plan& plan, size_t step);
  absl::Status CompareKernel(const runtime::Plan& plan, size_t step);
  absl::StatusOr<bool> CompareSample(const runtime::Plan& plan, size_t step,
                                     const Kernel& reference, const std::map<int, Contents>& after);
  absl::Status CompareWhole(const runtime::Plan& plan, size_t step, const Kernel& reference,
                            const std::map<int, Contents>& after);
  // Returns the elements of a buffer that a slice covers: first and number.
  std::pair<int64_t, int64_t> Window(const runtime::BufferSlice& slice) const;
  void Found(const Mismatch& mismatch, bool sampled);

  const Module& reference_;
  const Module& compiled_;
  const CheckOptions options_;
  const runtime::Plan* plan_ = nullptr;
  runtime::VarMap plan_vars_;
  std::vector<std::optional<int64_t>> share_;  // by step of the plan; none: the whole kernel
  std::map<int, Contents> before_;             // of the current step
  std::optional<Finding> finding_;
  Counts counts_;
};

}  // namespace tg::kernel_check

#endif  // TG_RUNTIME_KERNEL_CHECK_KERNEL_CHECK_H_
