// Reader: parses the text that tinygrad's `print(uop)` prints. One pass without regular
// expressions and without recursion: the text nests as deeply as the graph.
//
//   text  := { '#' comment line | value }         every value a UOp, or a list or tuple of them
//   value := [ "x" INT ":=" ] NAME { "(" [ [KEY "="] value, ... ] ")" [ "." NAME ] }
//          | "x" INT | number | string | tuple | list | "<" anything ">"
//
// The scope of a name `x1:=` is the outermost UOp around it; a UOp inside an argument
// (a symbolic extent) is such an outermost one.
#ifndef TG_FRONTEND_TINYGRAD_READER_H_
#define TG_FRONTEND_TINYGRAD_READER_H_

#include <memory>
#include <string_view>

#include "frontend/tinygrad/syntax.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// Returns null, with an error that has line and column in `diags`, if the text is malformed or ends
// too early. `text` must outlive the result, which has at least one root.
std::unique_ptr<Text> ReadText(std::string_view text, Diagnostics& diags);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_READER_H_
