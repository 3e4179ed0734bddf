// tg-tune on many machines: mpirun tg-tune-mpi model.onnx (docs/search.md)
#include <string_view>

#include "runtime/search/worker.h"
#include "tools/tune/mpi_ranks.h"
#include "tools/tune/tune_main.h"

int main(int argc, char** argv) {
  // A worker is no rank.
  if (argc == 2 && std::string_view(argv[1]) == tg::search::kWorkerFlag) {
    return tg::tune::TuneMain(argc, argv, {});
  }
  tg::tune::MpiRanks ranks(&argc, &argv);
  const int code = tg::tune::TuneMain(argc, argv, {}, &ranks);
  if (code != 0) tg::tune::MpiRanks::Abort(code);
  return code;
}
