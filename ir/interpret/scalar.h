// The semantics of elementwise ops: the one definition that constant folding and all interpreters
// share.
//
// Values are bits in the format of ir/value.h. Arithmetic of f16, bf16, fp8 and f32 is the exact
// result rounded once to the type; exp2, log2, sin and pow are computed in f64 and rounded, which
// is within one unit in the last place. Nothing here allocates or fails, except that arithmetic on
// `index`, which has no overflow by definition, gives nullopt where 64 bits do not hold it.
#ifndef TG_IR_INTERPRET_SCALAR_H_
#define TG_IR_INTERPRET_SCALAR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg::interpret {

// How `mulacc` of floats rounds: once (fma), or after the product and again after the sum.
enum class MulAcc : uint8_t { kFused, kTwoRoundings };

// One lane of an elementwise op on values of type `s`. The result has type `s` too, except that
// cmplt and cmpne give a bool. Source 0 of `where` is a bool; `s` is the type of the other two.
// Casts are not done here, see CastBits and BitcastBits in ir/value.h.
std::optional<int64_t> EvalAlu(Op op, Scalar s, std::span<const int64_t> srcs,
                               MulAcc mulacc = MulAcc::kFused);

// `n` lanes at once: out[i] = op(a[i], b[i], c[i]); sources that the op lacks may be null. `out`
// may be one of the sources. Returns `n`, or the first lane that overflowed (index only); the lanes
// after it are not computed.
size_t EvalAluLanes(Op op, Scalar s, size_t n, const int64_t* a, const int64_t* b, const int64_t* c,
                    int64_t* out, MulAcc mulacc = MulAcc::kFused);

// `n` lanes of `cast`.
void CastLanes(Scalar from, Scalar to, size_t n, const int64_t* in, int64_t* out);

// A load or store may convert between the type in memory and the type of the value: between float
// types as `cast`, and to or from an integer of the same size as `bitcast` (raw bits).
bool CanConvertAccess(Scalar from, Scalar to);
int64_t ConvertAccess(Scalar from, Scalar to, int64_t bits);

// Whether EvalAlu computes `op`: every elementwise op but casts.
bool IsAlu(Op op);

// The value that leaves others unchanged under a reduce op.
int64_t ReduceIdentity(Op op, Scalar s);

// Threefry-2x32 with 20 rounds. Low words are word 0 of counter, key and result.
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
uint64_t Threefry2x32(uint64_t counter, uint64_t key);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_SCALAR_H_
