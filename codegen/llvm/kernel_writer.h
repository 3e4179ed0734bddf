// KernelWriter: writes a module in one walk over a kernel's linear list. Internal to the renderer;
// see renderer.h.
#ifndef TG_CODEGEN_LLVM_KERNEL_WRITER_H_
#define TG_CODEGEN_LLVM_KERNEL_WRITER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "codegen/llvm/regions.h"
#include "codegen/llvm/renderer.h"
#include "codegen/llvm/types.h"
#include "ir/kernel_calls.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/bounds.h"

namespace tg::llvm_ir {

inline constexpr std::string_view kRendererName = "llvm";

struct WrittenKernel {
  codegen::RenderedKernel launch;
  // What a module of the kernel has besides `launch.body`.
  std::set<std::string> declarations;
  int64_t zeros = 0;     // bytes of a constant that loads without a value read
  bool unrolls = false;  // some loop
};

// A module of these kernels' functions.
std::string ModuleText(std::span<const WrittenKernel> kernels, const passes::Target& target);

class KernelWriter {
 public:
  KernelWriter(const Module& module, const Kernel& kernel, const KernelCalls& calls,
               const passes::Target& target);
  absl::StatusOr<WrittenKernel> Run();

 private:
  // A loop or an `if` that is open.
  struct Block {
    bool is_loop = false, unroll = false;
    bool outside = false;  // around the loops over work-items (Regions::kOutside)
    const UOp* range = nullptr;
    const UOp* gate = nullptr;  // of an `if`
    std::string counter, step;  // of a loop: the phi, and the counter after it
    std::string end;            // of a loop: its bound
    std::string body, exit;     // labels
    size_t phi = 0;             // of a loop: where the label of the latch is to be inserted
  };

  // ---- kernel_writer.cc: the walk, control flow
  absl::Status Write(const UOp* u);
  void WriteRange(const UOp* u, bool outside);
  void WriteIf(const UOp* u, bool outside);
  void CloseBlock();
  void OpenLoop(Block& block, std::string_view type, bool may_be_empty);
  void CloseLoop(const Block& block, std::string_view type);
  void OpenItems();
  void CloseItems();
  absl::Status WriteSpecial(const UOp* u);
  absl::Status CheckType(const UOp* u) const;
  absl::Status Unsupported(const UOp* u, std::string_view why) const;

  // ---- module_text.cc: the functions' heads and the module around them
  absl::Status CollectParams();
  std::string Functions();

  // ---- values.cc
  absl::Status WriteValue(const UOp* u);
  absl::Status Arithmetic(const UOp* u);
  std::string FloatOp(const UOp* u);
  std::string IntOp(const UOp* u);
  std::string Divide(const UOp* u);
  std::string Dot4(const UOp* u);
  // "add", or "add nsw" where the bounds rule an overflow out.
  std::string Wrapping(const char* name, const UOp* u);

  // ---- conversions.cc
  std::string Cast(const UOp* u);
  std::string Saturated(const UOp* u);
  std::string Lanes(const UOp* u);
  // Parts of one or two vectors, and few scalars, as one shuffle of them; nullopt for other parts.
  std::optional<std::string> ShuffleOf(const UOp* u);
  // The lanes of two vectors, one after the other.
  std::string Concatenate(const std::string& a, int lanes_a, const std::string& b, int lanes_b,
                          Scalar s);
  std::string Splat(const std::string& scalar, Scalar s, int lanes);

  // ---- memory.cc
  void WriteScratch(const UOp* u);
  absl::Status CheckAccess(const UOp* u, const UOp* memory, DType value) const;
  absl::Status WriteLoad(const UOp* u);
  absl::Status WriteStore(const UOp* u);
  absl::Status WriteCopyTransposed(const UOp* u);
  void TransposeSquare(Scalar element, int n, const std::string& to, int64_t to_stride,
                       const std::string& from, int64_t from_stride);
  // The address of element `index` behind `pointer`.
  // `is_inside`: the element exists.
  std::string Element(const std::string& pointer, Scalar element, const std::string& index,
                      bool is_inside = true);
  std::string Pointer(const UOp* address);
  std::string ReadVector(const std::string& pointer, DType value, bool from_half);
  void WriteVector(const std::string& pointer, DType type, const std::string& value, bool to_half);
  // The same under a gate for each element.
  std::string ReadMasked(const std::string& pointer, const std::string& mask, const UOp* load,
                         bool from_half);
  void WriteMasked(const std::string& pointer, const std::string& mask, DType type,
                   const std::string& value, bool to_half);
  const UOp* GateOf(const UOp* address) const;
  // The gate of a store, unless an enclosing `if` has the same one.
  const UOp* OwnGate(const UOp* address) const;
  // Memory of the work-group in the function's argument: its offset. `each_item`: a copy for each
  // work-item.
  int64_t Reserve(int64_t bytes, bool each_item);
  std::string ScratchAddress(int64_t offset, int64_t bytes, bool each_item);

  // ---- Text. Of(u) is the name or number of a value; Typed(u) has the type in front.
  std::string Of(const UOp* u);
  // Whether the value, no constant, is known here for each work-item: it is of this region, or
  // kept.
  bool IsReadable(const UOp* u) const;
  std::string Typed(const UOp* u) { return absl::StrCat(ValueType(u->dtype), " ", Of(u)); }
  // The value of an integer, extended to 64 bits for an address.
  std::string Wide(const UOp* u);
  void Set(const UOp* u, std::string value);
  template <typename... T>
  std::string Emit(const T&... parts) {
    std::string name = absl::StrCat("%t", next_++);
    absl::StrAppend(&body_, "  ", name, " = ", parts..., "\n");
    return name;
  }
  template <typename... T>
  void Line(const T&... parts) {
    absl::StrAppend(&body_, "  ", parts..., "\n");
  }
  std::string NewLabel() { return absl::StrCat("b", next_++); }
  void Begin(const std::string& label) {
    absl::StrAppend(&body_, label, ":\n");
    label_ = label;
  }
  // Declares an intrinsic and calls it.
  template <typename... T>
  std::string Call(const std::string& result, const std::string& name,
                   const std::string& parameters, const T&... arguments) {
    result_.declarations.insert(
        absl::StrCat("declare ", result, " @", name, "(", parameters, ")\n"));
    return Emit("call ", result, " @", name, "(", arguments..., ")");
  }

  const Module& module_;
  const Kernel& kernel_;
  const KernelCalls& calls_;
  const passes::Target& target_;
  const Context& ctx_;
  Regions regions_;
  analysis::Bounds bounds_;
  llvm::DenseSet<const UOp*> read_ahead_;  // loads that request data further ahead
  bool no_contract_ = false, no_nan_ = false;

  WrittenKernel result_;
  std::string parameters_;  // of the body
  std::string entry_;       // allocas
  std::string body_;

  size_t position_ = 0;
  int next_ = 0;
  std::string label_ = "entry";  // of the current basic block
  std::vector<Block> blocks_;
  bool in_items_ = false;
  int region_ = 0;                                  // the current one
  std::vector<Block> items_;                        // the loops over work-items that are open
  std::string item_ = "0";                          // the number of the work-item
  const UOp* locals_[3] = {};                       // the local axes of the kernel
  std::vector<std::string> values_;                 // by node id; "" for none
  std::vector<int> regions_of_values_;              // by node id: where its name is valid
  llvm::DenseMap<const UOp*, std::string> memory_;  // the address of an argument or of scratch
  struct Retained {
    int64_t offset = 0, bytes = 0;
  };
  llvm::DenseMap<const UOp*, Retained> retained_;      // values that other regions use
  llvm::DenseMap<const UOp*, Retained> item_scratch_;  // scratch with a copy for each work-item
};

}  // namespace tg::llvm_ir

#endif  // TG_CODEGEN_LLVM_KERNEL_WRITER_H_
