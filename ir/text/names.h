// Names: maps the %names of one body to nodes while it is read.
//
// %12 is looked up in an array, %x by its interned string. A use before a definition is kept until
// the end of the body, when it is known whether a definition follows.
#ifndef TG_IR_TEXT_NAMES_H_
#define TG_IR_TEXT_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ir/context.h"
#include "ir/module.h"
#include "ir/text/cursor.h"

namespace tg::text {

class Names {
 public:
  struct Slot {
    const UOp* node = nullptr;
    uint32_t line = 0;  // of the definition; 0: none yet. A null node with a line: it had an error.
  };

  // `lines`: the approximate number of definitions. Much larger numbers are looked up as strings.
  Names(Context& ctx, size_t lines) : ctx_(ctx), max_number_(4 * lines + 64) {}

  // The slot of a name. The reference is valid until the next call.
  Slot& At(std::string_view name);

  // The node of `use` in the statement that defines `definition` (may be empty), or null: then the
  // statement has no node, and an error is reported here or in Finish.
  const UOp* Use(std::string_view use, Location loc, std::string_view definition);

  // Reports uses without a definition, or with a later one.
  void Finish(Cursor& cursor);

 private:
  struct Missing {
    std::string_view use, definition;
    Location loc;
  };
  std::string Cycle(std::string_view use, std::string_view definition);

  Context& ctx_;
  size_t max_number_;
  std::vector<Slot> numbered_;
  std::vector<Slot> named_;                        // by StringId
  std::vector<Missing> missing_;                   // uses without a definition above
  std::unordered_set<std::string_view> in_cycle_;  // names of the cycles already reported
  std::vector<Missing> broken_;  // all uses without a node: `definition` depends on `use`
};

}  // namespace tg::text

#endif  // TG_IR_TEXT_NAMES_H_
