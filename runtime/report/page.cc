// RunReport as a page: page/page.html with the style, the script and the report in it.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/report/run_report.h"

namespace tg::runtime {
namespace {

constexpr std::string_view kPage =
#include "runtime/report/page/page.html.inc"
    ;
constexpr std::string_view kStyle =
#include "runtime/report/page/page.css.inc"
    ;
// One script, in this order.
constexpr std::string_view kTables =
#include "runtime/report/page/page.js.inc"
    ;
constexpr std::string_view kGraph =
#include "runtime/report/page/graph.js.inc"
    ;
constexpr std::string_view kMemory =
#include "runtime/report/page/memory.js.inc"
    ;

constexpr size_t kMaxPageBytes = 1'000'000;

// JSON inside of a script element: `<` occurs in strings only, and could end the element.
std::string EscapeForScript(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

// The report's data as they are embedded in the page. If the page would be too long, the sources of
// the kernels with the least time are left out.
std::string DataOf(const RunReport& report, size_t page_bytes) {
  RunReport shown = report;
  for (std::string& source : shown.sources) source.clear();
  page_bytes += EscapeForScript(ReportToJson(shown)).size();
  std::vector<double> seconds(report.sources.size(), 0);
  for (const KernelReport& kernel : report.kernels) {
    if (kernel.source) seconds[static_cast<size_t>(*kernel.source)] += kernel.seconds.value_or(0);
  }
  std::vector<size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return seconds[a] > seconds[b]; });
  for (const size_t i : order) {
    RunReport one;
    one.sources = {report.sources[i]};
    const size_t bytes = EscapeForScript(ReportToJson(one)).size();  // a bit more than it takes
    if (page_bytes + bytes > kMaxPageBytes) continue;
    page_bytes += bytes;
    shown.sources[i] = report.sources[i];
  }
  return EscapeForScript(ReportToJson(shown));
}

std::string EscapeForHtml(std::string_view plain) {
  std::string text;
  for (const char c : plain) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        text += c;
    }
  }
  return text;
}

}  // namespace

std::string ReportToHtml(const RunReport& report) {
  const std::string script = std::string(kTables).append(kGraph).append(kMemory);
  const size_t page_bytes = kPage.size() + kStyle.size() + script.size() + report.model.size();
  const std::pair<std::string_view, std::string> parts[] = {
      {"@TITLE@", EscapeForHtml(report.model)},
      {"@STYLE@", std::string(kStyle)},
      {"@DATA@", DataOf(report, page_bytes)},
      {"@SCRIPT@", script},
  };
  // In the order of the template, so that no text that is put in is searched.
  std::string page;
  std::string_view rest = kPage;
  for (const auto& [mark, text] : parts) {
    const size_t at = rest.find(mark);
    page.append(rest.substr(0, at)).append(text);
    rest.remove_prefix(at + mark.size());
  }
  return page.append(rest);
}

}  // namespace tg::runtime
