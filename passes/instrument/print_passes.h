// Prints the module around passes, and writes it to a numbered file after each.
#ifndef TG_PASSES_INSTRUMENT_PRINT_PASSES_H_
#define TG_PASSES_INSTRUMENT_PRINT_PASSES_H_

#include <memory>
#include <set>
#include <string>

#include "passes/pass_manager.h"

namespace tg {

// Which passes, by name.
struct PassSet {
  bool all = false;
  std::set<std::string, std::less<>> names;

  bool Contains(std::string_view name) const { return all || names.find(name) != names.end(); }
  bool empty() const { return !all && names.empty(); }
};

struct PrintPassesOptions {
  PassSet before, after;
  bool changed = false;  // after each pass, a unified diff of what it changed
  bool color = false;    // of the diff
};

// Prints to `out`. Each module comes under a line `// after lower (pass 2 of 7)`, which is a
// comment in the text, so that what is printed can be read back.
std::unique_ptr<PassObserver> PrintPasses(PrintPassesOptions options, llvm::raw_ostream& out);

// Writes 00-input.uop, then NN-PASS.uop after each pass, into a folder (made where it is missing).
std::unique_ptr<PassObserver> DumpPasses(std::string folder);

}  // namespace tg

#endif  // TG_PASSES_INSTRUMENT_PRINT_PASSES_H_
