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
using Names = std::map<std::string, std::string>;  // of kernels by key

// The chosen schedule of a kernel is good if it takes at most this part of the best one's time.
constexpr double kNearBest = 1.15;

double Median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

// Measurements of one kernel.
struct KernelRows {
  std::string name;
  std::vector<const Measurement*> timed;
  const Measurement* chosen = nullptr;  // null: a record of before it was kept
  const Measurement* best = nullptr;
  // The least of all measurements, each of which was by turns with it.
  double chosen_seconds = HUGE_VAL;
  // Of another schedule, as if it had been measured in the same moment.
  double SecondsOf(const Measurement& m) const { return m.share() * chosen_seconds; }
  double ErrorOf(const Measurement& m) const { return m.predicted_seconds / SecondsOf(m) - 1; }
  // The time of the chosen schedule by the best one's.
  double Ratio() const { return best->share() > 0 ? 1 / std::min(1.0, best->share()) : 1; }
};

// A line for each kernel, and both schedules of those whose chosen one is slow.
std::string KernelLines(const std::vector<KernelRows>& kernels) {
  std::vector<std::vector<Cell>> rows;
  std::vector<Cell>& head = rows.emplace_back();
  for (const char* title :
       {"kernel", "schedules", "chosen", "predicted", "error", "best", "chosen/best"}) {
    head.emplace_back(title);
  }
  std::string slow;
  for (const KernelRows& kernel : kernels) {
    const Measurement* chosen = kernel.chosen;
    rows.push_back(
        {kernel.name, std::to_string(kernel.timed.size()), FormatSeconds(kernel.chosen_seconds),
         chosen ? FormatSeconds(chosen->predicted_seconds) : "",
         chosen ? FormatNumber("%+.0f%%", 100 * kernel.ErrorOf(*chosen)) : "",
         FormatSeconds(kernel.SecondsOf(*kernel.best)), FormatNumber("%.2f", kernel.Ratio())});
    if (kernel.Ratio() <= kNearBest) continue;
    slow += Cat("\n", kernel.name, ", ", kernel.best->kernel, ": the chosen schedule takes ",
                FormatNumber("%.2f", kernel.Ratio()), " of the best one's time\n");
    for (const auto& [what, m] : {std::pair("chosen", chosen), std::pair("best", kernel.best)}) {
      if (m == nullptr) continue;
      slow += Cat("  ", what, ": ", FormatSeconds(kernel.SecondsOf(*m)), ", predicted ",
                  FormatSeconds(m->predicted_seconds),
                  m->key == m->kernel ? "" : Cat(", form ", m->key), ": ", m->directives, "\n");
    }
  }
  constexpr size_t kLeft[] = {0};
  const std::string table = rows.size() > 1 ? runtime::FormatTable(rows, kLeft) : "";
  return slow.empty() ? table : Cat(table, slow, "\n");
}

// How often the prediction names the faster one of two schedules of a kernel.
std::string OrderText(const std::vector<KernelRows>& kernels) {
  size_t pairs = 0, ordered = 0;
  for (const KernelRows& kernel : kernels) {
    for (size_t i = 0; i < kernel.timed.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const Measurement &a = *kernel.timed[i], &b = *kernel.timed[j];
        if (a.share() == b.share() || a.predicted_seconds == b.predicted_seconds) continue;
        ++pairs;
        ordered += (a.share() < b.share()) == (a.predicted_seconds < b.predicted_seconds);
      }
    }
  }
  if (pairs == 0) return "";
  return Cat(
      "; of two schedules of a kernel it names the faster one in ",
      FormatNumber("%.0f%%", 100.0 * static_cast<double>(ordered) / static_cast<double>(pairs)));
}

std::string SectionOf(const std::vector<const Measurement*>& section, const Names& names) {
  std::map<std::string, KernelRows> by_key;
  std::vector<double> errors, chosen_errors;
  std::map<search::Outcome, size_t> failed;
  for (const Measurement* m : section) {
    if (!search::IsTimed(m->outcome)) {
      ++failed[m->outcome];
      continue;
    }
    KernelRows& kernel = by_key[m->kernel];
    const auto name = names.find(m->kernel);
    kernel.name = name == names.end() ? m->kernel : name->second;
    kernel.timed.push_back(m);
    if (m->outcome == search::Outcome::kFirst) kernel.chosen = m;
    if (kernel.best == nullptr || m->share() < kernel.best->share()) kernel.best = m;
    kernel.chosen_seconds = std::min(kernel.chosen_seconds, m->first_seconds);
  }
  std::vector<KernelRows> kernels;
  for (auto& [key, kernel] : by_key) {
    for (const Measurement* m : kernel.timed) {
      if (m->predicted_seconds <= 0 || m->share() <= 0) continue;
      errors.push_back(std::fabs(kernel.ErrorOf(*m)));
      if (m == kernel.chosen) chosen_errors.push_back(errors.back());
    }
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelRows& a, const KernelRows& b) { return a.Ratio() > b.Ratio(); });
  const auto near = std::count_if(kernels.begin(), kernels.end(), [](const KernelRows& kernel) {
    return kernel.Ratio() <= kNearBest;
  });
  std::string text = KernelLines(kernels);
  text += Cat(section.size(), " schedules of ", kernels.size(),
              " kernels; median error of the prediction ",
              FormatNumber("%.0f%%", 100 * Median(errors)), OrderText(kernels));
  for (const auto& [outcome, count] : failed) {
    text += Cat("; ", count, " ", search::OutcomeName(outcome));
  }
  text += Cat("\nthe chosen schedule takes at most ", FormatNumber("%.2f", kNearBest),
              " of the best one's time in ", near, " of ", kernels.size(), " kernels");
  if (!chosen_errors.empty()) {
    text += Cat("; median error of its prediction ",
                FormatNumber("%.0f%%", 100 * Median(chosen_errors)));
  }
  return text + "\n";
}

}  // namespace

std::string PredictionReport(const std::vector<Measurement>& measurements,
                             const std::vector<search::RecordedKernel>& kernels) {
  Names names;
  for (const search::RecordedKernel& kernel : kernels) names[kernel.kernel] = kernel.name;
  std::map<std::pair<std::string, std::string>, std::vector<const Measurement*>> sections;
  for (const Measurement& m : measurements) sections[{m.target, m.driver}].push_back(&m);
  std::string text;
  for (const auto& [key, section] : sections) {
    text += Cat(text.empty() ? "" : "\n", "target ", key.first, ", ", key.second, "\n",
                SectionOf(section, names));
  }
  return text.empty() ? "nothing was measured\n" : text;
}

}  // namespace tg::tune
