// The table of matrix instructions over a subgroup of 32 work-items, or over a warpgroup of four
// subgroups, D = A*B + C, and the layouts of their matrices, by NVIDIA's "PTX ISA", sections on the
// fragments of mma and on the shared memory of wgmma.
#ifndef TG_IR_MATRIX_MATRIX_INSTRUCTION_H_
#define TG_IR_MATRIX_MATRIX_INSTRUCTION_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/dtype.h"
#include "ir/module_flags.h"

namespace tg {

// A is m x k, B is k x n, C and D are m x n. A fragment is a work-item's part of one of them, in
// registers of 32 bits.
struct MatrixInstruction {
  static constexpr int kSubgroup = 32;

  std::string_view name;  // m16n8k16.<accumulator>.<input>, or .<input A>.<input B>
  int m = 0, n = 0, k = 0;
  Scalar a = Scalar::kVoid, b = Scalar::kVoid;  // types of A's and of B's elements
  Scalar accumulator = Scalar::kVoid;           // of C's and D's
  bool tf32 = false;                            // inputs are f32 of which 10 bits of mantissa count
  // Of f32 in two parts that such an instruction takes, the second of which is what the first
  // leaves: the three greatest of the four products of parts. An error of 2^-19 of a product.
  bool in_parts = false;
  // Four subgroups act together, each with 16 rows of A. Both factors are in local memory, and B
  // may have up to kMostColumns columns, in steps of n.
  bool is_warpgroup = false;
  static constexpr int kWarpgroup = 4 * kSubgroup, kMostColumns = 256;

  // The bits of an element by which the instruction's time grows.
  int RateBits() const { return BitWidth(a) * (in_parts ? 3 : 1); }
  // Neighbouring terms of a register.
  int PerRegister() const { return 32 / BitWidth(a); }
};

std::optional<MatrixInstruction> FindMatrixInstruction(std::string_view name);

// The instruction of most terms that sums products of these types in `accumulator`; nullopt if
// there is none, which no flag changes. Products are exact, or of f32 in two parts; with
// ModuleFlag::kTf32 those of f32 are of rounded factors.
std::optional<MatrixInstruction> MatrixInstructionFor(Scalar a, Scalar b, Scalar accumulator,
                                                      ModuleFlags flags);

// The same for warpgroups, whose instructions take factors as memory holds them: of f32, where
// ModuleFlag::kTf32 allows it, they ignore the last 13 bits.
std::optional<MatrixInstruction> WarpgroupInstructionFor(Scalar a, Scalar b, Scalar accumulator,
                                                         ModuleFlags flags);

// How local memory holds a factor of a warpgroup's instruction: in rows of `row` elements, 32 to
// 128 bytes, along the terms; or, if `blocks` is positive, along the results, in blocks of `row`
// results that begin `blocks` elements from each other. Chunks of 16 bytes change places within
// their row: bits 4 to 6 of an address, as far as they number chunks of a row, differ by bits 7
// to 9.
struct FactorLayout {
  int64_t row = 0, blocks = 0;

  // The number, in memory, of the element of a result (row of A, column of B) and a term, where the
  // factor starts at element `start`. Both begin at multiples of 1024 bytes, but for whole steps
  // along a row.
  int64_t Element(int64_t start, int64_t result, int64_t term, int64_t element_bytes) const;
  // Whether an instruction reads this layout: rows along results only of elements of 16 bits.
  bool IsOf(Scalar type) const;
};

// (row, column) of element `e` of work-item `t`'s fragment; which: 0 for A, 1 for B, 2 for C and D,
// the only one of warpgroups.
std::pair<int, int> FragmentElement(const MatrixInstruction& mi, int which, int t, int e);

}  // namespace tg

#endif  // TG_IR_MATRIX_MATRIX_INSTRUCTION_H_
