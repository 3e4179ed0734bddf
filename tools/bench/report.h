// Results of tg-bench as a table and as JSON.
#ifndef TG_TOOLS_BENCH_REPORT_H_
#define TG_TOOLS_BENCH_REPORT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/limits.h"
#include "tools/bench/peers.h"
#include "tools/bench/row.h"
#include "tools/bench/timing.h"

namespace tg::bench {

struct MeasuredRow {
  Row row;
  double limit_seconds = 0;
  // By the cost model: the sum over kernels, and the limit of the longest; unset if unknown.
  std::optional<double> predicted_seconds;
  std::string predicted_limit;
  Timing tg;
  std::vector<std::pair<std::string, Timing>> peers;  // by name
};

struct BenchReport {
  std::string device, target, date;  // the date as YYYY-MM-DD
  DeviceLimits limits;
  std::vector<Peer> peers;
  std::vector<MeasuredRow> rows;
};

// The peer with the least median; null if there is none.
const std::pair<std::string, Timing>* BestPeer(const MeasuredRow& row);

// Two lines about the device, for the table's head.
std::string HeadText(const BenchReport& report);
// The median, over rows, of |predicted / measured - 1|; nullopt without predictions.
std::optional<double> MedianError(const BenchReport& report);
// A table with a line per row, and a line with the median error of the predictions. It gives two
// ratios: the median over turns of the best peer's time divided by tg's, and the least time of any
// peer divided by tg's.
std::string TableText(const BenchReport& report);
// What tools/benchmarks_page.py reads.
std::string JsonText(const BenchReport& report);

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_REPORT_H_
