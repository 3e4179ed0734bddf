#include "runtime/media/picture.h"

#define STBI_NO_STDIO
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "base/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "runtime/io/file.h"

namespace tg::runtime {
namespace {

// The chunks of a PNG file, up to the last one, each with its checksum, which stb_image ignores.
absl::Status CheckPng(std::string_view bytes, std::string_view name) {
  constexpr size_t kSignature = 8, kAround = 12;  // around data: length, type and checksum
  size_t at = kSignature;
  while (true) {
    if (bytes.size() - at < kAround) return InvalidArgument(name, ": the file ends early");
    const size_t length = llvm::support::endian::read32be(bytes.data() + at);
    if (bytes.size() - at - kAround < length) {
      return InvalidArgument(name, ": the file ends early");
    }
    const std::string_view data = bytes.substr(at + 4, length + 4);
    const uint32_t checksum = llvm::support::endian::read32be(data.data() + data.size());
    if (llvm::crc32({reinterpret_cast<const uint8_t*>(data.data()), data.size()}) != checksum) {
      return InvalidArgument(name, ": the picture is damaged: a checksum does not match at byte ",
                             at);
    }
    if (data.substr(0, 4) == "IEND") return absl::OkStatus();
    at += kAround + length;
  }
}

// The header's segments up to the coded pixels, and the marker of the end after them.
absl::Status CheckJpeg(std::string_view bytes, std::string_view name) {
  constexpr char kStartOfScan = '\xda';
  size_t at = 2;
  while (at + 4 <= bytes.size() && bytes[at] == '\xff' && bytes[at + 1] != kStartOfScan) {
    // Any marker may follow fill bytes.
    at += bytes[at + 1] == '\xff' ? 1 : 2 + llvm::support::endian::read16be(bytes.data() + at + 2);
  }
  if (at >= bytes.size() || bytes.find("\xff\xd9", at) == std::string_view::npos) {
    return InvalidArgument(name, ": the file ends early");
  }
  return absl::OkStatus();
}

// The size that the header says.
absl::Status CheckBmp(std::string_view bytes, std::string_view name) {
  constexpr size_t kHeader = 6;
  if (bytes.size() < kHeader || bytes.size() < llvm::support::endian::read32le(&bytes[2])) {
    return InvalidArgument(name, ": the file ends early");
  }
  return absl::OkStatus();
}

struct PictureFormat {
  std::string_view signature;
  absl::Status (*check_whole)(std::string_view bytes, std::string_view name);
  // The maximum number of pixels per byte of a file, so that a short file cannot claim to be large.
  // PNG: 1 bit per pixel times the greatest compression ratio of deflate. JPEG: one bit for each
  // block of 64 pixels.
  int64_t pixels_per_byte;
};
constexpr PictureFormat kFormats[] = {
    {"\x89PNG\r\n\x1a\n", CheckPng, 8 * 1032},
    {"\xff\xd8\xff", CheckJpeg, 8 * 64},
    {"BM", CheckBmp, 8},
};

struct Free {
  void operator()(uint8_t* pixels) const { stbi_image_free(pixels); }
};

}  // namespace

absl::StatusOr<Picture> ParsePicture(std::string_view bytes, std::string_view name) {
  const auto* format = std::ranges::find_if(
      kFormats, [&](const PictureFormat& f) { return bytes.starts_with(f.signature); });
  if (format == std::end(kFormats)) {
    return InvalidArgument(name, ": this is no picture in a format that is read: JPEG, PNG, BMP");
  }
  TG_RETURN_IF_ERROR(format->check_whole(bytes, name));
  if (bytes.size() > INT_MAX) return InvalidArgument(name, ": a picture file of over 2 GB");
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto size = static_cast<int>(bytes.size());
  const auto failed = [&] {
    const char* reason = stbi_failure_reason();
    return InvalidArgument(name,
                           ": the picture is damaged: ", reason ? reason : "it has no pixels");
  };
  int width = 0, height = 0, channels = 0;
  if (!stbi_info_from_memory(data, size, &width, &height, &channels)) return failed();
  // A BMP that begins with its top row says so by a negative height.
  const int64_t rows = std::abs(int64_t{height}), columns = width;
  if (columns > kMaxPictureExtent || rows > kMaxPictureExtent ||
      columns * rows > kMaxPicturePixels) {
    return InvalidArgument(name, ": a picture of ", rows, " x ", columns, " pixels; at most ",
                           kMaxPicturePixels, " are read");
  }
  if (columns < 0 || columns * rows / format->pixels_per_byte > size) {
    return InvalidArgument(name, ": the picture is damaged: ", size, " bytes for ", rows, " x ",
                           columns, " pixels");
  }
  const std::unique_ptr<uint8_t, Free> pixels(
      stbi_load_from_memory(data, size, &width, &height, &channels, 0));
  if (!pixels || width <= 0 || height <= 0) return failed();
  Picture picture{height, width, channels, {}};
  picture.data.assign(pixels.get(), pixels.get() + picture.height * picture.width * channels);
  return picture;
}

absl::StatusOr<Picture> ReadPicture(const std::string& path) {
  TG_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ParsePicture(file.bytes(), path);
}

absl::StatusOr<std::string> EncodePng(const Picture& picture) {
  std::string bytes;
  const auto append = [](void* out, void* data, int size) {
    static_cast<std::string*>(out)->append(static_cast<const char*>(data),
                                           static_cast<size_t>(size));
  };
  const int64_t row = picture.width * picture.channels;
  if (!stbi_write_png_to_func(append, &bytes, static_cast<int>(picture.width),
                              static_cast<int>(picture.height), static_cast<int>(picture.channels),
                              picture.data.data(), static_cast<int>(row))) {
    return absl::ResourceExhaustedError("there is no memory for the picture");
  }
  return bytes;
}

}  // namespace tg::runtime
