// What a source needs before its kernels: pragmas, types, functions. Kernels ask for it piece by
// piece; the text has each piece once, in a fixed order.
#ifndef TG_CODEGEN_OPENCL_PRELUDE_H_
#define TG_CODEGEN_OPENCL_PRELUDE_H_

#include <set>
#include <string>
#include <utility>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg::opencl {

class Prelude {
 public:
  void NoContraction() { no_contraction_ = true; }
  // Notes that values of this type are computed with.
  void UsesScalar(Scalar s) {
    fp16_ |= s == Scalar::kF16;
    fp64_ |= s == Scalar::kF64;
  }
  // Notes that a CPU's functions take or return vectors of more than 16 bytes, on which clang warns
  // where the CPU has no such registers. All functions of a source are its own or the device's, so
  // that nobody else's calls are concerned.
  void PassesWideVectors() { wide_vectors_ = true; }
  // A vector type whose values need only be aligned as their elements: "float16_u".
  std::string UnalignedType(Scalar memory, int lanes);
  // The function that the spelling table calls for an op with its flag d.
  void Define(Op op, Scalar s, int lanes);
  void Define(const std::string& function) { functions_.insert(function); }
  // The function that takes a value's bits as those of another type: as_uint4, or one of the
  // source's own where half is involved, since NVIDIA has half without as_half.
  std::string BitCast(const std::string& from, const std::string& to);
  // The function that converts a float to an integer type, saturating and with 0 for NaN.
  std::string FloatToInt(Scalar from, Scalar to, int lanes);
  // The functions from the bits of a vector of halves to floats and back, rounded to nearest. PoCL
  // 3.1 takes the address given to vload_half8 for a multiple of 16.
  std::string FloatsOfHalves(int lanes);
  std::string HalvesOfFloats(int lanes);
  // The function that reads, or writes, `lanes` elements that lie as far apart as its argument
  // says: gather_float16(p, 784), scatter_float16(p, 784, x).
  std::string Strided(Op access, AddrSpace space, Scalar memory, int lanes);
  // The function that copies squares of n by n elements and transposes them:
  // copy_transposed_float16( to, 32, from, 512), runs at `to` and `from` so far apart; n = 1: as
  // many rows and columns as two more arguments say.
  std::string CopyTransposed(AddrSpace to, AddrSpace from, Scalar memory, int n);
  // The sampler `nearest`: unnormalised coordinates, zero outside.
  void UsesSampler() { sampler_ = true; }

  void Merge(const Prelude& other);
  std::string Text() const;

 private:
  bool no_contraction_ = false, fp16_ = false, fp64_ = false;
  bool wide_vectors_ = false, sampler_ = false;
  std::set<std::string> types_, casts_, functions_;
  // What is asked for often and is in these already.
  std::set<std::pair<Scalar, int>> unaligned_;
  std::set<std::string> strided_;
};

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_PRELUDE_H_
