// CWriter: writes a kernel as a function of C that runs one work-group. Internal to the renderer;
// see renderer.h, and codegen/clike/kernel_writer.h for what it shares with other languages.
//
// The work-items of a group are the iterations of a loop. Barriers divide the kernel into regions:
// each region is such a loop, and blocks that contain a barrier are outside of these loops, since
// all work-items agree on their steps and conditions. A variable whose value is needed in another
// region is an array with an element for each work-item.
#ifndef TG_CODEGEN_C_KERNEL_WRITER_H_
#define TG_CODEGEN_C_KERNEL_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/c/prelude.h"
#include "codegen/c/regions.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/kernel_writer.h"

namespace tg::c {

class CWriter : public clike::KernelWriter {
 public:
  // `has_vectors`: GCC's vector types, and what else C17 and these compilers have, may be used.
  CWriter(bool has_vectors, const Module& module, const Kernel& kernel, const KernelCalls& calls,
          const passes::Target& target);
  absl::StatusOr<codegen::RenderedKernel> Run(Prelude& prelude);

 protected:
  // ---- kernel_writer.cc: words, the function's head
  std::string ValueType(Scalar s, int lanes) const override;
  std::string NanLiteral(Scalar s, int64_t bits) const override;
  std::string VectorLiteral(std::string_view type, int lanes, std::string_view list,
                            bool splat) const override;
  bool IsReserved(std::string_view name) const override;
  void Reinterpret(Scalar from, Scalar to, int lanes, std::string_view text, int precedence,
                   clike::Expr& e) override;
  std::string ConvertVector(Scalar from, Scalar to, int lanes, std::string_view value) override;
  std::string FloatToInt(Scalar from, Scalar to, int lanes) override;
  void UsesType(Scalar s, int lanes) override;
  void DefineOp(const UOp* u, DType operand) override;
  const clike::Spelling* SpellingOf(const UOp* u) override;
  std::string Signature() override;
  std::string BufferParameter(const codegen::KernelParam& buffer, bool aliased) const override;
  void DeclareSpecial(const UOp* special, const std::string& name, bool grid, int dim) override;

  // ---- items.cc: loops over work-items, and what has an element for each of them
  bool IsDeclaredFirst(const UOp* scratch) const override;
  std::string DeclareArray(const UOp* scratch, const std::string& name) override;
  void DeclareVariables(const std::string& type,
                        std::span<const clike::Piece* const> pieces) override;
  std::string VariableOf(const clike::Piece& piece) const override;
  void StorePiece(const clike::Piece& piece, const std::string& type, bool declares,
                  const clike::Text& value) override;
  clike::Text DeclareValue(const UOp* u, const std::string& type, const clike::Text& text) override;
  void WriteLoopHead(const UOp* range, const std::string& name, bool unroll) override;
  void WriteIfHead(const UOp* u) override;
  void CloseBlock(const UOp* u, size_t i) override;
  void WriteBarrier(const UOp* u) override;
  void BeginLine() override;
  absl::Status LeaveFunction() override;

  // ---- values.cc: bits, lanes, memory
  void Bitcast(const UOp* u, clike::Expr& e) override;
  void PickLanes(const UOp* u, const UOp* vector, clike::Expr& e) override;
  void MakeVector(const UOp* u, Scalar lane, clike::Expr& e) override;
  void LoadElements(const UOp* load, const UOp* memory, clike::Expr& e) override;
  void StoreElements(const UOp* store, const UOp* memory) override;
  void ReadAhead(const UOp* load, const UOp* memory) override;
  absl::Status WriteCopyTransposed(const UOp* u) override;

 private:
  // Returns whether a piece of register scratch needs an element for each work-item.
  bool IsPerItem(const clike::Piece& piece) const;
  // Declares an array at the top of the function: on the stack, or, where it is large, in the
  // memory that the caller gives. `items`: it has a row for each work-item.
  void DeclareAtTop(std::string_view type, int64_t element_bytes, int64_t size, int64_t align,
                    bool items, const std::string& name);
  void OpenRegion();
  void CloseRegion();
  // Records an error where work-items need not agree on the value of `condition`.
  void CheckUniform(const UOp* u, const UOp* condition);
  clike::Text Element(const UOp* address, Scalar value, int lanes, bool write);
  std::string Vector(const UOp* u, std::string_view type, std::string_view list) const;

  // Returns the element of the work-item in an array with a row for each: "[lid1][lid0]".
  std::string ItemIndex() const;

  const bool has_vectors_;
  const Regions regions_;
  // By dimension: the coordinate in the group, if there is one, and its extent.
  const UOp* local_[3] = {};
  const UOp* grid_[3] = {};  // the group's coordinates that the function takes
  int64_t extent_[3] = {1, 1, 1};
  std::vector<const UOp*> blocks_;  // the open loops and ifs
  int region_depth_ = 0;            // loops over work-items that are open
  bool outside_ = false;            // the line being written belongs to no work-item
  int64_t stack_bytes_ = 0;         // of arrays on the stack
  absl::Status status_;             // the first error in a function that returns none
  Prelude* prelude_ = nullptr;
};

}  // namespace tg::c

#endif  // TG_CODEGEN_C_KERNEL_WRITER_H_
