#include "tools/train/curves.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace tg::train {
namespace {

// A measure: where it is in a score, and how it is shown.
struct Measure {
  const char* name;
  double EpochScore::*value;
  const char* colour;
};
constexpr Measure kLosses[] = {{"loss", &EpochScore::loss, "#06c"},
                               {"loss, held out", &EpochScore::held_out_loss, "#c60"}};
constexpr Measure kAccuracies[] = {{"accuracy", &EpochScore::accuracy, "#06c"},
                                   {"accuracy, held out", &EpochScore::held_out_accuracy, "#c60"}};
constexpr int kWidth = 640, kHeight = 240;

std::string Escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

// Empty if no epoch has one of the measures.
std::string Chart(std::span<const Measure> measures, std::span<const EpochScore> epochs) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const EpochScore& e : epochs) {
    for (const Measure& m : measures) {
      if (!std::isfinite(e.*m.value)) continue;
      low = std::min(low, e.*m.value);
      high = std::max(high, e.*m.value);
    }
  }
  if (low > high) return "";
  const double range = high > low ? high - low : 1;
  std::string page = absl::StrFormat(
      "<svg viewBox=\"-60 -20 %d %d\" width=\"%d\"><rect width=\"%d\" height=\"%d\" fill=\"none\" "
      "stroke=\"#999\"/><text x=\"-4\" y=\"8\" text-anchor=\"end\">%.4g</text><text x=\"-4\" "
      "y=\"%d\" text-anchor=\"end\">%.4g</text>\n",
      kWidth + 80, kHeight + 60, kWidth + 80, kWidth, kHeight, high, kHeight, low);
  int label = 0;
  for (const Measure& m : measures) {
    std::string points;
    for (size_t i = 0; i < epochs.size(); ++i) {
      if (!std::isfinite(epochs[i].*m.value)) continue;
      const double x =
          epochs.size() > 1 ? static_cast<double>(i) / static_cast<double>(epochs.size() - 1) : 0.5;
      absl::StrAppendFormat(&points, "%.2f,%.2f ", x * kWidth,
                            kHeight * (high - epochs[i].*m.value) / range);
    }
    if (points.empty()) continue;
    absl::StrAppendFormat(&page,
                          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\"/><text x=\"%d\" "
                          "y=\"%d\" fill=\"%s\">%s</text>\n",
                          points, m.colour, 200 * label++, kHeight + 24, m.colour, m.name);
  }
  return page + "</svg>\n";
}

}  // namespace

std::string CurvesText(std::span<const EpochScore> epochs) {
  std::string text;
  for (const EpochScore& e : epochs) {
    absl::StrAppendFormat(&text, "%a %a %a %a ", e.loss, e.accuracy, e.held_out_loss,
                          e.held_out_accuracy);
  }
  return text;
}

std::vector<EpochScore> ParseCurves(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const double number = std::strtod(at, &end);
    if (end == at) break;
    numbers.push_back(number);
  }
  std::vector<EpochScore> epochs;
  for (size_t i = 0; i + 4 <= numbers.size(); i += 4) {
    epochs.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
  }
  return epochs;
}

std::string CurvesPage(std::string_view title, std::span<const EpochScore> epochs) {
  std::string page = absl::StrFormat(
      "<!DOCTYPE html><meta charset=\"utf-8\"><title>%s</title>\n<style>body{font:14px "
      "sans-serif}td,th{padding:2px 12px;text-align:right}</style>\n<h1>%s</h1>\n",
      Escaped(title), Escaped(title));
  page += Chart(kLosses, epochs) + Chart(kAccuracies, epochs) + "<table><tr><th>epoch</th>";
  for (const auto& measures : {kLosses, kAccuracies}) {
    for (int i = 0; i < 2; ++i) absl::StrAppendFormat(&page, "<th>%s</th>", measures[i].name);
  }
  page += "</tr>\n";
  for (size_t i = 0; i < epochs.size(); ++i) {
    absl::StrAppendFormat(&page, "<tr><td>%d</td>", i + 1);
    for (const auto& measures : {kLosses, kAccuracies}) {
      for (int k = 0; k < 2; ++k) {
        const double value = epochs[i].*measures[k].value;
        page += std::isnan(value) ? "<td></td>" : absl::StrFormat("<td>%.4f</td>", value);
      }
    }
    page += "</tr>\n";
  }
  return page + "</table>\n";
}

}  // namespace tg::train
