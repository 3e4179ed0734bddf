// The declarations that a C unit needs before its kernels: includes, types, functions. Kernels
// request pieces one by one; the text has each piece once, behind the pieces that it needs.
//
// No function here has undefined behaviour for any argument that a kernel may pass: conversions
// saturate before they convert, bits are reinterpreted by memcpy, and vectors in memory have the
// alignment of their elements and may alias.
#ifndef TG_CODEGEN_C_PRELUDE_H_
#define TG_CODEGEN_C_PRELUDE_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/op.h"

namespace tg::c {

class Prelude {
 public:
  void NoContraction() { no_contraction_ = true; }

  // ---- Types. They return the type's name.
  std::string Type(Scalar s, int lanes);  // "float", "f32x4"
  std::string MaskType(int bits, int lanes);
  // A vector in memory: it is aligned as its elements are, and may alias anything.
  std::string UnalignedType(Scalar memory, int lanes);
  // A scalar in memory that is declared as another type.
  std::string AliasType(Scalar memory);

  // ---- Functions. They return the function's name.
  std::string Splat(Scalar s, int lanes);  // f32x4_of(x): x in all lanes
  // f32x8_s0123(v): these lanes.
  std::string PickLanes(Scalar s, int lanes, std::span<const int64_t> picks);
  // cat_f32x2_f32x2(a, b): the lanes of vectors of one type.
  std::string Concatenate(Scalar s, std::span<const int> parts);
  std::string Select(Scalar s, int lanes);  // select_f32x4(mask, a, b)
  // The function of the spelling table for an op of these operands.
  std::string DefineOp(Op op, Scalar s, int lanes);
  std::string FloatToInt(Scalar from, Scalar to, int lanes);  // saturates; NaN gives 0
  std::string BitsAs(Scalar from, Scalar to);                 // u32_of_f32(x)
  // Loads and stores of a scalar in memory that is declared as another type: load_f32(p).
  std::string LoadAs(Scalar s);
  std::string StoreAs(Scalar s);
  // Halves in memory as floats: load_halves_f32x4(p), store_halves_f32x4(p, x).
  std::string LoadHalves(int lanes);
  std::string StoreHalves(int lanes);
  // gather_f32x8(p, stride), scatter_f32x8(p, stride, x)
  std::string Strided(Op access, Scalar memory, int lanes);
  // copy_transposed_f32(to, 32, from, 512, rows, columns)
  std::string CopyTransposed(Scalar memory);
  // read_ahead(p): requests the cache line 4096 bytes behind an address.
  std::string ReadAhead();

  void Merge(const Prelude& other);
  std::string Text() const;

 private:
  struct Piece {
    std::string name, text;
  };
  bool Has(const std::string& name) const { return names_.contains(name); }
  std::string Add(std::string name, std::string text);
  void AddType(const std::string& name, std::string text);

  bool no_contraction_ = false;
  std::vector<Piece> types_, functions_;  // each behind what it needs
  std::set<std::string> names_;           // of both
};

}  // namespace tg::c

#endif  // TG_CODEGEN_C_PRELUDE_H_
