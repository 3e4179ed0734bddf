#include "codegen/c/spelling.h"

namespace tg::c {
namespace {

using namespace clike;  // NOLINT: the names of precedences in the table

constexpr Spelling kSpellings[] = {
#define TG_OP(op, classes, text, precedence, flags) \
  MakeSpelling(Op::op, classes, text, precedence, flags),
#include "codegen/c/spelling.def"
// The rows of the language come first.
#include "codegen/clike/operators.def"
#undef TG_OP
};

constexpr SpellingTable kTable{kSpellings};

}  // namespace

const SpellingTable& Spellings() { return kTable; }

}  // namespace tg::c
