#include "tools/tune/tune_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/cat.h"
#include "runtime/report/format.h"

namespace tg::tune {
namespace {

using runtime::Cell;
using runtime::FormatNumber;
using runtime::FormatSeconds;
using search::Measurement;

double Median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

std::string SectionOf(const std::vector<const Measurement*>& section) {
  std::map<std::string, std::vector<const Measurement*>> kernels;
  std::vector<double> errors;
  std::map<search::Outcome, size_t> failed;
  for (const Measurement* m : section) {
    if (!search::IsTimed(m->outcome)) {
      ++failed[m->outcome];
      continue;
    }
    kernels[m->kernel].push_back(m);
    if (m->predicted_seconds > 0 && m->seconds > 0) {
      errors.push_back(std::fabs(m->predicted_seconds / m->seconds - 1));
    }
  }
  std::vector<std::vector<Cell>> rows;
  std::vector<Cell>& head = rows.emplace_back();
  for (const char* title :
       {"kernel", "schedules", "first", "fastest", "predicted", "error", "directives"}) {
    head.emplace_back(title);
  }
  size_t pairs = 0, ordered = 0;
  for (const auto& [kernel, measured] : kernels) {
    const Measurement& best = **std::min_element(
        measured.begin(), measured.end(),
        [](const Measurement* a, const Measurement* b) { return a->share() < b->share(); });
    rows.push_back({kernel, std::to_string(measured.size()), FormatSeconds(best.first_seconds),
                    FormatSeconds(best.seconds), FormatSeconds(best.predicted_seconds),
                    FormatNumber("%+.0f%%", 100 * (best.predicted_seconds / best.seconds - 1)),
                    best.directives});
    for (size_t i = 0; i < measured.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const Measurement &a = *measured[i], &b = *measured[j];
        if (a.share() == b.share() || a.predicted_seconds == b.predicted_seconds) continue;
        ++pairs;
        ordered += (a.share() < b.share()) == (a.predicted_seconds < b.predicted_seconds);
      }
    }
  }
  constexpr size_t kLeft[] = {0, 6};
  std::string text = rows.size() > 1 ? runtime::FormatTable(rows, kLeft) : "";
  text += Cat(section.size(), " schedules of ", kernels.size(),
              " kernels; median error of the prediction ",
              FormatNumber("%.0f%%", 100 * Median(errors)));
  if (pairs > 0) {
    text += Cat(
        "; of two schedules of a kernel it names the faster one in ",
        FormatNumber("%.0f%%", 100.0 * static_cast<double>(ordered) / static_cast<double>(pairs)));
  }
  for (const auto& [outcome, count] : failed) {
    text += Cat("; ", count, " ", search::OutcomeName(outcome));
  }
  return text + "\n";
}

}  // namespace

std::string PredictionReport(const std::vector<Measurement>& measurements) {
  std::map<std::pair<std::string, std::string>, std::vector<const Measurement*>> sections;
  for (const Measurement& m : measurements) sections[{m.target, m.driver}].push_back(&m);
  std::string text;
  for (const auto& [key, section] : sections) {
    text += Cat(text.empty() ? "" : "\n", "target ", key.first, ", ", key.second, "\n",
                SectionOf(section));
  }
  return text.empty() ? "nothing was measured\n" : text;
}

}  // namespace tg::tune
