// KernelWriter: writes a function in one walk over a kernel's linear list. Internal to the
// renderer; see renderer.h.
#ifndef TG_CODEGEN_OPENCL_KERNEL_WRITER_H_
#define TG_CODEGEN_OPENCL_KERNEL_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/opencl/cat.h"
#include "codegen/opencl/launch_data.h"
#include "codegen/opencl/outline.h"
#include "codegen/opencl/prelude.h"
#include "codegen/opencl/ptx.h"
#include "codegen/opencl/read_ahead.h"
#include "codegen/opencl/render_plan.h"
#include "codegen/opencl/spelling.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "passes/analysis/bounds.h"
#include "passes/target.h"

namespace tg::opencl {

// Maximum length of a source line, in characters.
inline constexpr size_t kMaxLine = 100;

// Alternative texts of an expression, valid in some contexts only. Few expressions have any.
struct OtherTexts {
  // The result of wrapping arithmetic modulo 2^bits in an unsigned type; saves casts in both
  // directions.
  Text modular;
  int modular_precedence = kPrimary;
  // The text that adds a negated expression to the sum before it: " - x * 20".
  Text minus;
  Text negated;  // the negation: a == b for a != b
};

// A value's text: the name of a variable, or an expression that is inlined into its single user.
struct Expr {
  Text text;
  int precedence = kPrimary;
  int mask_bits = 0;      // bits per lane of a vector of bools
  bool promoted = false;  // C may promote the value to int
  std::shared_ptr<const OtherTexts> others;

  const OtherTexts& also() const {
    static const OtherTexts kNone{};
    return others ? *others : kNone;
  }
};

// The texts of a kernel's nodes.
class Exprs {
 public:
  // `ids` exceeds the ids of all nodes. At most `nodes` nodes are given a text, so that references
  // to texts stay valid.
  Exprs(size_t ids, size_t nodes) : at_(ids) {
    all_.reserve(nodes + 1);
    all_.emplace_back();
  }
  Expr& operator[](const UOp* u) {
    uint32_t& at = at_[u->id];
    if (at == 0) {
      at = static_cast<uint32_t>(all_.size());
      all_.emplace_back();
    }
    return all_[at];
  }
  const Expr& Get(const UOp* u) const { return all_[at_[u->id]]; }

 private:
  std::vector<uint32_t> at_;  // by node id; 0 means no text
  std::vector<Expr> all_;
};

class KernelWriter {
 public:
  KernelWriter(const Module& module, const Kernel& kernel, const KernelCalls& calls,
               const passes::Target& target);
  absl::StatusOr<RenderedKernel> Run(Prelude& prelude);

 private:
  // ---- kernel_writer.cc: the walk over the linear list, declarations, control flow, names
  absl::Status Write(const UOp* u);
  void WriteScratch(const UOp* u);
  absl::Status WriteSpecial(const UOp* u);
  void WriteRange(const UOp* u);
  // Returns whether the device's compiler is asked to unroll a loop with few steps. Unrolling lets
  // it resolve padding predicates that depend on the step, and the addresses of a copy with a small
  // body.
  bool ShouldUnroll(const UOp* range) const;
  // Keeps `e`, the text of node `u`, for inlining into the single user, or declares a variable for
  // it.
  void Keep(const UOp* u, Expr& e);
  void Name(const UOp* u, Expr& e);
  template <typename... T>
  void Line(const T&... parts) {
    const size_t begin = body_.size();
    body_.Fill(static_cast<size_t>(indent_) * 2, ' ');
    Append(body_, parts...);
    EndLine(begin);
  }
  void EndLine(size_t begin);  // breaks the line that begins there
  std::string BarrierFences(const UOp* u) const;
  std::string TypeOf(const UOp* u, const Expr& e) const;
  absl::Status Unsupported(const UOp* u, std::string_view why) const;
  absl::Status CheckType(const UOp* u);  // checks the type of a value
  // Returns the type that values of type `s` have in the source. It is `s`, except that f16 becomes
  // u16, its bits, if the target does not compute in f16.
  Scalar Shown(Scalar s) const { return s == Scalar::kF16 && !target_.fp16 ? Scalar::kU16 : s; }
  std::string Type(Scalar s, int lanes) const;

  // ---- arguments.cc: the function's head
  absl::Status CollectParams();
  std::string Signature();
  std::string Comment() const;

  // ---- expressions.cc: values. A function with an Expr parameter writes the node's text there.
  absl::Status WriteValue(const UOp* u);
  absl::Status Elementwise(const UOp* u, Expr& e);
  const Spelling* SpellingOf(const UOp* u);
  void HalfVectorFunction(const UOp* u, const Spelling& row, Expr& e);
  void Outline(const UOp* u, bool has_type_in_name, Expr& e);
  void Modular(const UOp* u, const Spelling& row, Expr& e);
  std::string ModularOperand(const UOp* u, int precedence, bool cast);
  void MulAcc(const UOp* u, Expr& e);
  // Writes a sum or product with a negative term as a difference: 44 - x * 20 for x * -20 + 44.
  // Returns false for other nodes.
  bool Difference(const UOp* u, Expr& e);
  bool Wraps(const UOp* u);
  // Returns an operand for a context that binds at `precedence`. `exact`: the text must have the
  // operand's exact type.
  Text Operand(const UOp* u, int precedence, bool exact = false);
  void AppendOperand(Text& out, const UOp* u, int precedence, bool exact);
  // Appends a lane of a vector literal; bools are 0 and -1.
  void AppendScalar(Text& out, const UOp* u);
  std::string Mask(const UOp* u, int bits, int precedence);
  int MaskBits(const UOp* u) const;
  void WriteConstant(const UOp* u, Expr& e);
  const Expr& ExprOf(const UOp* u);  // constants get their text on first use
  std::string OfItsType(const UOp* u, const Expr& e) const;  // casts a promoted value back
  bool IsMask(const UOp* u) const { return u->dtype.is_bool() && u->dtype.lanes() > 1; }

  // ---- conversions.cc: values of other types, lanes
  void Cast(const UOp* u, Expr& e);
  void Bitcast(const UOp* u, Expr& e);
  absl::Status Lanes(const UOp* u, Expr& e);

  // ---- memory.cc: loads and stores
  absl::Status WriteLoad(const UOp* u);
  absl::Status WriteStore(const UOp* u);
  absl::Status WriteCopyTransposed(const UOp* u);
  // Returns the addressed elements as an lvalue, or a pointer to them.
  Text Element(const UOp* address, Scalar value, int lanes, bool write);
  // Returns the function that a strided access calls.
  std::string StridedFunction(const UOp* access, const UOp* memory, DType value);
  // Returns consecutive halves as a vector of their bits; the address needs only element alignment.
  std::string Halves(const UOp* address, int lanes, const char* qualifier);
  Text Pointer(const UOp* address, int precedence);
  absl::StatusOr<std::string> Image(const UOp* u, const UOp* memory);
  bool Converts(const UOp* memory, Scalar value) const;
  absl::Status CheckAccess(const UOp* u, const UOp* memory, DType value) const;
  bool InOwnIf(const UOp* store) const;

  // ---- cooperation.cc: ops that are inline PTX
  absl::Status WriteCooperation(const UOp* u);
  absl::Status WriteCopyAsync(const UOp* u);
  absl::Status WriteShuffle(const UOp* u);
  std::string Call(const PtxFunction& f);
  std::string Words(const UOp* u);

  const Kernel& kernel_;
  const KernelCalls& calls_;
  const passes::Target& target_;
  const Context& ctx_;
  Plan plan_;
  llvm::DenseSet<const UOp*> outlined_;    // called instead of inlined
  llvm::DenseSet<const UOp*> read_ahead_;  // loads that request data further ahead
  analysis::Bounds bounds_;
  Prelude* prelude_ = nullptr;
  RenderedKernel result_;
  llvm::DenseMap<const UOp*, std::string> memory_names_;  // of define_globals and scratch
  Text body_;
  int indent_ = 1;
  llvm::DenseMap<const UOp*, std::string> words_;  // what `ldmatrix` loaded, as words
  std::vector<std::string> var_names_;             // names of variables among the arguments
  int num_values_ = 0, num_ranges_ = 0, num_tiles_ = 0;
  int position_ = 0;
  DType computed_;               // the type that CheckType last found valid for all ops
  std::vector<const UOp*> ifs_;  // the gates of the enclosing ifs
  bool no_contract_ = false, no_nan_ = false;
  Exprs exprs_;
};

// Returns the C identifier for a kernel's name. Every name that does not begin with "r_" or "E_",
// as names made of sizes do, gets the prefix "k_", so that none is reserved in C. Characters that
// are not allowed in C become "_", and the name then gets its hash as a suffix.
std::string FunctionName(std::string_view kernel);

// Returns, for each argument, whether some call may pass it memory that another argument shares
// while one of the two is written. A kernel without calls is assumed to get distinct buffers.
std::vector<bool> AliasedSlots(UOpSpan calls, const std::vector<KernelParam>& args);

// Appends `text`, parenthesized if it binds less tightly than `required`.
void AppendParenthesized(Text& out, std::string_view text, int precedence, int required);
std::string Parenthesized(std::string_view text, int precedence, int required);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_KERNEL_WRITER_H_
