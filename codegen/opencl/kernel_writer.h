// KernelWriter: one walk over a kernel's linear list that writes the function. Internal to the
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
#include "codegen/opencl/launch.h"
#include "codegen/opencl/plan.h"
#include "codegen/opencl/prelude.h"
#include "codegen/opencl/ptx.h"
#include "codegen/opencl/spelling.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "passes/analysis/bounds.h"
#include "passes/target.h"

namespace tg::opencl {

// Of the source, in characters.
inline constexpr size_t kMaxLine = 100;

// What an expression may be written as in some place, beside its text. Few have any.
struct OtherTexts {
  // Of wrapping arithmetic: the same modulo 2^bits in an unsigned type, which saves casts to and
  // fro.
  Text modular;
  int modular_precedence = kPrimary;
  // Of what is written with a minus sign: what adds it to a sum before it, " - x * 20".
  Text minus;
  Text negated;  // of a != b: a == b
};

// A value's text: the name of a variable, or an expression that its one user takes in.
struct Expr {
  Text text;
  int precedence = kPrimary;
  int mask_bits = 0;      // of a vector of bools
  bool promoted = false;  // C may see an int of the same value
  std::shared_ptr<const OtherTexts> others;

  const OtherTexts& also() const {
    static const OtherTexts kNone{};
    return others ? *others : kNone;
  }
};

// The texts of a kernel's nodes.
class Exprs {
 public:
  // `ids`: above those of all nodes. At most `nodes` of them are given a text: references stay.
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
  std::vector<uint32_t> at_;  // by id; 0: none
  std::vector<Expr> all_;
};

class KernelWriter {
 public:
  KernelWriter(const Module& module, const Kernel& kernel, const KernelCalls& calls,
               const Target& target);
  absl::StatusOr<RenderedKernel> Run(Prelude& prelude);

 private:
  // ---- kernel_writer.cc: the walk, declarations, control flow, names
  absl::Status Write(const UOp* u);
  void WriteScratch(const UOp* u);
  absl::Status WriteSpecial(const UOp* u);
  void WriteRange(const UOp* u);
  // Whether the device's compiler is asked to write a loop of few steps out: where a step decides
  // what is padding, which it then knows, and where there is little in the loop, a copy's
  // addresses.
  bool IsWrittenOut(const UOp* range) const;
  // `e`, which is the node's text, is left as it is for the one user, or becomes a variable.
  void Keep(const UOp* u, Expr& e);
  void Name(const UOp* u, Expr& e);
  template <typename... T>
  void Line(const T&... parts) {
    const size_t begin = body_.size();
    body_.Fill(static_cast<size_t>(indent_) * 2, ' ');
    Append(body_, parts...);
    EndLine(begin);
  }
  void EndLine(size_t begin);  // of what begins there
  std::string BarrierFences(const UOp* u) const;
  std::string TypeOf(const UOp* u, const Expr& e) const;
  absl::Status Unsupported(const UOp* u, std::string_view why) const;
  absl::Status CheckType(const UOp* u);  // of a value
  // What values of type `s` are in the source: bits where the target does not compute in f16.
  Scalar Shown(Scalar s) const { return s == Scalar::kF16 && !target_.fp16 ? Scalar::kU16 : s; }
  std::string Type(Scalar s, int lanes) const;
  bool IsNvidia() const { return target_.name.starts_with("cl-nvidia"); }

  // ---- arguments.cc: the function's head, and which argument a `pick` is
  absl::Status CollectParams();
  void WritePick(const UOp* u);
  std::string Signature();
  std::string Comment() const;

  // ---- expressions.cc: values. Functions that take an Expr write a node's text there.
  absl::Status WriteValue(const UOp* u);
  absl::Status Elementwise(const UOp* u, Expr& e);
  const Spelling* SpellingOf(const UOp* u);
  void Modular(const UOp* u, const Spelling& row, Expr& e);
  std::string ModularOperand(const UOp* u, int precedence, bool cast);
  void MulAcc(const UOp* u, Expr& e);
  // A sum or product in which something is negative, as differences: 44 - x * 20 for
  // x * -20 + 44. False for others.
  bool Difference(const UOp* u, Expr& e);
  bool Wraps(const UOp* u);
  // An operand in a place that binds at `precedence`. `exact`: of its very type.
  Text Operand(const UOp* u, int precedence, bool exact = false);
  void AppendOperand(Text& out, const UOp* u, int precedence, bool exact);
  // As a lane of a vector literal: bools as 0 and -1.
  void AppendScalar(Text& out, const UOp* u);
  std::string Mask(const UOp* u, int bits, int precedence);
  int MaskBits(const UOp* u) const;
  void WriteConstant(const UOp* u, Expr& e);
  const Expr& ExprOf(const UOp* u);  // of constants too, which get theirs when they are used
  std::string OfItsType(const UOp* u, const Expr& e) const;  // what is promoted
  bool IsMask(const UOp* u) const { return u->dtype.is_bool() && u->dtype.lanes() > 1; }

  // ---- conversions.cc: values of other types, lanes
  void Cast(const UOp* u, Expr& e);
  void Bitcast(const UOp* u, Expr& e);
  absl::Status Lanes(const UOp* u, Expr& e);

  // ---- memory.cc: loads and stores
  absl::Status WriteLoad(const UOp* u);
  absl::Status WriteStore(const UOp* u);
  absl::Status WriteCopyTransposed(const UOp* u);
  // The elements of an address as an lvalue, or the pointer to them.
  Text Element(const UOp* address, Scalar value, int lanes, bool write);
  // Neighbouring halves as a vector of their bits, which may lie at any of them.
  std::string Halves(const UOp* address, int lanes, const char* qualifier);
  Text Pointer(const UOp* address, int precedence);
  absl::StatusOr<std::string> Image(const UOp* u, const UOp* memory);
  bool Converts(const UOp* memory, Scalar value) const;
  absl::Status CheckAccess(const UOp* u, const UOp* memory, DType value) const;
  bool InOwnIf(const UOp* store) const;

  // ---- cooperation.cc: what only NVIDIA's compiler takes
  absl::Status WriteCooperation(const UOp* u);
  absl::Status WriteCopyAsync(const UOp* u);
  absl::Status WriteShuffle(const UOp* u);
  std::string Call(const PtxFunction& f);

  const Kernel& kernel_;
  const KernelCalls& calls_;
  const Target& target_;
  const Context& ctx_;
  Plan plan_;
  Bounds bounds_;
  Prelude* prelude_ = nullptr;
  RenderedKernel result_;
  llvm::DenseMap<const UOp*, std::string> memory_names_;  // of define_globals and scratch arrays
  Text body_;
  int indent_ = 1;
  std::vector<std::string> var_names_;  // of the variables among the arguments
  int num_values_ = 0, num_ranges_ = 0, num_tiles_ = 0;
  int position_ = 0;
  DType computed_;               // the type that CheckType found fit for all ops last
  std::vector<const UOp*> ifs_;  // the gates of the open ifs
  bool no_contract_ = false, no_nan_ = false;
  Exprs exprs_;
};

// The kernel's name as a function: r_4_8 as it is; what C might object to gets a prefix, and names
// that lose a character a suffix from their hash.
std::string FunctionName(std::string_view kernel);

// By argument: whether it may share memory with another, one of them being written, in some of the
// calls. A kernel that nobody calls is taken to be called with buffers of their own.
std::vector<bool> AliasedSlots(UOpSpan calls, const std::vector<KernelParam>& args);

// `text`, in parentheses where it binds less tightly than `required`.
void AppendParenthesized(Text& out, std::string_view text, int precedence, int required);
std::string Parenthesized(std::string_view text, int precedence, int required);

}  // namespace tg::opencl

#endif  // TG_CODEGEN_OPENCL_KERNEL_WRITER_H_
