// Checks and times rows on a device.
#ifndef TG_TOOLS_BENCH_BENCH_RUN_H_
#define TG_TOOLS_BENCH_BENCH_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/io/host_tensor.h"
#include "runtime/session/session.h"
#include "tools/bench/peers.h"
#include "tools/bench/reference.h"
#include "tools/bench/report.h"
#include "tools/bench/row.h"
#include "tools/bench/timing.h"

namespace tg::bench {

struct BenchOptions {
  std::string device;  // as for ChooseDevice; "reference": the interpreter, which is not timed
  std::string target;  // as for ChooseTarget
  bool check_only = false;
  std::string python, peer_script;  // no script: no peers
  TimingOptions timing;
};

class BenchRun {
 public:
  // `tell` receives a line for each row that is done.
  BenchRun(BenchOptions options, std::function<void(const std::string&)> tell)
      : options_(std::move(options)), tell_(std::move(tell)) {}

  // Checks the rows, and times those whose values are right. A row that fails is reported and left
  // out; the returned status says how many failed.
  absl::Status Run(const std::vector<Row>& rows);

  // What was measured, also after an error.
  const BenchReport& report() const { return report_; }

 private:
  absl::Status Prepare();
  absl::Status RunRow(const Row& row);
  // Also predicts the row's cost, into `measured`.
  absl::StatusOr<std::unique_ptr<runtime::Session>> Open(const Row& row, MeasuredRow& measured);
  // Writes the operands for the peers, has them compute the row, and checks what they made.
  absl::StatusOr<std::vector<std::string>> OpenPeers(
      const Row& row, const std::vector<runtime::HostTensor>& operands, const Reference& reference);
  absl::Status Measure(MeasuredRow measured, runtime::Session& session,
                       const std::vector<std::string>& peers);

  BenchOptions options_;
  std::function<void(const std::string&)> tell_;
  runtime::DiskCache cache_{runtime::DefaultCacheDirectory()};
  std::unique_ptr<PeerProcess> peers_;
  BenchReport report_;
};

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_BENCH_RUN_H_
