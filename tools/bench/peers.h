// Peers: other programs that compute the same rows, in a process that runs tools/bench/peers.py.
//
// A request and its answer are JSON objects on one line each. An answer with "error" reports a
// failure.
//   (start)                                    {"peers": [{"name": .., "version": ..}]}
//   {"open": ROW, "folder": DIR}               {"results": {NAME: FILE or ""}}: each peer that can
//                                               compute the row from DIR/a.npy etc. has written
//                                               FILE
//   {"run": NAME, "times": N}                  {"seconds": of one run}
#ifndef TG_TOOLS_BENCH_PEERS_H_
#define TG_TOOLS_BENCH_PEERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/row.h"

namespace tg::bench {

struct Peer {
  std::string name, version;
};

class PeerProcess {
 public:
  // Starts `python script`. NotFound if no peer is installed there.
  static absl::StatusOr<std::unique_ptr<PeerProcess>> Start(const std::string& python,
                                                            const std::string& script);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  const std::vector<Peer>& peers() const { return peers_; }

  // Prepares a row whose operands are in the folder. Returns (name, file of the result) for each
  // peer that computes such a row.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Open(const Row& row,
                                                                        const std::string& folder);
  // Returns the seconds of one of `times` runs of the open row.
  absl::StatusOr<double> Run(const std::string& peer, int64_t times);

 private:
  PeerProcess() = default;
  absl::StatusOr<std::string> ReadLine();
  absl::StatusOr<std::string> Ask(const std::string& request);

  int to_ = -1, from_ = -1;  // pipes
  int pid_ = -1;
  std::string buffered_;
  std::vector<Peer> peers_;
};

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_PEERS_H_
