#include "runtime/media/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <type_traits>

#include "base/status.h"
#include "llvm/ADT/StringRef.h"

namespace tg::runtime {
namespace {

constexpr int64_t kMaxExtent = 1 << 16;

bool ParseInt(std::string_view text, int64_t min, int64_t max, int64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && *out >= min && *out <= max;
}

// A number, or a fraction of two.
bool ParseDouble(std::string_view text, double* out) {
  const size_t slash = text.find('/');
  const std::string_view number = text.substr(0, slash);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), *out);
  if (error != std::errc() || end != number.data() + number.size()) return false;
  if (slash != std::string_view::npos) {
    double divisor = 0;
    if (!ParseDouble(text.substr(slash + 1), &divisor)) return false;
    *out /= divisor;
  }
  return std::isfinite(*out);
}

bool ParseDoubles(std::string_view text, std::vector<double>* out) {
  out->clear();
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    if (!ParseDouble(text.substr(0, comma), &out->emplace_back())) return false;
    if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
  }
  return true;
}

bool ParseExtent(std::string_view text, int64_t* out) {
  *out = MediaOptions::kKeepAspect;
  return text == "*" || ParseInt(text, 1, kMaxExtent, out);
}

bool SetSize(std::string_view text, MediaOptions& o) {
  std::array<int64_t, 2>& size = o.size.emplace();
  const size_t x = text.find('x');
  if (x == std::string_view::npos) {
    return ParseInt(text, 1, kMaxExtent, &size[0]) && (size[1] = size[0]);
  }
  return ParseExtent(text.substr(0, x), &size[0]) && ParseExtent(text.substr(x + 1), &size[1]) &&
         std::max(size[0], size[1]) > 0;
}

template <typename T>
struct Choice {
  std::string_view name;
  T value;
};

template <typename T>
bool SetChoice(std::string_view text,
               std::initializer_list<Choice<std::type_identity_t<T>>> choices, T* out) {
  for (const auto& [name, value] : choices) {
    if (text != name) continue;
    *out = value;
    return true;
  }
  return false;
}

struct Option {
  std::string_view name, form, doc;
  bool picture_input, sound_input, picture_output;
  bool (*set)(std::string_view text, MediaOptions& options);
};

constexpr bool kYes = true, kNo = false;  // columns of the table

constexpr Option kOptions[] = {
    {"size", "N|HxW", "rows and columns, * for what keeps the aspect (the input's)", kYes, kNo, kNo,
     SetSize},
    {"resize", "stretch|crop|pad",
     "to another aspect: distort, cut the middle out, or fill at the bottom or right (stretch)",
     kYes, kNo, kNo,
     [](std::string_view t, MediaOptions& o) {
       return SetChoice(t,
                        {{"stretch", ResizeMode::kStretch},
                         {"crop", ResizeMode::kCrop},
                         {"pad", ResizeMode::kPad}},
                        &o.resize);
     }},
    {"fill", "V|V,V,V", "what resize=pad fills with, as a pixel's value from 0 to 255 (0)", kYes,
     kNo, kNo, [](std::string_view t, MediaOptions& o) { return ParseDoubles(t, &o.fill); }},
    {"scale", "V", "factor of a pixel's value, 0 to 255 (1/255; 1 to integers)", kYes, kNo, kYes,
     [](std::string_view t, MediaOptions& o) { return ParseDouble(t, &o.scale.emplace()); }},
    {"scale", "V", "factor of samples, which are -1 to 1 (1; 32768 to integers)", kNo, kYes, kNo,
     [](std::string_view t, MediaOptions& o) { return ParseDouble(t, &o.scale.emplace()); }},
    {"mean", "V|V,V,V", "what is then subtracted, by channel (0)", kYes, kNo, kYes,
     [](std::string_view t, MediaOptions& o) { return ParseDoubles(t, &o.mean); }},
    {"std", "V|V,V,V", "what is then divided by (1)", kYes, kNo, kYes,
     [](std::string_view t, MediaOptions& o) {
       return ParseDoubles(t, &o.std) && std::ranges::count(o.std, 0) == 0;
     }},
    {"layout", "nchw|nhwc", "order of the axes (where the input has 1, 3 or 4, else nchw)", kYes,
     kNo, kYes,
     [](std::string_view t, MediaOptions& o) {
       return SetChoice(t, {{"nchw", Layout::kNchw}, {"nhwc", Layout::kNhwc}}, &o.layout.emplace());
     }},
    {"channels", "rgb|bgr|gray|rgba", "what the channels are (gray for 1, rgb, rgba for 4)", kYes,
     kNo, kYes,
     [](std::string_view t, MediaOptions& o) {
       return SetChoice(t,
                        {{"rgb", Channels::kRgb},
                         {"bgr", Channels::kBgr},
                         {"gray", Channels::kGray},
                         {"rgba", Channels::kRgba}},
                        &o.channels.emplace());
     }},
    {"rate", "N", "samples a second, to which others are resampled (the file's)", kNo, kYes, kNo,
     [](std::string_view t, MediaOptions& o) {
       return ParseInt(t, 1, 1 << 20, &o.rate.emplace());
     }},
    {"start", "SECONDS", "where it begins (0)", kNo, kYes, kNo,
     [](std::string_view t, MediaOptions& o) { return ParseDouble(t, &o.start) && o.start >= 0; }},
    {"length", "exact|fit|N",
     "fit: cut, or filled with zeros, to the input's length; N: to N samples (exact)", kNo, kYes,
     kNo,
     [](std::string_view t, MediaOptions& o) {
       return SetChoice(t, {{"exact", false}, {"fit", true}}, &o.fit_length) ||
              ParseInt(t, 1, 1 << 28, &o.length.emplace());
     }},
    {"hop", "N", "frames as the last but one axis, each N samples after the one before it", kNo,
     kYes, kNo,
     [](std::string_view t, MediaOptions& o) { return ParseInt(t, 1, 1 << 28, &o.hop.emplace()); }},
    {"lead", "N", "zeros before the sound (0)", kNo, kYes, kNo,
     [](std::string_view t, MediaOptions& o) { return ParseInt(t, 0, 1 << 28, &o.lead); }},
};

struct Ending {
  std::string_view text;
  MediaKind kind;
  bool is_written;
};
constexpr Ending kEndings[] = {
    {".png", MediaKind::kPicture, true},   {".jpg", MediaKind::kPicture, false},
    {".jpeg", MediaKind::kPicture, false}, {".bmp", MediaKind::kPicture, false},
    {".wav", MediaKind::kSound, false},
};

bool Has(const Option& option, MediaKind kind, MediaUse use) {
  if (use == MediaUse::kOutput) return kind == MediaKind::kPicture && option.picture_output;
  return kind == MediaKind::kPicture ? option.picture_input : option.sound_input;
}

absl::Status SetOption(std::string_view text, MediaUse use, MediaFile& file) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  for (const Option& option : kOptions) {
    if (option.name != name || !Has(option, file.kind, use)) continue;
    if (equals != std::string_view::npos && option.set(text.substr(equals + 1), file.options)) {
      return absl::OkStatus();
    }
    return InvalidArgument(file.path, ": '", text, "' is wrong; right is ", option.name, "=",
                           option.form, ": ", option.doc);
  }
  return InvalidArgument(file.path, ": there is no option '", name, "'; there are ",
                         MediaOptionNames(file.kind, use));
}

}  // namespace

absl::StatusOr<MediaFile> ParseMediaFile(std::string_view text, MediaUse use) {
  for (size_t colon = 0; colon != std::string_view::npos;) {
    colon = text.find(':', colon + 1);
    const llvm::StringRef path(text.data(), std::min(colon, text.size()));
    for (const Ending& ending : kEndings) {
      if (use == MediaUse::kOutput && !ending.is_written) continue;
      if (!path.endswith_insensitive({ending.text.data(), ending.text.size()})) continue;
      MediaFile file{path.str(), ending.kind, {}};
      while (colon != std::string_view::npos) {
        const size_t end = text.find(':', colon + 1);
        TG_RETURN_IF_ERROR(SetOption(text.substr(colon + 1, end - colon - 1), use, file));
        colon = end;
      }
      return file;
    }
  }
  return MediaFile{std::string(text), MediaKind::kNone, {}};
}

std::string MediaOptionNames(MediaKind kind, MediaUse use) {
  std::string names;
  for (const Option& option : kOptions) {
    if (Has(option, kind, use)) names += Cat(names.empty() ? "" : ", ", option.name);
  }
  return names;
}

std::string DescribeMediaOptions(MediaKind kind, MediaUse use) {
  std::string text;
  for (const Option& option : kOptions) {
    if (!Has(option, kind, use)) continue;
    text += Cat("\n  ", option.name, "=", option.form, "  ", option.doc);
  }
  return text;
}

}  // namespace tg::runtime
