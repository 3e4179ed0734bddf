#include "codegen/c/spelling.h"

namespace tg::c {
namespace {

using namespace clike;  // NOLINT: the names of precedences in the table

constexpr Spelling kSpellings[] = {
#define TG_C(op, classes, text, precedence, flags) \
  MakeSpelling(Op::op, classes, text, precedence, flags),
#include "codegen/c/spelling.def"
#undef TG_C
};

constexpr SpellingTable kTable{kSpellings};

}  // namespace

const SpellingTable& Spellings() { return kTable; }

}  // namespace tg::c
