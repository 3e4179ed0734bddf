#include "tools/tune/mpi_ranks.h"

#include <mpi/mpi.h>

#include <climits>
#include <cstdlib>

#include "base/status.h"

namespace tg::tune {

MpiRanks::MpiRanks(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  int number = 0, count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  number_ = static_cast<size_t>(number);
  count_ = static_cast<size_t>(count);
}

MpiRanks::~MpiRanks() { MPI_Finalize(); }

void MpiRanks::Abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

absl::StatusOr<std::vector<std::string>> MpiRanks::AllGather(const std::string& text) {
  long long size = static_cast<long long>(text.size());
  std::vector<long long> sizes(count_);
  MPI_Allgather(&size, 1, MPI_LONG_LONG, sizes.data(), 1, MPI_LONG_LONG, MPI_COMM_WORLD);
  std::vector<std::string> texts(count_);
  for (size_t rank = 0; rank < count_; ++rank) {
    // The counts of MPI are ints.
    if (sizes[rank] > INT_MAX)
      return InvalidArgument("rank ", rank, " sends ", sizes[rank], " bytes");
    texts[rank] = rank == number_ ? text : std::string(static_cast<size_t>(sizes[rank]), '\0');
    MPI_Bcast(texts[rank].data(), static_cast<int>(sizes[rank]), MPI_CHAR, static_cast<int>(rank),
              MPI_COMM_WORLD);
  }
  return texts;
}

}  // namespace tg::tune
