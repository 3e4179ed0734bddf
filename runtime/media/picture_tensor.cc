// Pictures as tensors and back.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "ir/value.h"
#include "runtime/media/store.h"
#include "runtime/media/taps.h"
#include "runtime/media/tensors.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

constexpr int64_t kOpen = TensorForm::kOpen;
constexpr double kPixelMax = 255;

int64_t CountOf(Channels channels) {
  return channels == Channels::kGray ? 1 : channels == Channels::kRgba ? 4 : 3;
}

std::string_view NameOf(Channels channels) {
  constexpr std::array<std::string_view, 4> kNames = {"gray", "rgb", "bgr", "rgba"};
  return kNames[static_cast<size_t>(channels)];
}

bool IsChannelCount(int64_t extent) { return extent == 1 || extent == 3 || extent == 4; }

// Where the rows, columns and channels of a picture are in a tensor.
struct Axes {
  size_t rank = 4;
  Layout layout = Layout::kNchw;
  bool has_channels = true;

  size_t channels() const { return layout == Layout::kNchw ? rank - 3 : rank - 1; }
  size_t rows() const { return rank - (layout == Layout::kNchw ? 2 : has_channels ? 3 : 2); }
  size_t columns() const { return rows() + 1; }
  size_t leading() const { return rank - (has_channels ? 3 : 2); }
};

// The axes of a tensor of this shape. A shape with two axes that are not 1 is a picture without
// channels if `may_lack_channels`.
Axes AxesOf(std::span<const int64_t> shape, std::optional<Layout> layout) {
  Axes axes;
  axes.rank = shape.size();
  if (shape.size() == 2) {
    axes.has_channels = false;
    axes.layout = Layout::kNhwc;
    return axes;
  }
  const bool first = IsChannelCount(shape[axes.rank - 3]), last = IsChannelCount(shape.back());
  axes.layout = layout.value_or(last && !first ? Layout::kNhwc : Layout::kNchw);
  return axes;
}

// The element of a pixel for a channel of the tensor.
class ChannelReader {
 public:
  ChannelReader(const Picture& picture, Channels channels)
      : picture_(picture), channels_(channels) {}

  float operator()(const uint8_t* pixel, int64_t c) const {
    const bool is_gray = picture_.channels < 3;
    if (channels_ == Channels::kGray) {
      // ITU-R 601.
      return is_gray ? pixel[0]
                     : static_cast<float>(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]);
    }
    if (c == 3) {
      const bool has_alpha = picture_.channels == 2 || picture_.channels == 4;
      return has_alpha ? pixel[picture_.channels - 1] : static_cast<float>(kPixelMax);
    }
    if (is_gray) return pixel[0];
    return pixel[channels_ == Channels::kBgr ? 2 - c : c];
  }

 private:
  const Picture& picture_;
  const Channels channels_;
};

// A part of a picture, in pixels.
struct Window {
  double top, left, bottom, right;
};

// The window in `height` x `width` pixels of `count` channels, which are adjacent.
std::vector<float> ResizeTo(const Picture& picture, const Window& window, Channels channels,
                            int64_t height, int64_t width) {
  const int64_t count = CountOf(channels);
  const ChannelReader read(picture, channels);
  const std::vector<Taps> columns =
      TapsOver(kTriangle, window.left, window.right, width, picture.width);
  const std::vector<Taps> rows =
      TapsOver(kTriangle, window.top, window.bottom, height, picture.height);
  // Only the rows that the window reads.
  int64_t begin = picture.height, end = 0;
  for (const Taps& taps : rows) {
    begin = std::min(begin, taps.first);
    end = std::max(end, taps.first + static_cast<int64_t>(taps.weights.size()));
  }
  const auto line = static_cast<size_t>(width * count);
  std::vector<float> narrow(static_cast<size_t>(end - begin) * line);
  float* to = narrow.data();
  for (int64_t y = begin; y < end; ++y) {
    const uint8_t* row = picture.data.data() + y * picture.width * picture.channels;
    for (const Taps& taps : columns) {
      for (int64_t c = 0; c < count; ++c) {
        const uint8_t* pixel = row + taps.first * picture.channels;
        float sum = 0;
        for (const float w : taps.weights) {
          sum += w * read(pixel, c);
          pixel += picture.channels;
        }
        *to++ = sum;
      }
    }
  }
  std::vector<float> out(static_cast<size_t>(height) * line);
  for (size_t y = 0; y < rows.size(); ++y) {
    for (size_t t = 0; t < rows[y].weights.size(); ++t) {
      const float* from = narrow.data() + (static_cast<size_t>(rows[y].first - begin) + t) * line;
      for (size_t x = 0; x < line; ++x) out[y * line + x] += rows[y].weights[t] * from[x];
    }
  }
  return out;
}

absl::Status CheckPerChannel(std::string_view name, std::span<const double> values, int64_t count) {
  if (values.size() == 1 || values.size() == static_cast<size_t>(count)) return absl::OkStatus();
  return InvalidArgument(name, " has ", values.size(), " values for ", count, " channel",
                         count == 1 ? "" : "s");
}

double PerChannel(std::span<const double> values, int64_t c) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(c)];
}

// Rows and columns: given, declared, or so that the picture keeps its aspect or size.
absl::StatusOr<std::array<int64_t, 2>> SizeOf(const Picture& picture, const MediaOptions& options,
                                              const TensorForm& form, const Axes& axes) {
  std::array<int64_t, 2> declared = {kOpen, kOpen};
  if (form.shape) declared = {(*form.shape)[axes.rows()], (*form.shape)[axes.columns()]};
  std::array<int64_t, 2> size = options.size.value_or(declared);
  for (size_t i = 0; i < 2; ++i) {
    if (size[i] == MediaOptions::kKeepAspect) size[i] = declared[i];
    if (declared[i] != kOpen && declared[i] != size[i]) {
      return InvalidArgument("size=", size[0], "x", size[1], " does not fit the input, ",
                             FormText(form));
    }
  }
  const auto follow = [](int64_t other, int64_t from, int64_t to) {
    const double ratio = static_cast<double>(to) / static_cast<double>(from);
    return std::max<int64_t>(1, std::llround(ratio * static_cast<double>(other)));
  };
  if (size[0] == kOpen && size[1] == kOpen) size = {picture.height, picture.width};
  if (size[0] == kOpen) size[0] = follow(picture.height, picture.width, size[1]);
  if (size[1] == kOpen) size[1] = follow(picture.width, picture.height, size[0]);
  if (size[0] <= 0 || size[1] <= 0 || size[0] > kMaxPicturePixels / size[1]) {
    return InvalidArgument("a picture of ", size[0], " x ", size[1], " pixels; at most ",
                           kMaxPicturePixels, " are made");
  }
  return size;
}

// The picture with `height` rows and `width` columns, in one of the modes.
std::vector<float> Fit(const Picture& picture, const MediaOptions& options, Channels channels,
                       int64_t height, int64_t width) {
  const auto h = static_cast<double>(picture.height), w = static_cast<double>(picture.width);
  const double vertical = static_cast<double>(height) / h;
  const double horizontal = static_cast<double>(width) / w;
  if (options.resize == ResizeMode::kStretch) {
    return ResizeTo(picture, {0, 0, h, w}, channels, height, width);
  }
  if (options.resize == ResizeMode::kCrop) {
    const double scale = std::max(vertical, horizontal);
    const double dy = (h - static_cast<double>(height) / scale) / 2;
    const double dx = (w - static_cast<double>(width) / scale) / 2;
    return ResizeTo(picture, {dy, dx, h - dy, w - dx}, channels, height, width);
  }
  const double scale = std::min(vertical, horizontal);
  const int64_t inner_height = std::clamp<int64_t>(std::llround(h * scale), 1, height);
  const int64_t inner_width = std::clamp<int64_t>(std::llround(w * scale), 1, width);
  const std::vector<float> inner =
      ResizeTo(picture, {0, 0, h, w}, channels, inner_height, inner_width);
  const int64_t count = CountOf(channels);
  std::vector<float> out(static_cast<size_t>(height * width * count));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<int64_t>(i) % count;
    out[i] = static_cast<float>(PerChannel(options.fill, c));
  }
  for (int64_t y = 0; y < inner_height; ++y) {
    std::copy_n(inner.begin() + y * inner_width * count, inner_width * count,
                out.begin() + y * width * count);
  }
  return out;
}

double ScaleOf(const MediaOptions& options, ElementType type) {
  return options.scale.value_or(IsIntegral(type) ? 1 : 1 / kPixelMax);
}

}  // namespace

absl::StatusOr<HostTensor> PictureToTensor(const Picture& picture, const MediaOptions& options,
                                           const TensorForm& form) {
  constexpr size_t kMinRank = 2;
  Axes axes;
  int64_t declared = kOpen;
  if (form.shape) {
    const std::vector<int64_t>& shape = *form.shape;
    if (shape.size() < kMinRank) {
      return InvalidArgument("the input ", FormText(form), " has no rows and columns");
    }
    axes = AxesOf(shape, options.layout);
    for (size_t i = 0; i < axes.leading(); ++i) {
      if (shape[i] == 1 || shape[i] == kOpen) continue;
      return InvalidArgument("one picture does not fill the input, ", FormText(form));
    }
    declared = axes.has_channels ? shape[axes.channels()] : 1;
  } else if (options.layout) {
    axes.layout = *options.layout;
  }
  const Channels channels = options.channels.value_or(declared == 1   ? Channels::kGray
                                                      : declared == 4 ? Channels::kRgba
                                                                      : Channels::kRgb);
  const int64_t count = CountOf(channels);
  if (declared != kOpen && declared != count) {
    return InvalidArgument("channels=", NameOf(channels), " are ", count, ", but the input is ",
                           FormText(form));
  }
  TG_RETURN_IF_ERROR(CheckPerChannel("mean", options.mean, count));
  TG_RETURN_IF_ERROR(CheckPerChannel("std", options.std, count));
  TG_RETURN_IF_ERROR(CheckPerChannel("fill", options.fill, count));
  TG_ASSIGN_OR_RETURN(const auto size, SizeOf(picture, options, form, axes));
  const auto [height, width] = size;
  const std::vector<float> pixels = Fit(picture, options, channels, height, width);

  const double scale = ScaleOf(options, form.type);
  const bool planar = axes.has_channels && axes.layout == Layout::kNchw;
  std::vector<float> values(pixels.size());
  for (size_t i = 0; i < pixels.size(); ++i) {
    const int64_t c = static_cast<int64_t>(i) % count, at = static_cast<int64_t>(i) / count;
    const double v = (pixels[i] * scale - PerChannel(options.mean, c)) / PerChannel(options.std, c);
    values[planar ? static_cast<size_t>(c * height * width + at) : i] = static_cast<float>(v);
  }
  std::vector<int64_t> shape(axes.rank, 1);
  shape[axes.rows()] = height;
  shape[axes.columns()] = width;
  if (axes.has_channels) shape[axes.channels()] = count;
  return TensorOf(form.type, std::move(shape), values);
}

absl::StatusOr<Picture> TensorToPicture(const HostTensor& tensor, const MediaOptions& options) {
  std::vector<int64_t> shape = tensor.shape;
  while (shape.size() > 3 && shape[0] == 1) shape.erase(shape.begin());
  const auto wrong = [&] {
    return InvalidArgument(TypeAndShape(tensor.type, tensor.shape),
                           " is no picture: rows and columns, with 1, 3 or 4 channels before or "
                           "after them");
  };
  if (shape.size() < 2 || shape.size() > 3) return wrong();
  Axes axes = AxesOf(shape, options.layout);
  // [1, H, W] and [1, W]: one channel, or one row.
  const int64_t count = axes.has_channels ? shape[axes.channels()] : 1;
  if (!IsChannelCount(count)) return wrong();
  Picture picture{shape[axes.rows()], shape[axes.columns()], count, {}};
  const int64_t pixels = picture.height * picture.width;
  if (pixels == 0 || picture.height > kMaxPictureExtent || picture.width > kMaxPictureExtent ||
      pixels > kMaxPicturePixels) {
    return InvalidArgument(TypeAndShape(tensor.type, tensor.shape), " is no picture of 1 to ",
                           kMaxPicturePixels, " pixels");
  }
  TG_RETURN_IF_ERROR(CheckPerChannel("mean", options.mean, count));
  TG_RETURN_IF_ERROR(CheckPerChannel("std", options.std, count));
  const Channels channels = options.channels.value_or(count == 1   ? Channels::kGray
                                                      : count == 3 ? Channels::kRgb
                                                                   : Channels::kRgba);
  if (CountOf(channels) != count) {
    return InvalidArgument("channels=", NameOf(channels), " are ", CountOf(channels),
                           ", but the output is ", TypeAndShape(tensor.type, tensor.shape));
  }
  const Scalar scalar = ScalarOf(tensor.type);
  const bool planar = axes.has_channels && axes.layout == Layout::kNchw;
  // A bool is black or white.
  const double scale = tensor.type == ElementType::kBool && !options.scale
                           ? 1 / kPixelMax
                           : ScaleOf(options, tensor.type);
  picture.data.resize(static_cast<size_t>(pixels * count));
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < count; ++c) {
      const auto from = static_cast<size_t>(planar ? c * pixels + i : i * count + c);
      const double v =
          DoubleFromBits(scalar, interpret::LoadBits(scalar, tensor.data.data(), from));
      const double pixel = (v * PerChannel(options.std, c) + PerChannel(options.mean, c)) / scale;
      const int64_t to = channels == Channels::kBgr ? 2 - c : c;
      picture.data[static_cast<size_t>(i * count + to)] = static_cast<uint8_t>(
          std::isnan(pixel) ? 0 : std::nearbyint(std::clamp(pixel, 0.0, kPixelMax)));
    }
  }
  return picture;
}

}  // namespace tg::runtime
