#include "codegen/opencl/spelling.h"

namespace tg::opencl {
namespace {

using namespace clike;  // NOLINT: the names of precedences in the table

constexpr Spelling kSpellings[] = {
#define TG_CL(op, classes, text, precedence, flags) \
  MakeSpelling(Op::op, classes, text, precedence, flags),
#include "codegen/opencl/spelling.def"
#undef TG_CL
};

constexpr SpellingTable kTable{kSpellings};

}  // namespace

const SpellingTable& Spellings() { return kTable; }

}  // namespace tg::opencl
