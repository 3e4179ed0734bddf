// The options that follow the name of a picture's or a sound's file on the command line:
// FILE:size=224:mean=0.485,0.456,0.406. One table defines them all.
#ifndef TG_RUNTIME_MEDIA_OPTIONS_H_
#define TG_RUNTIME_MEDIA_OPTIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

enum class MediaKind { kNone, kPicture, kSound };  // kNone: another kind of file
enum class MediaUse { kInput, kOutput };

enum class ResizeMode { kStretch, kCrop, kPad };
enum class Layout { kNchw, kNhwc };
enum class Channels { kGray, kRgb, kBgr, kRgba };

// The options that were given. Others follow from the tensor and from the file.
struct MediaOptions {
  // Rows and columns; kKeepAspect: the size that keeps the picture's aspect ratio.
  static constexpr int64_t kKeepAspect = -1;
  std::optional<std::array<int64_t, 2>> size;
  ResizeMode resize = ResizeMode::kStretch;
  std::vector<double> fill = {0};
  std::optional<double> scale;
  std::vector<double> mean = {0}, std = {1};
  std::optional<Layout> layout;
  std::optional<Channels> channels;

  std::optional<int64_t> rate;
  double start = 0;
  bool fit_length = false;
  std::optional<int64_t> length;
  int64_t lead = 0;
  std::optional<int64_t> hop;
};

struct MediaFile {
  std::string path;
  MediaKind kind = MediaKind::kNone;
  MediaOptions options;
};

// Splits FILE[:OPTION=VALUE...]. The extension of FILE determines its kind. A file of another kind
// has no options, and its name may contain colons. Errors name the option and its valid values.
absl::StatusOr<MediaFile> ParseMediaFile(std::string_view text, MediaUse use);

// "size, resize, ...": the names of the options of a kind of file.
std::string MediaOptionNames(MediaKind kind, MediaUse use);

// Returns a help text with one line for each option of a kind of file: its values and its meaning.
// Each line begins with a line break.
std::string DescribeMediaOptions(MediaKind kind, MediaUse use);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_MEDIA_OPTIONS_H_
