// Reads pictures in JPEG, PNG and BMP files, and writes PNG files.
//
// stb_image decodes them, restricted to these formats, to 8 bits per channel and to files in
// memory. The size that a file states is checked before memory is allocated. A file that ends early
// is an error (stb_image would fill in what is missing). The orientation in EXIF data is not
// applied.
#ifndef TG_RUNTIME_MEDIA_PICTURE_H_
#define TG_RUNTIME_MEDIA_PICTURE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

// The greatest extent and the greatest number of pixels of a picture that is read or written.
inline constexpr int64_t kMaxPictureExtent = 1 << 16, kMaxPicturePixels = 1 << 27;

// Rows from the top, pixels from the left, channels adjacent. Channels: 1 grey, 2 grey and alpha,
// 3 red, green, blue, 4 with alpha.
struct Picture {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> data;
};

// Parses the bytes of a whole file. Errors call the file `name`.
absl::StatusOr<Picture> ParsePicture(std::string_view bytes, std::string_view name);

absl::StatusOr<Picture> ReadPicture(const std::string& path);

// The bytes of a PNG file.
absl::StatusOr<std::string> EncodePng(const Picture& picture);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_MEDIA_PICTURE_H_
