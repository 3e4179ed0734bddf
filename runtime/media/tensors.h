// Pictures and sounds as tensors, and tensors as pictures.
#ifndef TG_RUNTIME_MEDIA_TENSORS_H_
#define TG_RUNTIME_MEDIA_TENSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/io/host_tensor.h"
#include "runtime/media/options.h"
#include "runtime/media/picture.h"
#include "runtime/media/sound.h"

namespace tg::runtime {

// What is known of an input before its contents are.
struct TensorForm {
  static constexpr int64_t kOpen = -1;  // any extent
  ElementType type = ElementType::kF32;
  std::optional<std::vector<int64_t>> shape;  // none: any rank
};

// "f32[?, 3, 224, 224]"
std::string FormText(const TensorForm& form);

// The picture in the input's size, layout, channels and type. Leading axes have extent 1. Making a
// picture smaller averages over pixels, making it larger interpolates linearly. Values become
// (pixel * scale - mean) / std; integers are rounded and clamped. InvalidArgument, naming both, if
// the options and the input's form do not fit.
absl::StatusOr<HostTensor> PictureToTensor(const Picture& picture, const MediaOptions& options,
                                           const TensorForm& form);

// The sound along the last axis. Leading axes have extent 1, except that with `hop` the last but
// one counts frames.
absl::StatusOr<HostTensor> SoundToTensor(const Sound& sound, const MediaOptions& options,
                                         const TensorForm& form);

// The inverse of PictureToTensor, without resizing, for tensors of 2 axes and for 3 with 1, 3 or 4
// channels, with any number of leading axes of extent 1. Values are clamped to 0 to 255; NaN is 0.
absl::StatusOr<Picture> TensorToPicture(const HostTensor& tensor, const MediaOptions& options);

// Reads a file whose kind is not kNone. Errors name it.
absl::StatusOr<HostTensor> ReadMedia(const MediaFile& file, const TensorForm& form);

// Replaces the file, a PNG, atomically.
absl::Status WritePng(const MediaFile& file, const HostTensor& tensor);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_MEDIA_TENSORS_H_
