#include "runtime/media/tensors.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/media/media_test.h"
#include "runtime/report/tensor_difference.h"

namespace tg::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kOpen = TensorForm::kOpen;

absl::StatusOr<HostTensor> Read(const std::string& text, const TensorForm& form) {
  const absl::StatusOr<MediaFile> file = ParseMediaFile(MediaPath(text), MediaUse::kInput);
  EXPECT_TRUE(file.ok()) << file.status();
  return ReadMedia(*file, form);
}

std::string ErrorOf(const std::string& text, const TensorForm& form) {
  return std::string(Read(text, form).status().message());
}

void ExpectNear(const std::string& text, const TensorForm& form, const std::string& expected,
                double tolerance) {
  const absl::StatusOr<HostTensor> tensor = Read(text, form);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  const HostTensor numbers = MediaNumbers(expected);
  const absl::StatusOr<Difference> difference = Compare(*tensor, numbers);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_LE(difference->absolute, tolerance) << text;
}

TEST(PictureToTensor, AsNumpyDoes) {
  const TensorForm planes = {ElementType::kF32, {{1, 3, 8, 8}}};
  const std::string imagenet = "rgb.png:mean=0.485,0.456,0.406:std=0.229,0.224,0.225";
  ExpectNear(imagenet, planes, "resized_imagenet.npy", 2e-6);
  // Sizes that the option gives, to an input that leaves all open or whose rank is unknown.
  ExpectNear(imagenet + ":size=8", {ElementType::kF32, {{kOpen, 3, kOpen, kOpen}}},
             "resized_imagenet.npy", 2e-6);
  ExpectNear(imagenet + ":size=8:layout=nchw", {}, "resized_imagenet.npy", 2e-6);
  // A value in the middle of two integers may become either.
  ExpectNear("rgb.png:resize=crop:channels=bgr", {ElementType::kU8, {{1, 30, 16, 3}}},
             "resized_crop.npy", 1);
  ExpectNear("rgb.png:resize=pad:fill=114", {ElementType::kF32, {{10, 18, 3}}}, "resized_pad.npy",
             1e-6);
  ExpectNear("rgb.png:scale=1/127.5:mean=1", {ElementType::kF32, {{1, 1, 26, kOpen}}},
             "resized_gray.npy", 2e-6);
  ExpectNear("rgb.png", {ElementType::kU8, {{kOpen, kOpen, 3}}}, "rgb.npy", 0);
  ExpectNear("rgba.png", {ElementType::kU8, {{6, 5, 4}}}, "rgba.npy", 0);
}

TEST(PictureToTensor, OtherTypes) {
  // A half has 11 bits; an i8 ends at 127.
  const absl::StatusOr<HostTensor> half = Read("gray.png", {ElementType::kF16, {{9, 7}}});
  ASSERT_TRUE(half.ok()) << half.status();
  const HostTensor pixels = MediaNumbers("gray.npy");
  const std::vector<double> values = Doubles(*half), expected = Doubles(pixels);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i] / 255, 1e-3);
  const absl::StatusOr<HostTensor> small = Read("gray.png", {ElementType::kI8, {{9, 7}}});
  ASSERT_TRUE(small.ok());
  const std::vector<double> clamped = Doubles(*small);
  for (size_t i = 0; i < clamped.size(); ++i) EXPECT_EQ(clamped[i], std::min(expected[i], 127.0));
}

TEST(PictureToTensor, ErrorsNameBoth) {
  const TensorForm planes = {ElementType::kF32, {{1, 3, 8, 8}}};
  EXPECT_EQ(ErrorOf("rgb.png:size=9", planes),
            "testdata/media/rgb.png: size=9x9 does not fit the input, f32[1, 3, 8, 8]");
  EXPECT_EQ(ErrorOf("rgb.png:channels=gray", planes),
            "testdata/media/rgb.png: channels=gray are 1, but the input is f32[1, 3, 8, 8]");
  EXPECT_EQ(ErrorOf("rgb.png:mean=1,2", planes),
            "testdata/media/rgb.png: mean has 2 values for 3 channels");
  EXPECT_EQ(ErrorOf("rgb.png", {ElementType::kF32, {{1, 12, 8, 8}}}),
            "testdata/media/rgb.png: channels=rgb are 3, but the input is f32[1, 12, 8, 8]");
  EXPECT_EQ(ErrorOf("rgb.png", {ElementType::kF32, {{2, 3, 8, 8}}}),
            "testdata/media/rgb.png: one picture does not fill the input, f32[2, 3, 8, 8]");
  EXPECT_EQ(ErrorOf("rgb.png", {ElementType::kF32, {{8}}}),
            "testdata/media/rgb.png: the input f32[8] has no rows and columns");
}

TEST(SoundToTensor, FitsTheInput) {
  const absl::StatusOr<HostTensor> all = Read("float.wav", {ElementType::kF32, {{kOpen, kOpen}}});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(all->shape, ElementsAre(1, 40));
  const std::vector<double> x = Doubles(*all);
  const absl::StatusOr<HostTensor> filled =
      Read("float.wav:length=fit:lead=3:scale=2", {ElementType::kF32, {{1, 1, 50}}});
  ASSERT_TRUE(filled.ok()) << filled.status();
  const std::vector<double> y = Doubles(*filled);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(y[i], i < 3 || i >= 43 ? 0 : 2 * x[i - 3]) << i;
  const absl::StatusOr<HostTensor> cut =
      Read("float.wav:length=fit:start=0.001", {ElementType::kI16, {{8}}});
  ASSERT_TRUE(cut.ok()) << cut.status();
  const std::vector<double> z = Doubles(*cut);
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(z[i], 32768 * x[i + 8], 0.5) << i;
}

TEST(SoundToTensor, AGivenLength) {
  const TensorForm open = {ElementType::kF32, {{kOpen, kOpen}}};
  const std::vector<double> x = Doubles(MediaNumbers("float.npy"));
  for (const int64_t length : {7, 45}) {
    const absl::StatusOr<HostTensor> tensor =
        Read("float.wav:length=" + std::to_string(length), open);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_THAT(tensor->shape, ElementsAre(1, length));
    const std::vector<double> y = Doubles(*tensor);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], i < 40 ? x[i] : 0) << i;
  }
  EXPECT_THAT(ErrorOf("float.wav:length=7", {ElementType::kF32, {{1, 8}}}),
              HasSubstr("there are 7 samples, but the input is f32[1, 8]"));
}

TEST(SoundToTensor, Frames) {
  const absl::StatusOr<HostTensor> frames =
      Read("float.wav:hop=12:lead=4", {ElementType::kF32, {{kOpen, 16}}});
  ASSERT_TRUE(frames.ok()) << frames.status();
  EXPECT_THAT(frames->shape, ElementsAre(4, 16));
  const HostTensor samples = MediaNumbers("float.npy");
  const std::vector<double> x = Doubles(samples), y = Doubles(*frames);
  for (int64_t i = 0; i < 64; ++i) {
    const int64_t at = i / 16 * 12 + i % 16 - 4;
    EXPECT_EQ(y[static_cast<size_t>(i)], at < 0 || at >= 40 ? 0 : x[static_cast<size_t>(at)]) << i;
  }
}

TEST(SoundToTensor, ErrorsNameBoth) {
  EXPECT_EQ(ErrorOf("float.wav", {ElementType::kF32, {{1, 512}}}),
            "testdata/media/float.wav: there are 40 samples, but the input is f32[1, 512]; "
            "length=fit cuts or fills");
  EXPECT_EQ(ErrorOf("float.wav:rate=4000", {ElementType::kF32, {{1, 40}}}),
            "testdata/media/float.wav: there are 20 samples, but the input is f32[1, 40]; "
            "length=fit cuts or fills");
  EXPECT_EQ(ErrorOf("float.wav", {ElementType::kF32, {{2, kOpen}}}),
            "testdata/media/float.wav: one sound does not fill the input, f32[2, ?]");
  EXPECT_THAT(ErrorOf("float.wav:start=1", {}), HasSubstr("the sound has 40 samples at rate 8000"));
  EXPECT_THAT(ErrorOf("float.wav:hop=3", {}), HasSubstr("hop needs an input whose last axis"));
}

HostTensor TensorFrom(ElementType type, std::vector<int64_t> shape, std::vector<float> values) {
  HostTensor tensor{type, std::move(shape), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  if (type == ElementType::kF32) tensor.data.assign(bytes, bytes + values.size() * sizeof(float));
  for (const float v : values) {
    if (type != ElementType::kF32) tensor.data.push_back(std::byte(static_cast<uint8_t>(v)));
  }
  return tensor;
}

TEST(TensorToPicture, InvertsTheOptions) {
  const absl::StatusOr<Picture> rgb = ReadPicture(MediaPath("rgb.png"));
  ASSERT_TRUE(rgb.ok());
  for (const char* text :
       {"p.png", "p.png:scale=2:mean=3,4,5:std=7", "p.png:layout=nhwc", "p.png:channels=bgr"}) {
    const absl::StatusOr<MediaFile> file = ParseMediaFile(text, MediaUse::kInput);
    ASSERT_TRUE(file.ok());
    const absl::StatusOr<HostTensor> tensor = PictureToTensor(*rgb, file->options, {});
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    const absl::StatusOr<Picture> again = TensorToPicture(*tensor, file->options);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->data, rgb->data) << text;
  }
}

TEST(TensorToPicture, ClampsAndConverts) {
  const absl::StatusOr<Picture> gray = TensorToPicture(
      TensorFrom(ElementType::kF32, {1, 1, 2, 3}, {0, 0.5, 1, -1, 7, NAN}), MediaOptions());
  ASSERT_TRUE(gray.ok()) << gray.status();
  EXPECT_EQ(gray->width, 3);
  EXPECT_EQ(gray->channels, 1);
  EXPECT_THAT(gray->data, ElementsAre(0, 128, 255, 0, 255, 0));
  const absl::StatusOr<Picture> planes =
      TensorToPicture(TensorFrom(ElementType::kU8, {3, 1, 2}, {1, 2, 3, 4, 5, 6}), MediaOptions());
  ASSERT_TRUE(planes.ok());
  EXPECT_THAT(planes->data, ElementsAre(1, 3, 5, 2, 4, 6));
  const absl::StatusOr<Picture> black =
      TensorToPicture(TensorFrom(ElementType::kBool, {1, 2}, {0, 1}), MediaOptions());
  ASSERT_TRUE(black.ok());
  EXPECT_THAT(black->data, ElementsAre(0, 255));
  EXPECT_THAT(
      std::string(TensorToPicture(TensorFrom(ElementType::kU8, {2, 2, 2}, {}), MediaOptions())
                      .status()
                      .message()),
      HasSubstr("u8[2, 2, 2] is no picture"));
}

}  // namespace
}  // namespace tg::runtime
