#include "tools/train/data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/interpret/random_data.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"
#include "runtime/io/file.h"
#include "runtime/io/npy.h"
#include "runtime/session/tensors.h"
#include "tools/train/npz.h"

namespace tg::train {
namespace {

using runtime::HostTensor;
using Arrays = std::map<std::string, HostTensor>;

absl::StatusOr<Arrays> ReadArrays(std::span<const std::string> sources) {
  Arrays arrays;
  for (const std::string& source : sources) {
    Arrays found;
    const size_t equals = source.find('=');
    if (equals != std::string::npos) {
      TG_ASSIGN_OR_RETURN(found[source.substr(0, equals)],
                          runtime::ReadNpy(source.substr(equals + 1)));
    } else {
      TG_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(source));
      TG_ASSIGN_OR_RETURN(found, ParseNpz(bytes, source));
    }
    for (auto& [name, array] : found) {
      if (arrays.count(name)) return InvalidArgument("the array ", Quote(name), " is given twice");
      arrays[name] = std::move(array);
    }
  }
  return arrays;
}

std::string Names(const Arrays& arrays) {
  std::string names;
  for (const auto& [name, array] : arrays) names += Cat(names.empty() ? "" : ", ", name);
  return names.empty() ? "none" : names;
}

}  // namespace

absl::StatusOr<Samples> Samples::Read(std::span<const std::string> sources,
                                      const TrainingModule& training, const LossSpec& loss) {
  TG_ASSIGN_OR_RETURN(const Arrays arrays, ReadArrays(sources));
  Samples samples;
  samples.batch_ = training.batch;
  std::vector<std::string> needed = training.inputs;
  needed.push_back(loss.target);
  for (const std::string& name : needed) {
    const auto found = arrays.find(name);
    if (found == arrays.end()) {
      return InvalidArgument("the data have no array ", Quote(name),
                             "; there are: ", Names(arrays));
    }
    const bool has_classes = name == loss.target && loss.kind == LossKind::kCrossEntropy;
    TG_RETURN_IF_ERROR(samples.Add(*training.module->FindBuffer(name), found->second,
                                   has_classes ? training.classes : 0));
  }
  samples.counts_.resize(static_cast<size_t>(training.batch));
  return samples;
}

absl::Status Samples::Add(const BufferDecl& input, const HostTensor& array, int64_t classes) {
  const std::string what =
      Cat("the array ", Quote(input.name), ", ", runtime::TypeAndShape(array.type, array.shape));
  bool fits = array.shape.size() == input.shape.size();
  for (size_t i = 1; fits && i < array.shape.size(); ++i)
    fits = array.shape[i] == input.shape[i].size;
  if (!fits || input.shape[0].size != batch_) {
    return InvalidArgument(what, ", does not fit the input ", runtime::DeclaredType(input),
                           ", whose first axis is the batch");
  }
  if (array.shape[0] == 0) return InvalidArgument(what, ", has no sample");
  if (size_ >= 0 && array.shape[0] != size_) {
    return InvalidArgument(what, ", has ", array.shape[0], " samples; another array has ", size_);
  }
  size_ = array.shape[0];
  const Scalar from = runtime::ScalarOf(array.type), to = input.dtype.scalar();
  const std::optional<runtime::ElementType> type = runtime::ElementTypeOf(to);
  if (!type) return InvalidArgument("input ", Quote(input.name), " has a type that no file has");
  if (IsFloat(from) && !IsFloat(to)) {
    return InvalidArgument(what, ", has floats; the input has type ", input.dtype.ToString());
  }
  Array added{.name = input.name};
  TG_ASSIGN_OR_RETURN(added.all, runtime::MakeHostTensor(*type, array.shape));
  const auto count = array.data.size() / runtime::ElementSize(array.type);
  const size_t by_row = count / static_cast<size_t>(size_);
  for (size_t i = 0; i < count; ++i) {
    const int64_t bits = interpret::LoadBits(from, array.data.data(), i);
    const double number = DoubleFromBits(from, bits);
    if (!std::isfinite(number)) {
      return InvalidArgument(what, ": sample ", i / by_row, " has a number that is not finite");
    }
    if (classes > 0 && !(number >= 0 && number < static_cast<double>(classes))) {
      return InvalidArgument(what, ": sample ", i / by_row, " has label ",
                             static_cast<int64_t>(number), ", not one of 0 to ", classes - 1);
    }
    interpret::StoreBits(to, added.all.data.data(), i, CastBits(from, to, bits));
  }
  added.row_bytes = added.all.data.size() / static_cast<size_t>(size_);
  std::vector<int64_t> shape = array.shape;
  shape[0] = batch_;
  TG_ASSIGN_OR_RETURN(added.batch, runtime::MakeHostTensor(*type, shape));
  arrays_.push_back(std::move(added));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Samples::SetBatch(runtime::Session& session, std::span<const int64_t> order,
                                          int64_t number) {
  int64_t counted = 0;
  for (int64_t i = 0; i < batch_; ++i) {
    const int64_t at = number * batch_ + i;
    const bool counts = at < size_;
    counted += counts;
    counts_[static_cast<size_t>(i)] = counts ? 1.0f : 0.0f;
    const auto sample = static_cast<size_t>(order[static_cast<size_t>(at % size_)]);
    for (Array& a : arrays_) {
      std::memcpy(a.batch.data.data() + static_cast<size_t>(i) * a.row_bytes,
                  a.all.data.data() + sample * a.row_bytes, a.row_bytes);
    }
  }
  for (const Array& a : arrays_) TG_RETURN_IF_ERROR(session.Set(a.name, a.batch));
  const std::vector<int64_t> shape = {batch_};
  TG_RETURN_IF_ERROR(session.Set(kSampleWeights, runtime::ElementType::kF32, shape,
                                 std::as_bytes(std::span(counts_))));
  return counted;
}

std::vector<int64_t> PlainOrder(int64_t n) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int64_t> ShuffledOrder(int64_t n, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order = PlainOrder(n);
  // Fisher and Yates, by random numbers that are the same on every machine.
  const uint64_t key = interpret::Threefry2x32(static_cast<uint64_t>(epoch), seed);
  for (uint64_t i = static_cast<uint64_t>(n); i > 1; --i) {
    std::swap(order[i - 1], order[interpret::Threefry2x32(i, key) % i]);
  }
  return order;
}

}  // namespace tg::train
