// The processes that search for schedules of one model together.
#ifndef TG_TOOLS_TUNE_RANKS_H_
#define TG_TOOLS_TUNE_RANKS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::tune {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual size_t number() const = 0;
  virtual size_t count() const = 0;
  // The texts of all ranks, by number. Each rank must call it.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) = 0;
};

// One process alone.
class OneRank final : public Ranks {
 public:
  size_t number() const override { return 0; }
  size_t count() const override { return 1; }
  absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) override {
    return std::vector<std::string>{text};
  }
};

}  // namespace tg::tune

#endif  // TG_TOOLS_TUNE_RANKS_H_
