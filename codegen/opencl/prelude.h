// The declarations that a source needs before its kernels: pragmas, types, functions. Kernels
// request pieces one by one; the text has each piece once, in a fixed order.
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
  // Records that the source computes with values of this type.
  void UsesScalar(Scalar s) {
    fp16_ |= s == Scalar::kF16;
    fp64_ |= s == Scalar::kF64;
  }
  // Records that a function on a CPU takes or returns vectors of more than 16 bytes. Clang warns
  // about the calling convention of such functions if the CPU lacks registers of that width. The
  // warning does not apply, because a source calls only its own functions and the device's.
  void PassesWideVectors() { wide_vectors_ = true; }
  // Returns a vector type that requires only the alignment of its elements: "float16_u".
  std::string UnalignedType(Scalar memory, int lanes);
  // Returns a scalar type for accesses to memory that is declared as another type: "ushort_a".
  std::string AliasType(Scalar memory);
  // Defines the function that the spelling table calls for an op with flag d.
  void Define(Op op, Scalar s, int lanes);
  void Define(const std::string& function) { functions_.insert(function); }
  // Returns the function that reinterprets a value's bits as another type: as_uint4, or a function
  // of the source if half is involved, since NVIDIA has half without as_half.
  std::string BitCast(const std::string& from, const std::string& to);
  // Return the functions that reinterpret 32-bit words as halves, of which there are `lanes`, and
  // back. They do so word by word: a compiler must not see through them that the words are halves.
  std::string HalvesOfWords(int lanes);
  std::string WordsOfHalves(int lanes);
  // Returns the function that converts a float to an integer type. It saturates and maps NaN to 0.
  std::string FloatToInt(Scalar from, Scalar to, int lanes);
  // Returns the function that converts a vector lane by lane. NVIDIA has half without the built-in
  // conversions from it and to it.
  std::string ConvertLanes(Scalar from, Scalar to, int lanes);
  // Return the functions that convert the bits of a vector of halves to floats and back, rounding
  // to nearest. They replace vload_half8, whose address PoCL 3.1 assumes to be a multiple of 16.
  std::string FloatsOfHalves(int lanes);
  std::string HalvesOfFloats(int lanes);
  // Return the functions load_half(p), which loads a half as a float, and store_half(x, p), which
  // stores a float as a half and rounds to nearest. For CPUs: with Clang each is one instruction if
  // the CPU has it, while vload_half of PoCL 3.1 takes twenty.
  std::string LoadHalf();
  std::string StoreHalf();
  // Returns the function read_ahead(p), which requests the cache line at an address. The address
  // need not be valid. The function does nothing if the compiler may lack the instruction.
  std::string ReadAhead();
  // Returns the function that reads or writes `lanes` elements at a stride that is an argument:
  // gather_float16(p, 784), scatter_float16(p, 784, x).
  std::string Strided(Op access, AddrSpace space, Scalar memory, int lanes);
  // Returns a function that calls `function` and is not inlined: call_exp2_float16(x). `result` is
  // its return type, `parameters` have the names in `arguments`.
  std::string Outlined(const std::string& function, const std::string& suffix,
                       const std::string& result, const std::string& parameters,
                       const std::string& arguments);
  // Returns the function that copies and transposes squares of n by n elements:
  // copy_transposed_float16(to, 32, from, 512), where the numbers are the row strides. For n = 1,
  // two more arguments give the numbers of rows and columns.
  std::string CopyTransposed(AddrSpace to, AddrSpace from, Scalar memory, int n);
  // Records that the source uses the sampler `nearest`: unnormalised coordinates, zero outside.
  void UsesSampler() { sampler_ = true; }

  void Merge(const Prelude& other);
  std::string Text() const;

 private:
  bool no_contraction_ = false, fp16_ = false, fp64_ = false;
  bool wide_vectors_ = false, sampler_ = false;
  std::set<std::string> types_, casts_, functions_, outlined_;
  // Frequent requests that have been answered already.
  std::set<std::pair<Scalar, int>> unaligned_;
  std::set<std::string> strided_;
};

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_PRELUDE_H_
