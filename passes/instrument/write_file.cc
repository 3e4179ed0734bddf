#include "passes/instrument/write_file.h"

#include "llvm/Support/raw_ostream.h"

namespace tg::instrument {

absl::Status FlushStdout() {
  llvm::outs().flush();
  if (!llvm::outs().has_error()) return absl::OkStatus();
  const std::error_code error = llvm::outs().error();
  llvm::outs().clear_error();
  return absl::ErrnoToStatus(error.value(), "cannot write standard output");
}

}  // namespace tg::instrument
