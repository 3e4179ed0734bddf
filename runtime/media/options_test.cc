#include "runtime/media/options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MediaFile Parse(std::string_view text, MediaUse use = MediaUse::kInput) {
  const absl::StatusOr<MediaFile> file = ParseMediaFile(text, use);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.value_or(MediaFile());
}

std::string ErrorOf(std::string_view text, MediaUse use = MediaUse::kInput) {
  return std::string(ParseMediaFile(text, use).status().message());
}

TEST(MediaFile, TheEndingSaysWhatItIs) {
  EXPECT_EQ(Parse("a.png").kind, MediaKind::kPicture);
  EXPECT_EQ(Parse("A.JPG").kind, MediaKind::kPicture);
  EXPECT_EQ(Parse("a.wav:rate=16000").path, "a.wav");
  EXPECT_EQ(Parse("a.npy").kind, MediaKind::kNone);
  EXPECT_EQ(Parse("a.npy:size=3").path, "a.npy:size=3");
  EXPECT_EQ(Parse("c:d.png:size=3").path, "c:d.png");
  EXPECT_EQ(Parse("a.jpg", MediaUse::kOutput).kind, MediaKind::kNone);
  EXPECT_EQ(Parse("a.png:mean=1", MediaUse::kOutput).kind, MediaKind::kPicture);
}

TEST(MediaFile, ReadsOptions) {
  const MediaOptions o =
      Parse(
          "p.jpg:size=48x*:resize=pad:fill=114:scale=1/255:mean=0.5,0.25,1:std=2:layout=nhwc:"
          "channels=bgr")
          .options;
  EXPECT_THAT(*o.size, ElementsAre(48, MediaOptions::kKeepAspect));
  EXPECT_EQ(o.resize, ResizeMode::kPad);
  EXPECT_THAT(o.fill, ElementsAre(114));
  EXPECT_DOUBLE_EQ(*o.scale, 1.0 / 255);
  EXPECT_THAT(o.mean, ElementsAre(0.5, 0.25, 1));
  EXPECT_THAT(o.std, ElementsAre(2));
  EXPECT_EQ(o.layout, Layout::kNhwc);
  EXPECT_EQ(o.channels, Channels::kBgr);
  EXPECT_THAT(*Parse("p.jpg:size=224").options.size, ElementsAre(224, 224));
}

TEST(MediaFile, ErrorsSayWhatIsRight) {
  EXPECT_EQ(ErrorOf("p.png:siez=3"),
            "p.png: there is no option 'siez'; there are size, resize, fill, scale, mean, std, "
            "layout, channels");
  EXPECT_EQ(ErrorOf("p.wav:size=3"),
            "p.wav: there is no option 'size'; there are scale, rate, start, length, hop, lead");
  EXPECT_EQ(ErrorOf("p.png:size=3", MediaUse::kOutput),
            "p.png: there is no option 'size'; there are scale, mean, std, layout, channels");
  for (const char* wrong :
       {"size=0", "size=x", "size=*x*", "size=3x", "size=99999999", "size", "resize=fill",
        "mean=", "mean=1,,2", "mean=inf", "std=0", "scale=1/0", "layout=hwcn", "channels=cmyk"}) {
    EXPECT_THAT(ErrorOf(std::string("p.png:") + wrong),
                HasSubstr(std::string("p.png: '") + wrong + "' is wrong; right is "))
        << wrong;
  }
  EXPECT_THAT(ErrorOf("w.wav:rate=0"), HasSubstr("right is rate=N: samples a second"));
}

}  // namespace
}  // namespace tg::runtime
