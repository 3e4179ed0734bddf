#include "runtime/media/sound.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/media/media_test.h"

namespace tg::runtime {
namespace {

using testing::HasSubstr;

std::string ErrorOf(std::string_view bytes) {
  return std::string(ParseWav(bytes, "w").status().message());
}

std::vector<float> Floats(const HostTensor& tensor) {
  std::vector<float> out(tensor.data.size() / sizeof(float));
  std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
  return out;
}

TEST(Sound, ReadsTheSamples) {
  for (const std::string name : {"pcm8", "pcm16", "pcm24", "pcm32", "float"}) {
    const absl::StatusOr<Sound> sound = ParseWav(MediaBytes(name + ".wav"), name);
    ASSERT_TRUE(sound.ok()) << sound.status();
    EXPECT_EQ(sound->rate, 8000);
    const std::vector<float> expected = Floats(MediaNumbers(name + ".npy"));
    ASSERT_EQ(sound->samples.size(), expected.size()) << name;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(sound->samples[i], expected[i], 1e-7) << name << " " << i;
    }
  }
}

TEST(Sound, ResamplesAsNumpyDoes) {
  const absl::StatusOr<Sound> sound = ParseWav(MediaBytes("float.wav"), "w");
  ASSERT_TRUE(sound.ok());
  const Sound half = Resample(*sound, 4000);
  const std::vector<float> expected = Floats(MediaNumbers("resampled.npy"));
  ASSERT_EQ(half.samples.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(half.samples[i], expected[i], 1e-6) << i;
  }
}

// A tone keeps its pitch and level at any rate, and one that the new rate cannot have disappears.
TEST(Sound, ResamplingKeepsTones) {
  const auto tone = [](double hertz, int64_t rate, int64_t count) {
    Sound sound{rate, {}};
    for (int64_t i = 0; i < count; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(rate);
      sound.samples.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * hertz * t)));
    }
    return sound;
  };
  for (const int64_t rate : {16000, 22050, 48000}) {
    const Sound got = Resample(tone(440, 44100, 8820), rate), want = tone(440, rate, rate / 5);
    ASSERT_NEAR(static_cast<double>(got.samples.size()), static_cast<double>(rate) / 5, 1);
    for (size_t i = 100; i + 100 < want.samples.size(); ++i) {
      ASSERT_NEAR(got.samples[i], want.samples[i], 2e-3) << rate << " " << i;
    }
  }
  const Sound silent = Resample(tone(12000, 44100, 8820), 16000);
  for (size_t i = 100; i + 100 < silent.samples.size(); ++i) {
    ASSERT_NEAR(silent.samples[i], 0, 2e-3) << i;
  }
}

TEST(Sound, RefusesEveryTornFile) {
  const std::string bytes = MediaBytes("pcm24.wav");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(ErrorOf(std::string_view(bytes).substr(0, size)), "") << size;
  }
  EXPECT_EQ(ErrorOf(bytes.substr(0, 200)), "w: the file ends early: 120 of 240 bytes of samples");
}

TEST(Sound, RefusesWhatItDoesNotRead) {
  std::string bytes = MediaBytes("pcm16.wav");
  EXPECT_EQ(ErrorOf("hello\n"), "w: this is no WAV file");
  const auto with = [&](size_t at, char value) {
    std::string changed = bytes;
    changed[at] = value;
    return ErrorOf(changed);
  };
  EXPECT_THAT(with(34, 12), HasSubstr("w: format 1 with 12 bits is not read, but PCM (1)"));
  EXPECT_THAT(with(20, 85), HasSubstr("w: format 85 with 16 bits is not read"));
  EXPECT_EQ(with(22, 0), "w: 0 channels of 8000 samples a second are not read");
  EXPECT_EQ(with(22, 3), "w: 160 bytes of samples, which is no multiple of 6");
  EXPECT_EQ(with(12, 'x'), "w: samples without a chunk 'fmt ' before them");
  EXPECT_EQ(with(48, 'x'), "w: there is no chunk 'data', so that it has no samples");
}

// A program that writes to a pipe does not know the length.
TEST(Sound, AnUnknownLengthExtendsToTheEnd) {
  std::string bytes = MediaBytes("pcm16.wav");
  const size_t data = bytes.find("data");
  bytes.replace(data + 4, 4, "\xff\xff\xff\xff");
  const absl::StatusOr<Sound> sound = ParseWav(bytes, "w");
  ASSERT_TRUE(sound.ok()) << sound.status();
  EXPECT_EQ(sound->samples.size(), 40u);
}

}  // namespace
}  // namespace tg::runtime
