// Reader: the text that `print(uop)` gives in tinygrad into its syntax. One pass without regular
// expressions and without recursion: the text nests as deeply as the graph.
//
//   text  := { '#' comment line | value }         every value a UOp, or a list or tuple of them
//   value := [ "x" INT ":=" ] NAME { "(" [ [KEY "="] value, ... ] ")" [ "." NAME ] }
//          | "x" INT | number | string | tuple | list | "<" anything ">"
//
// A name `x1:=` is known to the end of the outermost UOp around it; a UOp inside an argument
// (a symbolic extent) is such an outermost one.
#ifndef TG_FRONTEND_TINYGRAD_READER_H_
#define TG_FRONTEND_TINYGRAD_READER_H_

#include <memory>
#include <string_view>

#include "frontend/tinygrad/syntax.h"
#include "ir/text/diagnostic.h"

namespace tg::tinygrad {

// Null, with an error that has line and column in `diags`, where the text is no such text or ends
// too early. `text` must outlive the result. At least one root in the result.
std::unique_ptr<Text> ReadText(std::string_view text, Diagnostics& diags);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_READER_H_
