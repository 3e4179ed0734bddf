// A line on a terminal that tells how far a long step is.
#ifndef TG_TOOLS_RUN_PROGRESS_H_
#define TG_TOOLS_RUN_PROGRESS_H_

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>

namespace tg {

// Shows "compiling: 12 of 70 kernels" on standard error if that is a terminal and the step takes
// longer than a second. The line goes when the step ends.
class CompileProgress {
 public:
  explicit CompileProgress(const char* step = "compiling", const char* unit = "kernels")
      : step_(step), unit_(unit) {}
  CompileProgress(const CompileProgress&) = delete;
  CompileProgress& operator=(const CompileProgress&) = delete;
  ~CompileProgress() { Clear(); }

  void Clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

  void Show(size_t done, size_t total) {
    if (::isatty(STDERR_FILENO) == 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - start_ < std::chrono::seconds(1)) return;
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    shown_ = true;
    std::fprintf(stderr, "\r%s: %zu of %zu %s\x1b[K", step_, done, total, unit_);
    std::fflush(stderr);
  }

 private:
  const char *const step_, *const unit_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_;
  bool shown_ = false;
};

}  // namespace tg

#endif  // TG_TOOLS_RUN_PROGRESS_H_
