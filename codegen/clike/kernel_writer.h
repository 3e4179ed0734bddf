// KernelWriter: writes a function of a language of C's family in one walk over a kernel's linear
// list: the base of the renderers of such languages.
//
// Here is what these languages share: C's operators and their precedences, names and inlined
// expressions, blocks, wrapping integers computed as unsigned ones, masks (a vector of bools is a
// vector of integers 0 and -1). A language is a table of spellings (spelling.h) and a class derived
// from this one, whose functions spell types and literals, and write accesses to memory, work-items
// and what else differs. docs/renderers.md says how to add one.
//
// Loads, and values with several uses, get names (v0, v1, ...). A short expression with one use is
// inlined there, but never past a store that could change its value. Register scratch whose pieces
// are always accessed whole becomes variables (acc0, ...); other scratch becomes arrays (tile0,
// ...).
#ifndef TG_CODEGEN_CLIKE_KERNEL_WRITER_H_
#define TG_CODEGEN_CLIKE_KERNEL_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/clike/cat.h"
#include "codegen/clike/outline.h"
#include "codegen/clike/read_ahead.h"
#include "codegen/clike/render_plan.h"
#include "codegen/clike/spelling.h"
#include "codegen/clike/types.h"
#include "codegen/launch_data.h"
#include "ir/kernel_calls.h"
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/bounds.h"
#include "passes/target.h"

namespace tg::clike {

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

// What is the same for all kernels of a language.
struct Language {
  std::string_view name;   // begins error messages
  std::string_view title;  // in sentences
  const SpellingTable* spellings;
  const TypeWords* words;
  int max_lanes = 16;  // of a vector
  // Operands of & | ^ that bind less tightly get parentheses, because compilers warn otherwise.
  Precedence bit_operand;
  bool calls_outlined;  // functions on vectors may be called through FindOutlined's wrappers
  bool reads_ahead;     // has a function for FindReadAhead's requests
};

class KernelWriter {
 public:
  virtual ~KernelWriter() = default;
  KernelWriter(const KernelWriter&) = delete;
  KernelWriter& operator=(const KernelWriter&) = delete;

 protected:
  KernelWriter(const Language& language, const Module& module, const Kernel& kernel,
               const KernelCalls& calls, const passes::Target& target);
  // Writes the function: RenderedKernel::body, without what the functions below need before it.
  absl::StatusOr<codegen::RenderedKernel> WriteFunction();

  // ---- The language's words
  // Returns the type of a value: "float4". Masks have separate names.
  virtual std::string ValueType(Scalar s, int lanes) const = 0;
  // Returns the literal of a NaN that has a payload or is no f32.
  virtual std::string NanLiteral(Scalar s, int64_t bits) const = 0;
  // Returns a vector literal that binds like a cast. `list` has its lanes, or one for all of them
  // if `splat`.
  virtual std::string VectorLiteral(std::string_view type, int lanes, std::string_view list,
                                    bool splat) const = 0;
  // Whether a variable cannot have this name, beyond C's keywords and the names of KernelWriter.
  virtual bool IsReserved(std::string_view name) const = 0;
  // Whether all users of the value can write it as a part of a name, so that it needs none.
  virtual bool IsRenaming(const UOp*) const { return false; }
  // Writes the bits of integers of type `from`, in a text of this precedence, as `to`.
  virtual void Reinterpret(Scalar from, Scalar to, int lanes, std::string_view text, int precedence,
                           Expr& e) = 0;
  // Returns the vector `value` converted lane by lane, as C's casts convert scalars.
  virtual std::string ConvertVector(Scalar from, Scalar to, int lanes, std::string_view value) = 0;
  // Returns the function that truncates and saturates, and gives 0 for a NaN.
  virtual std::string FloatToInt(Scalar from, Scalar to, int lanes) = 0;
  // Returns the function for one rounding of a * b + c, or "" where there is none.
  virtual std::string_view FmaFunction(DType) const { return ""; }
  // Records that the function has values of this type.
  virtual void UsesType(Scalar, int) {}
  // Writes a cast that the language does otherwise than by its own conversion, such as between f32
  // and the bits of a half, where the target does not compute in halves.
  virtual bool SpecialCast(const UOp*, Expr&) { return false; }
  // Defines the function that the spelling table calls for an op with flag d.
  virtual void DefineOp(const UOp* u, DType operand) = 0;
  // Returns the row for an elementwise op, or null.
  virtual const Spelling* SpellingOf(const UOp* u);
  // Writes an elementwise op in the language's own way. Returns false where its row is enough.
  virtual bool SpecialElementwise(const UOp*, const Spelling&, Expr&) { return false; }
  // Calls the function in `e` through a wrapper that is not inlined. A function of the prelude has
  // the type in its name already.
  virtual void Outline(const UOp*, bool /*has_type_in_name*/, Expr&) {}

  // ---- Declarations and control flow
  virtual std::string Signature() = 0;
  // Returns the parameter for a buffer. `aliased`: another one may share its memory.
  virtual std::string BufferParameter(const codegen::KernelParam& buffer, bool aliased) const = 0;
  // Returns whether an array is declared at the top of the function, whatever its position.
  virtual bool IsDeclaredFirst(const UOp* scratch) const = 0;
  // Returns the text by which the array's elements are accessed.
  virtual std::string DeclareArray(const UOp* scratch, const std::string& name) = 0;
  virtual void DeclareVariables(const std::string& type, std::span<const Piece* const> pieces);
  // Returns the variable that a piece of register scratch is, and stores into it. `declares`: no
  // earlier statement has declared it.
  virtual std::string VariableOf(const Piece& piece) const;
  virtual void StorePiece(const Piece& piece, const std::string& type, bool declares,
                          const Text& value);
  // Declares a coordinate of the work-item, by this name.
  virtual void DeclareSpecial(const UOp* special, const std::string& name, bool grid, int dim) = 0;
  // Declares the next value (v7) and returns its name.
  virtual Text DeclareValue(const UOp* u, const std::string& type, const Text& text);
  virtual void WriteLoopHead(const UOp* range, const std::string& name, bool unroll);
  // Closes the block of source i of an `end`, or of an `endif`.
  virtual void CloseBlock(const UOp* u, size_t i);
  virtual void WriteBarrier(const UOp* u) = 0;
  virtual void WriteIfHead(const UOp* u);
  // Called before each line of the body, and after the last one.
  virtual void BeginLine() {}
  virtual absl::Status LeaveFunction() { return absl::OkStatus(); }
  // Ops in which work-items cooperate, except barriers.
  virtual absl::Status WriteCooperation(const UOp* u);

  // ---- Values of other types, lanes
  // Writes the bits of a value that is no bool as another type.
  virtual void Bitcast(const UOp* u, Expr& e) = 0;
  // Writes some lanes of a vector; those of a mask have `e.mask_bits` bits.
  virtual void PickLanes(const UOp* u, const UOp* vector, Expr& e) = 0;
  // Writes a vector of scalars and vectors, with lanes of this type. Those of a mask have
  // `e.mask_bits` bits.
  virtual void MakeVector(const UOp* u, Scalar lane, Expr& e) = 0;

  // ---- Memory
  // Writes what a load reads, whatever its gate, as an expression; a vector of bools as bytes.
  virtual void LoadElements(const UOp* load, const UOp* memory, Expr& e) = 0;
  virtual void StoreElements(const UOp* store, const UOp* memory) = 0;
  virtual void ReadAhead(const UOp*, const UOp* /*memory*/) {}
  virtual absl::Status WriteCopyTransposed(const UOp* u) = 0;
  // Returns the access to an image by a load or a store.
  virtual absl::StatusOr<std::string> Image(const UOp* u, const UOp* memory);

  // ---- For these functions
  template <typename... T>
  void Line(const T&... parts) {
    BeginLine();
    const size_t begin = body_.size();
    body_.Fill(static_cast<size_t>(indent_) * 2, ' ');
    Append(body_, parts...);
    EndLine(begin);
  }
  absl::Status Unsupported(const UOp* u, std::string_view why) const;
  std::string TypeOf(const UOp* u, const Expr& e) const;
  // Returns the type that values of type `s` have in the source. It is `s`, except that bf16, and
  // f16 if the target does not compute in it, become u16, their bits.
  Scalar Shown(Scalar s) const {
    const bool is_bits = s == Scalar::kBF16 || (s == Scalar::kF16 && !target_.fp16);
    return is_bits ? Scalar::kU16 : s;
  }
  std::string Type(Scalar s, int lanes) const { return ValueType(Shown(s), lanes); }
  std::string MaskType(int bits, int lanes) const {
    return ValueType(IntOfSize(bits, /*is_signed=*/true), lanes);
  }
  // Returns the element type of a buffer or array.
  std::string_view MemoryType(Scalar s) const { return MemoryName(*language_.words, s); }
  std::string Literal(Scalar s, int64_t bits, bool exact) const;
  // Returns the function's parameters, variables included.
  std::vector<std::string> Parameters() const;
  // Returns a lane of MakeVector's list: a scalar, a vector, or a mask of `mask_bits`.
  Text Part(const UOp* u, int mask_bits);
  // Returns an element by its array and index: "data0[i0 * 4]".
  Text ArrayElement(const UOp* address);
  // Declares a variable for the text `e` of node `u`, which becomes the variable's name.
  void Name(const UOp* u, Expr& e);
  // Returns an operand for a context that binds at `precedence`. `exact`: the text must have the
  // operand's exact type.
  Text Operand(const UOp* u, int precedence, bool exact = false);
  void AppendOperand(Text& out, const UOp* u, int precedence, bool exact);
  // Appends a lane of a vector literal; bools are 0 and -1.
  void AppendScalar(Text& out, const UOp* u);
  std::string Mask(const UOp* u, int bits, int precedence);
  int MaskBits(const UOp* u) const;
  static bool IsMask(const UOp* u) { return u->dtype.is_bool() && u->dtype.lanes() > 1; }
  Text Pointer(const UOp* address, int precedence);
  bool LeavesTheArray(const UOp* index);
  // Returns whether a store has no gate, or is inside an `if` with the same one.
  bool InOwnIf(const UOp* store) const;
  // Returns whether memory holds halves whose values are computed as floats.
  bool Converts(const UOp* memory, Scalar value) const;

  const Language& language_;
  const Kernel& kernel_;
  const KernelCalls& calls_;
  const passes::Target& target_;
  const Context& ctx_;
  Plan plan_;
  llvm::DenseSet<const UOp*> outlined_;    // called instead of inlined
  llvm::DenseSet<const UOp*> read_ahead_;  // loads that request data further ahead
  analysis::Bounds bounds_;
  codegen::RenderedKernel result_;
  llvm::DenseMap<const UOp*, std::string> memory_names_;  // of define_globals and scratch
  Text head_;                                             // declarations before the body
  Text body_;
  int indent_ = 1;
  std::vector<std::string> var_names_;  // names of variables among the arguments
  int num_values_ = 0;
  int position_ = 0;
  bool no_contract_ = false, no_nan_ = false;
  Exprs exprs_;

 private:
  // ---- kernel_writer.cc: the walk over the linear list, declarations, control flow, names
  absl::Status Write(const UOp* u);
  void WriteScratch(const UOp* u);
  absl::Status WriteSpecial(const UOp* u);
  void WriteRange(const UOp* u);
  // Keeps `e`, the text of node `u`, for inlining into the single user, or declares a variable for
  // it.
  void Keep(const UOp* u, Expr& e);
  void EndLine(size_t begin);            // breaks the line that begins there
  absl::Status CheckType(const UOp* u);  // checks the type of a value

  // ---- params.cc: the function's head
  absl::Status CollectParams();
  bool IsTaken(std::string_view name) const;
  std::string Comment() const;

  // ---- expressions.cc: values. A function with an Expr parameter writes the node's text there.
  absl::Status WriteValue(const UOp* u);
  absl::Status Elementwise(const UOp* u, Expr& e);
  void Modular(const UOp* u, const Spelling& row, Expr& e);
  std::string ModularOperand(const UOp* u, int precedence, bool cast);
  void MulAcc(const UOp* u, Expr& e);
  // Writes a sum or product with a negative term as a difference: 44 - x * 20 for x * -20 + 44.
  // Returns false for other nodes.
  bool Difference(const UOp* u, Expr& e);
  bool Wraps(const UOp* u);
  void WriteConstant(const UOp* u, Expr& e);
  const Expr& ExprOf(const UOp* u);  // constants get their text on first use
  std::string OfItsType(const UOp* u, const Expr& e) const;  // casts a promoted value back

  // ---- conversions.cc: values of other types, lanes
  void Cast(const UOp* u, Expr& e);
  absl::Status Lanes(const UOp* u, Expr& e);

  // ---- memory.cc: loads and stores
  absl::Status WriteLoad(const UOp* u);
  absl::Status WriteStore(const UOp* u);
  absl::Status CheckAccess(const UOp* u, const UOp* memory, DType value) const;

  int num_ranges_ = 0, num_tiles_ = 0;
  DType computed_;               // the type that CheckType last found valid for all ops
  std::vector<const UOp*> ifs_;  // the gates of the enclosing ifs
};

// Returns whether this is a keyword of C or of languages made from it.
bool IsKeyword(std::string_view name);
// Returns the name with `_` for each character that C does not have in names.
std::string Identifier(std::string_view name);

// Returns the gate of an address, or null.
const UOp* GateOf(const UOp* address);

// Returns the parameters of a function in parentheses, broken to lines behind `head`.
std::string ParameterList(std::string_view head, std::span<const std::string> params,
                          size_t column);

// Returns the C identifier for a kernel's name. Every name that does not begin with "r_" or "E_",
// as names made of sizes do, gets the prefix "k_", so that none is reserved in C. Characters that
// are not allowed in C become "_", and the name then gets its hash as a suffix.
std::string FunctionName(std::string_view kernel);

// Returns, for each argument, whether some call may pass it memory that another argument shares
// while one of the two is written. A kernel without calls is assumed to get distinct buffers.
std::vector<bool> AliasedSlots(UOpSpan calls, const std::vector<codegen::KernelParam>& args);

// Appends `text`, parenthesized if it binds less tightly than `required`.
void AppendParenthesized(Text& out, std::string_view text, int precedence, int required);
std::string Parenthesized(std::string_view text, int precedence, int required);

}  // namespace tg::clike

#endif  // TG_CODEGEN_CLIKE_KERNEL_WRITER_H_
