// TemporaryFile: a file under a temporary name until it is complete and replaces another.
#ifndef TG_BASE_TEMPORARY_FILE_H_
#define TG_BASE_TEMPORARY_FILE_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace tg {

// The destructor removes a file that is not committed. After RemoveOnSignals, a signal that ends
// the process does so too.
class TemporaryFile {
 public:
  // Creates `target`.tmp.<process>.<number>. With `mode`, only the user may open the file until it
  // is committed, when it gets that mode. Without `mode`, it has the default mode of a new file. On
  // failure, fd() is negative and errno is set.
  TemporaryFile(std::string target, std::optional<mode_t> mode);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  int fd() const { return fd_; }

  // Closes the file and renames it to the target. On failure, returns false and errno is set.
  bool Commit();

  // From now on, SIGINT, SIGTERM and SIGHUP remove uncommitted files before they end the process; a
  // signal that is ignored or handled stays so. Only for tools, at their start: a library must not
  // install handlers, and drivers that are loaded later install their handlers after these.
  static void RemoveOnSignals();

 private:
  struct Pending;
  static void RemoveAllAndRaise(int signal);
  static Pending* Register(const std::string& path);
  static void Forget(Pending* pending);

  const std::string target_;
  const std::optional<mode_t> mode_;
  std::string path_;
  Pending* pending_ = nullptr;  // gives path_ to the signal handler
  int fd_ = -1;
};

}  // namespace tg

#endif  // TG_BASE_TEMPORARY_FILE_H_
