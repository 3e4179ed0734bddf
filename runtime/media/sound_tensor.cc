// Sounds as tensors, and files by their kind.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "passes/instrument/write_file.h"
#include "runtime/media/store.h"
#include "runtime/media/tensors.h"

namespace tg::runtime {
namespace {

constexpr int64_t kOpenLength = TensorForm::kOpen;

// The shape of the tensor: one sound of `length` samples, or frames of them.
absl::StatusOr<std::vector<int64_t>> ShapeFor(int64_t length, const MediaOptions& options,
                                              const TensorForm& form) {
  std::vector<int64_t> shape = form.shape.value_or(std::vector<int64_t>{kOpenLength, kOpenLength});
  const size_t axes = options.hop ? 2 : 1;
  if (shape.size() < axes) {
    return InvalidArgument("the input ", FormText(form), " has no axis for ",
                           options.hop ? "frames" : "samples");
  }
  for (size_t i = 0; i + axes < shape.size(); ++i) {
    if (shape[i] == kOpenLength) shape[i] = 1;
    if (shape[i] != 1) {
      return InvalidArgument("one sound does not fill the input, ", FormText(form));
    }
  }
  int64_t& samples = shape.back();
  int64_t& extent = shape[shape.size() - axes];
  int64_t have = length;
  if (options.hop) {
    if (samples == kOpenLength) {
      return InvalidArgument("hop needs an input whose last axis has a size, not ", FormText(form));
    }
    // The last frame may reach beyond the end of the sound.
    have = 1 + (std::max<int64_t>(0, length - samples) + *options.hop - 1) / *options.hop;
  }
  if (extent == kOpenLength || options.fit_length) {
    extent = extent == kOpenLength ? have : extent;
  } else if (extent != have) {
    return InvalidArgument("there are ", have, options.hop ? " frames" : " samples",
                           ", but the input is ", FormText(form), "; length=fit cuts or fills");
  }
  const std::optional<int64_t> elements = NumElements(shape);
  if (!elements || *elements > kMaxSamples) {
    return InvalidArgument("over ", kMaxSamples, " samples");
  }
  return shape;
}

}  // namespace

std::string FormText(const TensorForm& form) {
  std::string text = Cat(ElementTypeName(form.type), "[");
  if (!form.shape) return text + "...]";
  for (size_t i = 0; i < form.shape->size(); ++i) {
    const int64_t extent = (*form.shape)[i];
    text += Cat(i > 0 ? ", " : "", extent == kOpenLength ? "?" : std::to_string(extent));
  }
  return text + "]";
}

absl::StatusOr<HostTensor> SoundToTensor(const Sound& sound, const MediaOptions& options,
                                         const TensorForm& form) {
  const int64_t rate = options.rate.value_or(sound.rate);
  const auto size = static_cast<int64_t>(sound.samples.size());
  if (size > kMaxSamples / rate * sound.rate) {
    return InvalidArgument("over ", kMaxSamples, " samples at rate=", rate);
  }
  const Sound resampled = Resample(sound, rate);
  const double first = std::round(options.start * static_cast<double>(rate));
  if (first > 0 && first >= static_cast<double>(resampled.samples.size())) {
    return InvalidArgument("the sound has ", resampled.samples.size(), " samples at rate ", rate,
                           ", so that it ends before start");
  }
  const auto begin = resampled.samples.begin() + static_cast<int64_t>(first);
  const int64_t length = options.lead + (resampled.samples.end() - begin);
  TG_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                      ShapeFor(options.length.value_or(length), options, form));
  std::vector<float> values(static_cast<size_t>(*NumElements(shape)));
  const auto scale = static_cast<float>(options.scale.value_or(IsIntegral(form.type) ? 32768 : 1));
  const auto window = static_cast<size_t>(shape.back());
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t frame = i / window;
    const int64_t at = static_cast<int64_t>(frame) * options.hop.value_or(0) +
                       static_cast<int64_t>(i % window) - options.lead;
    if (at >= 0 && at < length - options.lead) values[i] = begin[at] * scale;
  }
  return TensorOf(form.type, std::move(shape), values);
}

absl::StatusOr<HostTensor> ReadMedia(const MediaFile& file, const TensorForm& form) {
  absl::StatusOr<HostTensor> tensor;
  if (file.kind == MediaKind::kPicture) {
    TG_ASSIGN_OR_RETURN(const Picture picture, ReadPicture(file.path));
    tensor = PictureToTensor(picture, file.options, form);
  } else {
    TG_ASSIGN_OR_RETURN(const Sound sound, ReadWav(file.path));
    tensor = SoundToTensor(sound, file.options, form);
  }
  if (tensor.ok()) return tensor;
  return absl::Status(tensor.status().code(),
                      Cat(file.path, ": ", std::string(tensor.status().message())));
}

absl::Status WritePng(const MediaFile& file, const HostTensor& tensor) {
  const absl::StatusOr<Picture> picture = TensorToPicture(tensor, file.options);
  if (!picture.ok()) {
    return absl::Status(picture.status().code(),
                        Cat(file.path, ": ", std::string(picture.status().message())));
  }
  TG_ASSIGN_OR_RETURN(const std::string bytes, EncodePng(*picture));
  return instrument::WriteFile(file.path, bytes);
}

}  // namespace tg::runtime
