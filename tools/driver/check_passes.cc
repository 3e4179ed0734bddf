#include "tools/driver/check_passes.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/driver/evaluation.h"

namespace tg::driver {
namespace {

class Checker : public passes::PassObserver {
 public:
  explicit Checker(uint64_t seed) : seed_(seed) {}

  absl::Status Start(const passes::Pipeline&, const Module& module) override {
    expected_.clear();
    outputs_.clear();
    NoteOutputs(module);
    bounds_ = GivesBounds(module);
    for (uint64_t round = 0; round < 2; ++round) {
      for (EvaluationCase& c : MakeCases(module, 2 * seed_ + round)) {
        absl::StatusOr<interpret::HostBuffers> values = Evaluate(module, c, bounds_);
        if (!values.ok()) {
          return absl::Status(values.status().code(), "--check: before the first pass: " +
                                                          std::string(values.status().message()));
        }
        expected_.emplace_back(std::move(c), *std::move(values));
      }
    }
    if (expected_.empty()) {
      return absl::InvalidArgumentError("--check: the module has no graph and no kernel to run");
    }
    return absl::OkStatus();
  }

  absl::Status AfterPass(const passes::PassRun&, const Module& module) override {
    const std::set<std::string> added = NoteOutputs(module);
    for (auto& [c, expected] : expected_) {
      absl::StatusOr<interpret::HostBuffers> values =
          Evaluate(module, c, /*track_error=*/!added.empty() && bounds_);
      if (!values.ok()) {
        return absl::InternalError("after this pass the module cannot be interpreted any more: " +
                                   std::string(values.status().message()));
      }
      // What a pass adds is compared from then on.
      for (auto& [name, buffer] : *values) {
        if (!c.is_kernel && added.count(name)) expected[name] = buffer;
      }
      if (const std::optional<std::string> difference =
              Disagreement(expected, *values, bounds_, module.flags)) {
        return absl::InternalError("this pass changed the values of " + c.Title() + ": " +
                                   *difference);
      }
    }
    return absl::OkStatus();
  }

 private:
  // Returns the outputs that the module did not have before.
  std::set<std::string> NoteOutputs(const Module& module) {
    std::set<std::string> added;
    for (const BufferDecl& b : module.buffers) {
      if (b.role == Role::kOutput && outputs_.insert(b.name).second) added.insert(b.name);
    }
    return added;
  }

  const uint64_t seed_;
  bool bounds_ = false;
  std::set<std::string> outputs_;
  std::vector<std::pair<EvaluationCase, interpret::HostBuffers>> expected_;
};

}  // namespace

std::unique_ptr<passes::PassObserver> CheckPasses(uint64_t seed) {
  return std::make_unique<Checker>(seed);
}

}  // namespace tg::driver
