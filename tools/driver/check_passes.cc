#include "tools/driver/check_passes.h"

#include <optional>
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
    for (const auto& [c, expected] : expected_) {
      const absl::StatusOr<interpret::HostBuffers> values =
          Evaluate(module, c, /*track_error=*/false);
      if (!values.ok()) {
        return absl::InternalError("after this pass the module cannot be interpreted any more: " +
                                   std::string(values.status().message()));
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
  const uint64_t seed_;
  bool bounds_ = false;
  std::vector<std::pair<EvaluationCase, interpret::HostBuffers>> expected_;
};

}  // namespace

std::unique_ptr<passes::PassObserver> CheckPasses(uint64_t seed) {
  return std::make_unique<Checker>(seed);
}

}  // namespace tg::driver
