// A report of the graph that a session has run.
#ifndef TG_TOOLS_RUN_SESSION_REPORT_H_
#define TG_TOOLS_RUN_SESSION_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/spans.h"
#include "runtime/report/run_report.h"
#include "runtime/session/device_session.h"

namespace tg::run {

// Makes the report of the last runs, which were of `graph`. `times` has the least times of its
// kernels, `runs` the seconds of each run, and `spans` the steps of the process.
absl::StatusOr<runtime::RunReport> ReportOf(const runtime::DeviceSession& session,
                                            const std::string& graph_name,
                                            const runtime::RunTimes& times,
                                            const std::vector<double>& runs,
                                            const runtime::SpanLog& spans);

// Returns the time that compiling each kernel took, by its name. Empty unless processes compiled
// for PoCL in this run: other drivers compile many kernels as one program.
std::map<std::string, double> CompileSeconds(const runtime::SpanLog& spans);

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_SESSION_REPORT_H_
