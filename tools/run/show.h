// Tensors as text for people.
#ifndef TG_TOOLS_RUN_SHOW_H_
#define TG_TOOLS_RUN_SHOW_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"

namespace tg {

// "@name f32[2, 3]" and the numbers, a line for each row of the last axis: at most `limit` rows and
// 16 numbers a row (0: all).
std::string PrintTensor(const std::string& name, const runtime::HostTensor& tensor, int64_t limit);

// The last two axes as pictures of characters, one for each index of the axes before: at most
// `limit` (0: all). Each element is two columns wide, its character says where it lies between the
// smallest and the greatest number of its picture, from blank to '@'. Wide pictures are cut at 80
// elements. A tensor of one axis is a picture of one row.
std::string ShowTensor(const std::string& name, const runtime::HostTensor& tensor, int64_t limit);

// Rows of class scores along the last axis.
struct Classification {
  std::vector<int64_t> classes;  // by row: the class with the highest score, the first of equals
  int64_t right = 0;             // rows whose label that is; 0 without labels
};
// InvalidArgument where there is no score in a row, or not one label (an integer) a row.
absl::StatusOr<Classification> Classify(const std::string& name, const runtime::HostTensor& scores,
                                        const runtime::HostTensor* labels);

// One row: a line for each class with its score, a bar, and its probability: the score itself where
// every row is a distribution (numbers from 0 on with the sum 1), else its softmax. An arrow marks
// the best. More rows: a line a row with the best class, its probability and its label; at
// most `limit` (0: all), wrong ones first. `names` may be shorter than there are classes.
std::string DescribeClasses(const std::string& name, const runtime::HostTensor& scores,
                            const Classification& found, const runtime::HostTensor* labels,
                            std::span<const std::string> names, int64_t limit);

}  // namespace tg

#endif  // TG_TOOLS_RUN_SHOW_H_
