#include "runtime/media/picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/media/media_test.h"

namespace tg::runtime {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string ErrorOf(std::string_view bytes) {
  return std::string(ParsePicture(bytes, "p").status().message());
}

// The greatest difference from the pixels that numpy has.
int Difference(const std::string& file, const std::string& expected) {
  const absl::StatusOr<Picture> picture = ParsePicture(MediaBytes(file), file);
  EXPECT_TRUE(picture.ok()) << picture.status();
  const HostTensor numbers = MediaNumbers(expected);
  if (!picture.ok()) return 256;
  EXPECT_EQ(numbers.shape,
            (std::vector<int64_t>{picture->height, picture->width, picture->channels}));
  EXPECT_EQ(numbers.data.size(), picture->data.size());
  int most = 0;
  for (size_t i = 0; i < std::min(numbers.data.size(), picture->data.size()); ++i) {
    most = std::max(most, std::abs(static_cast<int>(numbers.data[i]) - picture->data[i]));
  }
  return most;
}

TEST(Picture, ReadsThePixels) {
  EXPECT_EQ(Difference("rgb.png", "rgb.npy"), 0);
  EXPECT_EQ(Difference("rgb.bmp", "rgb.npy"), 0);
  EXPECT_EQ(Difference("gray.png", "gray.npy"), 0);
  EXPECT_EQ(Difference("rgba.png", "rgba.npy"), 0);
  // What JPEG loses at this quality.
  EXPECT_LE(Difference("rgb.jpg", "rgb.npy"), 6);
  EXPECT_LE(Difference("progressive.jpg", "rgb.npy"), 6);
}

// A BMP with a negative height begins with its top row.
TEST(Picture, ReadsBmpFromTheTop) {
  std::string bytes = MediaBytes("rgb.bmp");
  const absl::StatusOr<Picture> picture = ParsePicture(bytes, "p");
  for (const auto& [at, byte] : {std::pair(22, 0xf3), {23, 0xff}, {24, 0xff}, {25, 0xff}}) {
    bytes[static_cast<size_t>(at)] = static_cast<char>(byte);
  }
  const absl::StatusOr<Picture> flipped = ParsePicture(bytes, "p");
  ASSERT_TRUE(picture.ok() && flipped.ok()) << flipped.status();
  ASSERT_EQ(flipped->height, 13);
  const auto row = static_cast<std::ptrdiff_t>(20 * 3);
  for (std::ptrdiff_t y = 0; y < 13; ++y) {
    EXPECT_TRUE(std::equal(picture->data.begin() + y * row, picture->data.begin() + (y + 1) * row,
                           flipped->data.begin() + (12 - y) * row));
  }
}

TEST(Picture, WritesWhatItReads) {
  for (const char* file : {"rgb.png", "gray.png", "rgba.png"}) {
    const absl::StatusOr<Picture> picture = ParsePicture(MediaBytes(file), file);
    ASSERT_TRUE(picture.ok());
    const absl::StatusOr<std::string> png = EncodePng(*picture);
    ASSERT_TRUE(png.ok());
    const absl::StatusOr<Picture> again = ParsePicture(*png, "again");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->data, picture->data);
    EXPECT_EQ(again->channels, picture->channels);
    EXPECT_EQ(again->width, picture->width);
  }
}

// A file cut anywhere is an error, not a picture with something else where the rest was.
TEST(Picture, RefusesEveryTornFile) {
  for (const char* file : {"rgb.png", "rgb.bmp", "rgb.jpg", "progressive.jpg"}) {
    const std::string bytes = MediaBytes(file);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_NE(ErrorOf(std::string_view(bytes).substr(0, size)), "") << file << " " << size;
    }
  }
  EXPECT_EQ(ErrorOf(MediaBytes("rgb.jpg").substr(0, 900)), "p: the file ends early");
  EXPECT_EQ(ErrorOf(MediaBytes("rgb.png").substr(0, 400)), "p: the file ends early");
}

TEST(Picture, RefusesOtherFilesAndDamage) {
  EXPECT_EQ(ErrorOf("hello\n"), "p: this is no picture in a format that is read: JPEG, PNG, BMP");
  EXPECT_EQ(ErrorOf("GIF89a..."), "p: this is no picture in a format that is read: JPEG, PNG, BMP");
  std::string bytes = MediaBytes("rgb.png");
  bytes[100] ^= 1;
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("p: the picture is damaged: a checksum does not match"));
  EXPECT_THAT(ErrorOf("BM\x10" + std::string(40, '\0')), HasSubstr("p: "));
}

// A decoder that reads a table that the file does not define must not depend on its memory.
TEST(Picture, RefusesAJpegWithoutHuffmanTables) {
  const std::string bytes = MediaBytes("rgb.jpg");
  std::string without = bytes.substr(0, 2);
  size_t at = 2;
  for (unsigned char marker = 0; marker != 0xda && at + 4 < bytes.size();) {
    marker = static_cast<unsigned char>(bytes[at + 1]);
    const size_t length = 2 + static_cast<unsigned char>(bytes[at + 2]) * size_t{256} +
                          static_cast<unsigned char>(bytes[at + 3]);
    if (marker != 0xc4) without += bytes.substr(at, length);
    at += length;
  }
  without += bytes.substr(at);
  ASSERT_LT(without.size(), bytes.size());
  EXPECT_THAT(ErrorOf(without), HasSubstr("the picture is damaged"));
}

TEST(Picture, RefusesHugeSizesBeforeItAllocates) {
  std::string bytes = MediaBytes("rgb.jpg");
  const size_t frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  for (const size_t i : {5, 6, 7, 8}) bytes[frame + i] = '\xff';
  EXPECT_THAT(ErrorOf(bytes), EndsWith("a picture of 65535 x 65535 pixels; at most 134217728 are "
                                       "read"));
  // A BMP that begins with its top row.
  std::string bmp = MediaBytes("rgb.bmp");
  for (const size_t i : {23, 24, 25}) bmp[i] = '\xfe';
  EXPECT_THAT(ErrorOf(bmp), HasSubstr(" x 20 pixels; at most 134217728 are read"));
  // A size that is allowed, but that a file of this length cannot hold.
  for (const size_t i : {5, 7}) bytes[frame + i] = '\x20';
  EXPECT_THAT(ErrorOf(bytes),
              EndsWith("the picture is damaged: 1087 bytes for 8447 x 8447 pixels"));
}

}  // namespace
}  // namespace tg::runtime
