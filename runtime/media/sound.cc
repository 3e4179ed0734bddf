#include "runtime/media/sound.h"

#include <bit>
#include <cmath>
#include <optional>

#include "base/status.h"
#include "llvm/Support/Endian.h"
#include "runtime/io/file.h"
#include "runtime/media/taps.h"

namespace tg::runtime {
namespace {

using llvm::support::endian::read16le;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

constexpr int kPcm = 1, kFloat = 3, kExtensible = 0xfffe;
constexpr int64_t kMaxRate = 1 << 20, kMaxChannels = 256;
// Programs that write to a pipe do not know the length in advance: the data extend to the end.
constexpr size_t kUnknownLength = 0x7ffff000;

struct SampleFormat {
  int tag = 0, bits = 0;
  int64_t channels = 0, rate = 0;
};

absl::StatusOr<SampleFormat> ParseFormat(std::string_view chunk, std::string_view name) {
  constexpr size_t kSize = 16, kSubformat = 24;
  if (chunk.size() < kSize) return InvalidArgument(name, ": its chunk 'fmt ' is too short");
  SampleFormat f;
  f.tag = read16le(&chunk[0]);
  f.channels = read16le(&chunk[2]);
  f.rate = read32le(&chunk[4]);
  f.bits = read16le(&chunk[14]);
  if (f.tag == kExtensible && chunk.size() >= kSubformat + 2) f.tag = read16le(&chunk[kSubformat]);
  if (f.channels < 1 || f.channels > kMaxChannels || f.rate < 1 || f.rate > kMaxRate) {
    return InvalidArgument(name, ": ", f.channels, " channels of ", f.rate,
                           " samples a second are not read");
  }
  const bool is_read = f.tag == kPcm ? f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32
                                     : f.tag == kFloat && (f.bits == 32 || f.bits == 64);
  if (!is_read) {
    return Unimplemented(name, ": format ", f.tag, " with ", f.bits,
                         " bits is not read, but PCM (1) with 8, 16, 24 or 32 bits and float (3) "
                         "with 32 or 64 are");
  }
  return f;
}

float SampleAt(const SampleFormat& f, const char* at) {
  if (f.tag == kFloat) {
    return f.bits == 32 ? std::bit_cast<float>(read32le(at))
                        : static_cast<float>(std::bit_cast<double>(read64le(at)));
  }
  switch (f.bits) {
    case 8:
      return static_cast<float>(static_cast<uint8_t>(*at) - 128) * 0x1p-7f;
    case 16:
      return static_cast<float>(static_cast<int16_t>(read16le(at))) * 0x1p-15f;
    case 24: {
      const uint32_t high = read16le(at + 1), low = static_cast<uint8_t>(*at);
      return static_cast<float>(static_cast<int32_t>(high << 16 | low << 8) >> 8) * 0x1p-23f;
    }
    default:
      return static_cast<float>(static_cast<int32_t>(read32le(at))) * 0x1p-31f;
  }
}

absl::StatusOr<Sound> Decode(const SampleFormat& f, std::string_view data, std::string_view name) {
  const size_t bytes = static_cast<size_t>(f.bits) / 8;
  const size_t frame = bytes * static_cast<size_t>(f.channels);
  if (data.size() % frame != 0) {
    return InvalidArgument(name, ": ", data.size(), " bytes of samples, which is no multiple of ",
                           frame);
  }
  const size_t count = data.size() / frame;
  if (count > static_cast<size_t>(kMaxSamples)) {
    return InvalidArgument(name, ": ", count, " samples; at most ", kMaxSamples, " are read");
  }
  Sound sound{f.rate, std::vector<float>(count)};
  const char* at = data.data();
  for (float& sample : sound.samples) {
    double sum = 0;
    for (int64_t c = 0; c < f.channels; ++c, at += bytes) sum += SampleAt(f, at);
    sample = static_cast<float>(sum / static_cast<double>(f.channels));
  }
  return sound;
}

}  // namespace

absl::StatusOr<Sound> ParseWav(std::string_view bytes, std::string_view name) {
  constexpr size_t kRiffHeader = 12, kChunkHeader = 8;
  if (!bytes.starts_with("RIFF") || bytes.size() < kRiffHeader || bytes.substr(8, 4) != "WAVE") {
    return InvalidArgument(name, ": this is no WAV file");
  }
  std::optional<SampleFormat> format;
  size_t at = kRiffHeader;
  while (bytes.size() - at >= kChunkHeader) {
    const std::string_view id = bytes.substr(at, 4);
    const size_t size = read32le(&bytes[at + 4]);
    at += kChunkHeader;
    const size_t left = bytes.size() - at;
    const std::string_view chunk = bytes.substr(at, size);
    if (id == "data") {
      if (!format) return InvalidArgument(name, ": samples without a chunk 'fmt ' before them");
      if (size > left && size < kUnknownLength) {
        return InvalidArgument(name, ": the file ends early: ", left, " of ", size,
                               " bytes of samples");
      }
      return Decode(*format, chunk, name);
    }
    if (size > left) return InvalidArgument(name, ": the file ends early");
    if (id == "fmt ") {
      TG_ASSIGN_OR_RETURN(format, ParseFormat(chunk, name));
    }
    // Chunks begin at even bytes.
    at += std::min(left, size + size % 2);
  }
  return InvalidArgument(name, ": there is no chunk 'data', so that it has no samples");
}

absl::StatusOr<Sound> ReadWav(const std::string& path) {
  TG_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ParseWav(file.bytes(), path);
}

Sound Resample(const Sound& sound, int64_t rate) {
  const auto size = static_cast<int64_t>(sound.samples.size());
  if (rate == sound.rate || size == 0) return {rate, sound.samples};
  const double step = static_cast<double>(sound.rate) / static_cast<double>(rate);
  Sound out{rate, {}};
  out.samples.reserve(static_cast<size_t>(std::ceil(static_cast<double>(size) / step)));
  for (int64_t i = 0; static_cast<double>(i) * step < static_cast<double>(size); ++i) {
    // Sample 0 of both is at the same time.
    const Taps taps =
        TapsAt(kWindowedSinc, static_cast<double>(i) * step + 0.5, std::max(1.0, step), size);
    double sum = 0;
    for (size_t t = 0; t < taps.weights.size(); ++t) {
      sum += taps.weights[t] * sound.samples[static_cast<size_t>(taps.first) + t];
    }
    out.samples.push_back(static_cast<float>(sum));
  }
  return out;
}

}  // namespace tg::runtime
