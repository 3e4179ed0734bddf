#include "codegen/opencl/spelling.h"

namespace tg::opencl {
namespace {

using namespace clike;  // NOLINT: the names of precedences in the table

constexpr Spelling kSpellings[] = {
#define TG_OP(op, classes, text, precedence, flags) \
  MakeSpelling(Op::op, classes, text, precedence, flags),
#include "codegen/opencl/spelling.def"
// The rows of the language come first.
#include "codegen/clike/operators.def"
#undef TG_OP
};

constexpr SpellingTable kTable{kSpellings};

}  // namespace

const SpellingTable& Spellings() { return kTable; }

}  // namespace tg::opencl
