// Ranks of an mpirun.
#ifndef TG_TOOLS_TUNE_MPI_RANKS_H_
#define TG_TOOLS_TUNE_MPI_RANKS_H_

#include <string>
#include <vector>

#include "tools/tune/ranks.h"

namespace tg::tune {

class MpiRanks final : public Ranks {
 public:
  // One object a process, which begins and ends MPI.
  MpiRanks(int* argc, char*** argv);
  ~MpiRanks() override;
  // Ends all ranks, of which others may wait for this one.
  [[noreturn]] static void Abort(int code);

  size_t number() const override { return number_; }
  size_t count() const override { return count_; }
  absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) override;

 private:
  size_t number_ = 0, count_ = 1;
};

}  // namespace tg::tune

#endif  // TG_TOOLS_TUNE_MPI_RANKS_H_
