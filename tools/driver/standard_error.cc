#include "tools/driver/standard_error.h"

#include <cstdlib>
#include <string>

#include "ir/text/diagnostic.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/instrument/write_file.h"

namespace tg {

void PrintError(const char* tool, const absl::Status& status) {
  FlushStdout().IgnoreError();  // the first error is the one to be told
  if (status.message().empty()) return;
  const std::string message(status.message());
  llvm::errs() << tool << ": " << Printable(message) << "\n";
}

void TolerateFullStandardError() {
  // LLVM's stream ends the process in its destructor, which runs after this handler, because the
  // stream exists already.
  llvm::errs();
  std::atexit([] { llvm::errs().clear_error(); });
}

}  // namespace tg
