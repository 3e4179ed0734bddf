// Look-ups in ops.def and types.def: the translation of tinygrad's ops and types by name.
#ifndef TG_FRONTEND_TINYGRAD_OPS_H_
#define TG_FRONTEND_TINYGRAD_OPS_H_

#include <optional>
#include <string>
#include <string_view>

#include "frontend/tinygrad/syntax.h"
#include "ir/dtype.h"
#include "ir/op.h"

namespace tg::tinygrad {

// How an op is translated; see ops.def.
enum class OpClass : uint8_t {
  kElementwise,
  kCompare,
  kWhere,
  kCast,
  kMovement,
  kView,
  kSink,
  kReduceAxis,
  kPass,
  kAlias,
  kCopy,
  kBuffer,
  kBufferView,
  kAssign,
  kConst,
  kVar,
  kNothing,
  kMulti,
  kKernel,
  kStack,
  kAfter,
  kParam,
  kDefineGlobal,
  kDefineLocal,
  kDefineAcc,
  kLoad,
  kStore,
  kValid,
  kIndex,
  kRange,
  kEnd,
  kSpecial,
  kIf,
  kEndIf,
  kBarrier,
  kReduce,
  kUnroll,
  kContract,
  kVConst,
  kVectorize,
  kGep,
  kCat,
  kGroup,
  kLinear,
  kCall,
  kTuple,
  kGetTuple,
  kRefused,
};

struct OpEntry {
  std::string_view name;
  OpClass cls;
  Op op;
};
// Returns null for a name that no known version has.
const OpEntry* FindOp(std::string_view name);
// "; did you mean 'ADD'?", or empty.
std::string SuggestOp(std::string_view name);

// A type in tg. Weak types are the types of constants and extents in newer versions: a weak operand
// takes the type of the other operand.
struct ForeignType {
  DType type;
  bool weak = false;     // type is index for weakint, f32 for weakfloat
  DType printed = type;  // in the text
};
// Returns nullopt if the value is not a type.
std::optional<ForeignType> TypeOf(const Value& dtype);
// The same for a plain name, such as dtypes.float.
std::optional<ForeignType> TypeNamed(std::string_view name);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_OPS_H_
