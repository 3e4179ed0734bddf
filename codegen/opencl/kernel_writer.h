// OpenClWriter: writes a kernel as a function of OpenCL C. Internal to the renderer; see
// renderer.h, and codegen/clike/kernel_writer.h for what it shares with other languages.
#ifndef TG_CODEGEN_OPENCL_KERNEL_WRITER_H_
#define TG_CODEGEN_OPENCL_KERNEL_WRITER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/kernel_writer.h"
#include "codegen/opencl/prelude.h"
#include "codegen/opencl/ptx.h"
#include "codegen/opencl/unseen_details.h"
#include "ir/walk.h"

namespace tg::opencl {

class OpenClWriter : public clike::KernelWriter {
 public:
  OpenClWriter(const Module& module, const Kernel& kernel, const KernelCalls& calls,
               const passes::Target& target);
  absl::StatusOr<codegen::RenderedKernel> Run(Prelude& prelude);

 protected:
  // ---- kernel_writer.cc: words, declarations, control flow
  std::string ValueType(Scalar s, int lanes) const override;
  std::string NanLiteral(Scalar s, int64_t bits) const override;
  std::string VectorLiteral(std::string_view type, int lanes, std::string_view list,
                            bool splat) const override;
  bool IsReserved(std::string_view name) const override;
  bool IsRenaming(const UOp* u) const override { return !PickedWords(u).empty(); }
  void Reinterpret(Scalar from, Scalar to, int lanes, std::string_view text, int precedence,
                   clike::Expr& e) override;
  void Bitcast(const UOp* u, clike::Expr& e) override;
  std::string ConvertVector(Scalar from, Scalar to, int lanes, std::string_view value) override;
  std::string FloatToInt(Scalar from, Scalar to, int lanes) override;
  std::string_view FmaFunction(DType t) const override;
  void UsesType(Scalar s, int lanes) override;
  bool SpecialCast(const UOp* u, clike::Expr& e) override;
  void DefineOp(const UOp* u, DType operand) override;
  bool SpecialElementwise(const UOp* u, const clike::Spelling& row, clike::Expr& e) override;
  void Outline(const UOp* u, bool has_type_in_name, clike::Expr& e) override;
  std::string Signature() override;
  std::string BufferParameter(const codegen::KernelParam& buffer, bool aliased) const override;
  bool IsDeclaredFirst(const UOp* scratch) const override;
  std::string DeclareArray(const UOp* scratch, const std::string& name) override;
  void DeclareSpecial(const UOp* special, const std::string& name, bool grid, int dim) override;
  void WriteBarrier(const UOp* u) override;

  // ---- lanes.cc
  void PickLanes(const UOp* u, const UOp* vector, clike::Expr& e) override;
  void MakeVector(const UOp* u, Scalar lane, clike::Expr& e) override;

  // ---- memory.cc
  void LoadElements(const UOp* load, const UOp* memory, clike::Expr& e) override;
  void StoreElements(const UOp* store, const UOp* memory) override;
  void ReadAhead(const UOp* load, const UOp* memory) override;
  absl::Status WriteCopyTransposed(const UOp* u) override;
  absl::StatusOr<std::string> Image(const UOp* u, const UOp* memory) override;

  // ---- cooperation.cc: ops that are inline PTX
  absl::Status WriteCooperation(const UOp* u) override;

 private:
  // Returns the addressed elements as an lvalue, or a pointer to them.
  clike::Text Element(const UOp* address, Scalar value, int lanes, bool write);
  // Returns the function that a strided access calls.
  std::string StridedFunction(const UOp* access, const UOp* memory, DType value);
  // Returns consecutive halves as a vector of their bits; the address needs only element alignment.
  std::string Halves(const UOp* address, int lanes, const char* qualifier);
  absl::Status WriteCopyAsync(const UOp* u);
  // Whether it is a conjunction in the gate of an asynchronous copy. As `&&` it would be branches,
  // across which the device's compiler does not move other work.
  bool IsOfCopyGate(const UOp* u);
  absl::Status WriteShuffle(const UOp* u);
  absl::Status WriteTransposeItems(const UOp* u);
  // ---- warpgroup.cc
  absl::Status WriteWgmma(const UOp* u);
  // Whether the next op before (step -1) or behind (1) the current one that is no part of an
  // address is an instruction of a warpgroup.
  bool BordersWgmma(int step) const;
  bool HasWgmma();
  void WriteOperands(const std::vector<std::string>& lines);
  std::string FactorOperand(const UOp* address, FactorLayout layout);

  std::string Call(const PtxFunction& f);
  std::string Words(const UOp* u);
  // The words that `u` picks from what `ldmatrix` loaded; empty if it picks no whole ones.
  std::string PickedWords(const UOp* u) const;
  // The instruction of PTX for a maximum, a minimum or an exponential, if it gives another result
  // than the op only in what nothing sees; its name is empty if there is none.
  PtxFunction LooseFunction(const UOp* u);
  // A word of 32 bits as text, of which a byte of the kernel is this one.
  struct ByteOfWord {
    std::string word;
    int64_t lane;
    bool is_computed;  // the text is an expression with an operator
  };
  std::optional<ByteOfWord> FindByte(const UOp* u);
  // Writes the conversion of such a byte to f32, or a difference of that and a constant.
  bool FloatOfByte(const UOp* u, clike::Expr& e);

  Prelude* prelude_ = nullptr;
  llvm::DenseMap<const UOp*, std::string> words_;  // what `ldmatrix` loaded, as words
  // Of the instructions that are under way, as operands.
  std::vector<std::string> wgmma_sums_;
  std::optional<bool> has_wgmma_;
  std::optional<UnseenDetails> unseen_;
  std::optional<NodeSet> copy_gates_;  // conjunctions in gates of asynchronous copies
};

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_KERNEL_WRITER_H_
