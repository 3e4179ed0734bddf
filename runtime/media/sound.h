// Sound files: WAV with integers of 8, 16, 24 or 32 bits, or floats of 32 or 64.
#ifndef TG_RUNTIME_MEDIA_SOUND_H_
#define TG_RUNTIME_MEDIA_SOUND_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tg::runtime {

// The greatest number of samples of a sound.
inline constexpr int64_t kMaxSamples = 1 << 28;

// The channels of a file are averaged into one. Integers become -1 to 1.
struct Sound {
  int64_t rate = 0;  // samples a second
  std::vector<float> samples;
};

// Parses the bytes of a whole file. Errors call the file `name`.
absl::StatusOr<Sound> ParseWav(std::string_view bytes, std::string_view name);

absl::StatusOr<Sound> ReadWav(const std::string& path);

// The sound at another rate, by a windowed sinc.
Sound Resample(const Sound& sound, int64_t rate);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_MEDIA_SOUND_H_
