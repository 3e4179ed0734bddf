// TemporaryFile: a file under a temporary name until it is complete and replaces another.
#ifndef TG_PASSES_INSTRUMENT_TEMPORARY_FILE_H_
#define TG_PASSES_INSTRUMENT_TEMPORARY_FILE_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace tg {

// The destructor removes what was not committed; after RemoveOnSignals, so does the end of the
// process by a signal.
class TemporaryFile {
 public:
  // Creates `target`.tmp.<process>.<number>. With `mode`, nobody but the user may open the file
  // before it is committed, when it gets that mode; without, it has that of any new file. fd() is
  // negative and errno set where it fails.
  TemporaryFile(std::string target, std::optional<mode_t> mode);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  int fd() const { return fd_; }

  // Closes the file and renames it to the target; false with errno set where something fails.
  bool Commit();

  // From here on, SIGINT, SIGTERM and SIGHUP remove what is not committed before they end the
  // process; one that is ignored or handled stays so. Only for tools, at their start: a library
  // installs no handlers, and drivers that are loaded later do.
  static void RemoveOnSignals();

 private:
  struct Pending;
  static void RemoveAllAndRaise(int signal);
  static Pending* Register(const std::string& path);
  static void Forget(Pending* pending);

  const std::string target_;
  const std::optional<mode_t> mode_;
  std::string path_;
  Pending* pending_ = nullptr;  // where the signal handler finds path_
  int fd_ = -1;
};

}  // namespace tg

#endif  // TG_PASSES_INSTRUMENT_TEMPORARY_FILE_H_
