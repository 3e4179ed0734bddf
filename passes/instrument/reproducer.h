// The crash reproducer: writes a failing run as an input file of tg-opt.
#ifndef TG_PASSES_INSTRUMENT_REPRODUCER_H_
#define TG_PASSES_INSTRUMENT_REPRODUCER_H_

#include <memory>
#include <string>
#include <string_view>

#include "passes/pass_manager.h"

namespace tg::instrument {

struct ReproducerOptions {
  // The file to write; empty: a new one, tg-<module>-<pass>-XXXXXX.uop, in the folder for temporary
  // files. Written only if a run fails.
  std::string path;
  // The tool's name and the options that matter besides the pipeline, for the file's first lines.
  std::string command = "tg-opt";
  // The text that the module was read from, which must outlive the observer. Without it the module
  // is printed before the first pass.
  std::string_view input;
  // Also write the file when the program crashes (a signal such as SIGSEGV, or the SIGABRT of a
  // failed TG_CHECK) while a pass runs. Installs LLVM's signal handlers.
  bool on_signal = false;
};

// After an error the file holds the module before the failing pass and a comment with the command
// that repeats the error. That module is recomputed by running the passes before it, so a
// successful run costs nothing extra. After a signal the file holds the input, and the command
// names all passes up to the one that crashed.
//
// At most one such observer may exist with on_signal at a time.
std::unique_ptr<passes::PassObserver> WriteReproducer(ReproducerOptions options);

}  // namespace tg::instrument

#endif  // TG_PASSES_INSTRUMENT_REPRODUCER_H_
