// For tests of renderers: kernels with every op of a type and width, on random and special values.
#ifndef TG_CODEGEN_TESTING_OP_CASES_H_
#define TG_CODEGEN_TESTING_OP_CASES_H_

#include <memory>
#include <string>
#include <vector>

#include "ir/interpret/compare_values.h"
#include "ir/interpret/host_buffer.h"
#include "ir/module.h"

namespace tg::codegen {

// A kernel at stage expanded, of several work-groups with one work-item each.
struct OpCase {
  struct Output {
    int slot;
    std::string what;  // the op and its type
    interpret::Tolerance tolerance;
  };
  std::unique_ptr<Module> module;
  std::vector<interpret::HostBuffer> buffers;  // by slot
  std::vector<Output> outputs;
};

inline constexpr Scalar kOpScalars[] = {Scalar::kBool, Scalar::kI8,  Scalar::kU8,  Scalar::kI16,
                                        Scalar::kU16,  Scalar::kI32, Scalar::kU32, Scalar::kI64,
                                        Scalar::kU64,  Scalar::kF32, Scalar::kF64};
inline constexpr int kOpLanes[] = {1, 2, 4, 8, 16};

// Returns kernels with the elementwise ops, the conversions to other types, and the choices of
// lanes of this type, as far as devectorize leaves them.
std::vector<OpCase> MakeOpCases(Scalar scalar, int lanes);

}  // namespace tg::codegen

#endif  // TG_CODEGEN_TESTING_OP_CASES_H_
