#include "codegen/opencl/types.h"

#include "base/check.h"
#include "codegen/clike/cat.h"

namespace tg::opencl {

using clike::Cat;

std::string ValueType(Scalar s, int lanes) {
  const std::string_view name = clike::ScalarName(kWords, s);
  return lanes == 1 ? std::string(name) : Cat(name, lanes);
}

std::string_view MemoryType(Scalar s) { return clike::MemoryName(kWords, s); }

std::string_view SpacePrefix(AddrSpace space) {
  switch (space) {
    case AddrSpace::kGlobal:
      return "__global ";
    case AddrSpace::kLocal:
      return "__local ";
    case AddrSpace::kPrivate:
    case AddrSpace::kReg:
      return "";
  }
  TG_UNREACHABLE();
}

}  // namespace tg::opencl
