// The course of a run: what it measured in each epoch, as text of a checkpoint and as a page.
#ifndef TG_TOOLS_TRAIN_CURVES_H_
#define TG_TOOLS_TRAIN_CURVES_H_

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tg::train {

// Means over the samples of an epoch, and of the evaluation after it; NaN where there is none.
struct EpochScore {
  double loss = NAN, accuracy = NAN, held_out_loss = NAN, held_out_accuracy = NAN;
};

// Text that gives the same numbers again, bit for bit.
std::string CurvesText(std::span<const EpochScore> epochs);
std::vector<EpochScore> ParseCurves(const std::string& text);

// An HTML page without references: a curve of each measure over the epochs, and their numbers.
std::string CurvesPage(std::string_view title, std::span<const EpochScore> epochs);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_CURVES_H_
