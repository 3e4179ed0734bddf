#include "tools/driver/standard_error.h"

#include <cstdlib>
#include <string>

#include "ir/text/diagnostic.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/write_file.h"

namespace tg::driver {

void PrintError(const char* tool, const absl::Status& status) {
  instrument::FlushStdout().IgnoreError();  // only the first error is reported
  if (status.message().empty()) return;
  const std::string message(status.message());
  llvm::errs() << tool << ": " << Printable(message) << "\n";
}

int Fail(const char* tool, int code, const absl::Status& status) {
  PrintError(tool, status);
  return code;
}

void TolerateFullStandardError() {
  // LLVM's stream aborts the process in its destructor. That destructor runs after this handler,
  // because the stream is constructed before.
  llvm::errs();
  std::atexit([] { llvm::errs().clear_error(); });
}

}  // namespace tg::driver
