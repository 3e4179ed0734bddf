// base/write_file.h under the names that tools use, and standard output.
#ifndef TG_PASSES_INSTRUMENT_WRITE_FILE_H_
#define TG_PASSES_INSTRUMENT_WRITE_FILE_H_

#include "absl/status/status.h"
#include "base/write_file.h"

namespace tg::instrument {

using tg::MakeFolder;
using tg::WriteFile;
using tg::WriteStdout;

// Flushes llvm::outs(). Returns an error of this or an earlier write once, and clears it, because a
// pending error would abort the process at exit.
absl::Status FlushStdout();

}  // namespace tg::instrument

#endif  // TG_PASSES_INSTRUMENT_WRITE_FILE_H_
