// The tables of --time-passes and --stats.
#ifndef TG_PASSES_INSTRUMENT_REPORT_H_
#define TG_PASSES_INSTRUMENT_REPORT_H_

#include <span>
#include <string>

#include "passes/pass_manager.h"

namespace tg::instrument {

struct TimeRow {
  std::string what;
  double seconds = 0;
};

// Formats the rows in order, with time, share of the total and name; then the total.
std::string TimeTable(std::span<const TimeRow> rows);
// The rows of a report: each pass, and verifying (all passes together).
std::vector<TimeRow> TimeRows(const passes::PassReport& report);

// Formats one row for each nonzero count, sorted by name.
std::string StatisticsTable(const passes::PassReport& report);

}  // namespace tg::instrument

#endif  // TG_PASSES_INSTRUMENT_REPORT_H_
