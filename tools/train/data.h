// The samples that a model is trained with: arrays whose first axis numbers them.
#ifndef TG_TOOLS_TRAIN_DATA_H_
#define TG_TOOLS_TRAIN_DATA_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"
#include "runtime/session/session.h"
#include "tools/train/step.h"

namespace tg::train {

class Samples {
 public:
  // Reads arrays from `sources`, FILE.npz or NAME=FILE.npy, and converts each that the module reads
  // to the type of its input. InvalidArgument names the array, and the sample if it is at fault:
  // another shape, a number that is not finite, a label out of range.
  static absl::StatusOr<Samples> Read(std::span<const std::string> sources,
                                      const TrainingModule& training, const LossSpec& loss);

  int64_t size() const { return size_; }
  // The samples that one batch has, which wraps around after the last one, and what they count.
  int64_t NumBatches() const { return (size_ + batch_ - 1) / batch_; }
  // Sets the inputs of batch number `number` of this order of samples. The last batch is filled up
  // with samples that count 0. Returns how many count.
  absl::StatusOr<int64_t> SetBatch(runtime::Session& session, std::span<const int64_t> order,
                                   int64_t number);

 private:
  struct Array {
    std::string name;
    runtime::HostTensor all, batch;
    size_t row_bytes = 0;
  };
  absl::Status Add(const BufferDecl& input, const runtime::HostTensor& array, int64_t classes);

  std::vector<Array> arrays_;
  std::vector<float> counts_;
  int64_t size_ = -1, batch_ = 1;
};

// 0, 1, ..., n-1 in an order that the seed and the epoch give.
std::vector<int64_t> ShuffledOrder(int64_t n, uint64_t seed, int64_t epoch);
std::vector<int64_t> PlainOrder(int64_t n);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_DATA_H_
