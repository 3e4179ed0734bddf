// Prints the module before and after passes, or writes it to a numbered file after each pass.
#ifndef TG_PASSES_INSTRUMENT_PRINT_PASSES_H_
#define TG_PASSES_INSTRUMENT_PRINT_PASSES_H_

#include <memory>
#include <set>
#include <string>

#include "passes/pass_manager.h"

namespace tg::instrument {

// A set of passes, by name.
struct PassSet {
  bool all = false;
  std::set<std::string, std::less<>> names;

  bool Contains(std::string_view name) const { return all || names.find(name) != names.end(); }
  bool empty() const { return !all && names.empty(); }
};

struct PrintPassesOptions {
  PassSet before, after;
  bool changed = false;  // after each pass, a unified diff of its changes
  bool color = false;    // of the diff
};

// Prints to `out`. Each module follows a line `// after lower (pass 2 of 7)`, which is a comment in
// the text format, so that the output can be parsed again.
std::unique_ptr<passes::PassObserver> PrintPasses(PrintPassesOptions options,
                                                  llvm::raw_ostream& out);

// Writes 00-input.uop, then NN-PASS.uop after each pass, into a folder (created if missing).
std::unique_ptr<passes::PassObserver> DumpPasses(std::string folder);

}  // namespace tg::instrument

#endif  // TG_PASSES_INSTRUMENT_PRINT_PASSES_H_
