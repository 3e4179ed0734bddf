// tg-report as a function.
#ifndef TG_TOOLS_REPORT_REPORT_MAIN_H_
#define TG_TOOLS_REPORT_REPORT_MAIN_H_

namespace tg::report {

// Compares two reports of tg-run. Returns 0; 1 if a file is no report or the output cannot be
// written; 2 if the command line is invalid.
int ReportMain(int argc, const char* const* argv);

}  // namespace tg::report

#endif  // TG_TOOLS_REPORT_REPORT_MAIN_H_
