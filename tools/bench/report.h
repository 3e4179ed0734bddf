// Results of tg-bench as a table and as JSON.
#ifndef TG_TOOLS_BENCH_REPORT_H_
#define TG_TOOLS_BENCH_REPORT_H_

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
// A table with a line per row. It gives two ratios: the median over turns of the best peer's time
// divided by tg's, and the least time of any peer divided by tg's.
std::string TableText(const BenchReport& report);
// What tools/benchmarks_page.py reads.
std::string JsonText(const BenchReport& report);

}  // namespace tg::bench

#endif  // TG_TOOLS_BENCH_REPORT_H_
