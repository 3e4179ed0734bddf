#include "runtime/io/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "base/status.h"
#include "gtest/gtest.h"
#include "passes/instrument/write_file.h"

namespace tg::runtime {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() : folder_(Cat(testing::TempDir(), "/file_test.", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }

  absl::Status WriteOne(const std::string& path, std::string_view bytes) {
    return instrument::WriteFile(path, bytes);
  }

  std::string folder_;
};

TEST_F(FileTest, WritesPiecesAndReplaces) {
  const std::string path = folder_ + "/a", zeros("\0\0", 2);
  ASSERT_TRUE(
      instrument::WriteFile(path, std::array<std::string_view, 3>{"one ", zeros, " two"}).ok());
  EXPECT_EQ(*ReadFile(path), "one " + zeros + " two");
  ASSERT_TRUE(WriteOne(path, "short").ok());
  EXPECT_EQ(*ReadFile(path), "short");
  ASSERT_TRUE(WriteOne(path, "").ok());
  EXPECT_EQ(*ReadFile(path), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(FileTest, ReadsFilesWhoseSizeIsUnknown) {
  const auto text = ReadFile("/proc/self/status");  // stat says 0 bytes
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("Pid:"), std::string::npos);
}

TEST_F(FileTest, DoesNotWaitForAPipesWriter) {
  const std::string path = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const absl::Status status = MappedFile::Open(path).status();
  EXPECT_EQ(status.message(), "cannot map " + path + ": it is not a regular file");
}

TEST_F(FileTest, MapsAndMovesTheMapping) {
  const std::string path = folder_ + "/a";
  ASSERT_TRUE(WriteOne(path, "mapped").ok());
  auto opened = MappedFile::Open(path);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::string_view bytes = opened->bytes();
  MappedFile moved = std::move(*opened);
  EXPECT_EQ(moved.bytes().data(), bytes.data());
  EXPECT_TRUE(opened->bytes().empty());
  MappedFile other;
  other = std::move(moved);
  ASSERT_TRUE(WriteOne(path, "changed by renaming").ok());
  EXPECT_EQ(other.bytes(), "mapped");  // the mapping keeps the old file alive
  ASSERT_TRUE(WriteOne(path, "").ok());
  EXPECT_EQ(MappedFile::Open(path)->bytes(), "");
}

TEST_F(FileTest, ErrorsNamePathAndReason) {
  const std::string path = folder_ + "/none";
  const std::string want = Cat("cannot open ", path, ": No such file or directory");
  EXPECT_EQ(ReadFile(path).status(), absl::NotFoundError(want));
  EXPECT_EQ(MappedFile::Open(path).status(), absl::NotFoundError(want));
  EXPECT_EQ(ReadFile(folder_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(WriteOne(path + "/below", "x").code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(WriteOne(folder_, "x").ok());  // a file does not replace a folder
  EXPECT_TRUE(fs::is_directory(folder_));
}

TEST_F(FileTest, WritesThroughWhatIsNoRegularFile) {
  const std::string path = folder_ + "/a", link = folder_ + "/link";
  ASSERT_TRUE(WriteOne(path, "old").ok());
  fs::create_symlink(path, link);
  ASSERT_TRUE(WriteOne(link, "new").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*ReadFile(path), "new");
  EXPECT_TRUE(WriteOne("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(WriteOne("/dev/full", "x"),
            absl::ResourceExhaustedError("cannot write /dev/full: No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  if (::geteuid() != 0) {  // root may write to every file
    fs::permissions(path, fs::perms::owner_read);
    EXPECT_EQ(WriteOne(path, "x").code(), absl::StatusCode::kPermissionDenied);
  }
}

}  // namespace
}  // namespace tg::runtime
