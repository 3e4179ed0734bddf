// Formats tensors as text for people.
#ifndef TG_TOOLS_RUN_SHOW_H_
#define TG_TOOLS_RUN_SHOW_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg::run {

// "@name f32[2, 3]" and the numbers, one line for each row along the last axis. Prints at most
// `limit` rows and 16 numbers per row (0: all).
std::string PrintTensor(const std::string& name, const runtime::HostTensor& tensor, int64_t limit);

// Draws the last two axes as pictures of characters, one for each index of the leading axes; at
// most `limit` (0: all). Each element is two columns wide; its character, from blank to '@', shows
// the value between the minimum and maximum of its picture. Wide pictures are truncated at 80
// elements. A tensor of one axis is a picture of one row.
std::string ShowTensor(const std::string& name, const runtime::HostTensor& tensor, int64_t limit);

// Class scores along the last axis.
struct Classification {
  std::vector<int64_t> classes;  // by row: the class with the highest score; the first on ties
  int64_t right = 0;             // number of rows whose label is that class; 0 without labels
};
// Returns InvalidArgument if a row has no scores, or if there is not one integer label per row.
absl::StatusOr<Classification> Classify(const std::string& name, const runtime::HostTensor& scores,
                                        const runtime::HostTensor* labels);

// A single row: a line for each class with its score, a bar, and its probability. The probability
// is the score if every row is a distribution (non-negative numbers with the sum 1), else its
// softmax. An arrow marks the best class. Of over 16 classes only the best `limit` are shown.
// Several rows: a line for each row with the best class, its probability and its label; at most
// `limit` (0: all), wrong ones first. `names` may have fewer entries than there are classes.
std::string DescribeClasses(const std::string& name, const runtime::HostTensor& scores,
                            const Classification& found, const runtime::HostTensor* labels,
                            std::span<const std::string> names, int64_t limit);

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_SHOW_H_
