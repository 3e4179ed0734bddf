// The tables of --time-passes and --stats.
#ifndef TG_PASSES_INSTRUMENT_REPORT_H_
#define TG_PASSES_INSTRUMENT_REPORT_H_

#include <span>
#include <string>

#include "passes/pass_manager.h"

namespace tg {

struct TimeRow {
  std::string what;
  double seconds = 0;
};

// A row for each, in order: milliseconds, share of the whole, what; then the total.
std::string TimeTable(std::span<const TimeRow> rows);
// The rows of a report: each pass, and verifying (all passes together).
std::vector<TimeRow> TimeRows(const PassReport& report);

// A row for each count that is not 0, by name.
std::string StatisticsTable(const PassReport& report);

}  // namespace tg

#endif  // TG_PASSES_INSTRUMENT_REPORT_H_
