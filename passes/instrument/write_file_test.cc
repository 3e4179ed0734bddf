#include "passes/instrument/write_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "passes/instrument/temporary_file.h"

namespace tg::instrument {
namespace {

using ::testing::HasSubstr;

class WriteFileTest : public ::testing::Test {
 protected:
  WriteFileTest() {
    static int number = 0;
    folder_ = ::testing::TempDir() + "/write_file_" + std::to_string(::getpid()) + "_" +
              std::to_string(number++);
    EXPECT_TRUE(MakeFolder(folder_).ok());
  }

  static std::string Read(const std::string& path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "none";
  }

  int NumFiles() const {
    int n = 0;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator i(folder_, error), end; i != end; i.increment(error))
      ++n;
    return n;
  }

  std::string folder_;
};

TEST_F(WriteFileTest, WritesAndReplaces) {
  const std::string path = folder_ + "/a";
  ASSERT_TRUE(WriteFile(path, "first, and longer").ok());
  EXPECT_EQ(Read(path), "first, and longer");
  ASSERT_TRUE(WriteFile(path, "second").ok());
  EXPECT_EQ(Read(path), "second");
  ASSERT_TRUE(WriteFile(path, "").ok());
  EXPECT_EQ(Read(path), "");
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(WriteFileTest, KeepsThePermissionsOfWhatItReplaces) {
  const std::string path = folder_ + "/a";
  ASSERT_TRUE(WriteFile(path, "x").ok());
  ASSERT_EQ(::chmod(path.c_str(), 0751), 0);
  ASSERT_TRUE(WriteFile(path, "y").ok());
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0751u);
}

TEST_F(WriteFileTest, WritesPieces) {
  const std::string_view pieces[] = {"one ", std::string_view("\0\0", 2), " two"};
  ASSERT_TRUE(WriteFile(folder_ + "/a", pieces).ok());
  EXPECT_EQ(Read(folder_ + "/a"), std::string("one \0\0 two", 10));
}

TEST_F(WriteFileTest, NobodyElseMayReadWhatReplacesAPrivateFile) {
  const std::string path = folder_ + "/a";
  const TemporaryFile file(path, 0600);
  ASSERT_GE(file.fd(), 0);
  struct stat status;
  ASSERT_EQ(::fstat(file.fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(WriteFileTest, AFileThatIsNotCommittedGoes) {
  const std::string path = folder_ + "/a";
  {
    const TemporaryFile file(path, {});
    ASSERT_GE(file.fd(), 0);
    EXPECT_EQ(NumFiles(), 1);
  }
  EXPECT_EQ(NumFiles(), 0);
  TemporaryFile committed(path, {});
  EXPECT_TRUE(committed.Commit());
  EXPECT_EQ(NumFiles(), 1);
  EXPECT_EQ(Read(path), "");
}

// The process, which is new, is in the middle of two files when it gets the signal.
constexpr char kFolder[] = "TG_WRITE_FILE_TEST_FOLDER";
void DieWhileWriting(int signal, bool ignored) {
  const std::string folder = std::getenv(kFolder);
  ::signal(signal, ignored ? SIG_IGN : SIG_DFL);
  TemporaryFile::RemoveOnSignals();
  const TemporaryFile first(folder + "/a", {}), second(folder + "/b", 0600);
  ::raise(signal);
  ::_exit(first.fd() >= 0 && second.fd() >= 0 ? 7 : 8);
}

TEST_F(WriteFileTest, SignalsLeaveNothingBehind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv(kFolder, folder_.c_str(), 0);  // the child keeps its parent's
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(DieWhileWriting(signal, false), ::testing::KilledBySignal(signal), "");
    EXPECT_EQ(NumFiles(), 0) << signal;
  }
  ::unsetenv(kFolder);
}

TEST_F(WriteFileTest, AnIgnoredSignalStaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv(kFolder, folder_.c_str(), 0);
  EXPECT_EXIT(DieWhileWriting(SIGHUP, true), ::testing::ExitedWithCode(7), "");
  ::unsetenv(kFolder);
}

TEST_F(WriteFileTest, ALinkStaysALink) {
  const std::string path = folder_ + "/a", link = folder_ + "/link";
  ASSERT_TRUE(WriteFile(path, "x").ok());
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  ASSERT_TRUE(WriteFile(link, "y").ok());
  EXPECT_EQ(Read(path), "y");
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(link));
}

TEST_F(WriteFileTest, ErrorsNameThePathAndLeaveNothingBehind) {
  EXPECT_EQ(WriteFile(folder_ + "/no/a", "x").message(),
            "cannot write " + folder_ + "/no/a: No such file or directory");
  EXPECT_THAT(std::string(WriteFile(folder_, "x").message()), HasSubstr("Is a directory"));
  EXPECT_EQ(WriteFile("/dev/full", "x").message(),
            "cannot write /dev/full: No space left on device");
  EXPECT_EQ(NumFiles(), 0);
}

TEST_F(WriteFileTest, DevicesAreWrittenTo) { EXPECT_TRUE(WriteFile("/dev/null", "x").ok()); }

TEST_F(WriteFileTest, MakesFoldersOnce) {
  const std::string path = folder_ + "/a/b/c";
  EXPECT_TRUE(MakeFolder(path).ok());
  EXPECT_TRUE(MakeFolder(path).ok());
  EXPECT_TRUE(WriteFile(path + "/x", "x").ok());
  EXPECT_THAT(std::string(MakeFolder(path + "/x/y").message()), HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace tg::instrument
