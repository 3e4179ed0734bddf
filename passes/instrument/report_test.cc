#include "passes/instrument/report.h"

#include "gtest/gtest.h"

namespace tg::instrument {
namespace {

TEST(Report, TimesAddUp) {
  passes::PassReport report;
  report.rows = {{"lower", 0.001, 0.0005}, {"expand:max=3", 0.002, 0.0005}};
  EXPECT_EQ(TimeTable(TimeRows(report)),
            "        ms  share  time in\n"
            "     1.000  25.0%  lower\n"
            "     2.000  50.0%  expand:max=3\n"
            "     1.000  25.0%  verify\n"
            "     4.000 100.0%  total\n");
}

TEST(Report, NoTimeIsNoShare) {
  EXPECT_EQ(TimeTable({}), "        ms  share  time in\n     0.000   0.0%  total\n");
}

TEST(Report, CountsOfZeroAreLeftOut) {
  passes::PassReport report;
  report.statistics = {{"lower.loops", 12}, {"lower.gates", 0}, {"expand.lanes", 1234567}};
  EXPECT_EQ(StatisticsTable(report),
            "     count  statistic\n"
            "   1234567  expand.lanes\n"
            "        12  lower.loops\n");
}

}  // namespace
}  // namespace tg::instrument
