// Op: the operation of a UOp. OpInfo: an op's row in the table ir/ops.def.
#ifndef TG_IR_OP_H_
#define TG_IR_OP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tg {

enum class Op : uint8_t {
#define TG_OP(name, ...) name,
#include "ir/ops.def"
};
inline constexpr int kNumOps = 0
#define TG_OP(name, ...) +1
#include "ir/ops.def"
    ;

// What ops have in common, as the rows of ops.def say. A switch over all groups, or over the ops of
// one of them (ir/op_groups.h), has no `default`, so that the compiler names it for a new op.
enum class OpGroup : uint8_t {
  kLeaf,        // constants, variables, buffers, counters: no sources but extents
  kArithmetic,  // elementwise
  kConversion,  // elementwise, to another type
  kIdentity,    // elementwise: the value of the source
  kMovement,    // the source's elements elsewhere
  kTensor,      // whole tensors, in graphs only
  kOrder,       // joins, closes and orders effects
  kMemory,      // addresses and accesses
  kReduce,
  kLanes,     // moves lanes of vectors
  kSubgroup,  // work-items of a subgroup together
};
inline constexpr int kNumOpGroups = 11;
std::string_view GroupName(OpGroup group);  // "leaf", "arithmetic", ...

// The levels of the IR, in the order of the pipeline.
enum class Stage : uint8_t { kTensor, kKernel, kLowered, kExpanded, kLinear };
inline constexpr int kNumStages = 5;
std::string_view StageName(Stage s);  // "tensor", "kernel", "lowered", "expanded", "linear"
std::optional<Stage> StageFromName(std::string_view name);

enum class FieldKind : uint8_t {
  kInt,
  kBool,
  kStr,
  kOp,
  kSym,
  kValue,
  kValues,
  kInts,
  kBools,
  kDims,
  kPairs,
  kViews,
  kSpecial,
  kTargets
};
// Whether a field of this kind is encoded in exactly one word.
constexpr bool IsOneWord(FieldKind k) { return k <= FieldKind::kValue || k == FieldKind::kSpecial; }

struct AttrField {
  std::string_view name;
  FieldKind kind = FieldKind::kInt;
  bool optional = false;
};

enum class TypeRule : uint8_t { kSame0, kAll, kCmp, kWhere, kVoid, kExplicit };

struct OpInfo {
  Op op = Op::kNoop;
  OpGroup group = OpGroup::kOrder;
  int weight = 1;  // of an evaluation, in float additions
  std::string_view enum_name, mnemonic, sources, attributes, type_rule_text, classes, stages, flags,
      doc;
  int min_sources = 0;
  int max_sources = 0;  // INT_MAX where there is no limit
  AttrField fields[6];
  int num_fields = 0;
  TypeRule type_rule = TypeRule::kExplicit;

  bool LegalIn(Stage s) const;
  bool AllowsClass(char c) const { return classes.find(c) != std::string_view::npos; }
  bool has(char flag) const { return flags.find(flag) != std::string_view::npos; }
  // The attribute is one word, kept in the node itself.
  constexpr bool inline_attr() const { return num_fields == 1 && IsOneWord(fields[0].kind); }
};

extern const OpInfo kOpInfos[kNumOps];
inline const OpInfo& GetOpInfo(Op op) { return kOpInfos[static_cast<size_t>(op)]; }
std::optional<Op> OpFromMnemonic(std::string_view mnemonic);
inline std::string_view Mnemonic(Op op) { return GetOpInfo(op).mnemonic; }

// Constant-time flag queries.
namespace op_internal {
struct FlagTable {
  uint16_t bits[kNumOps];
  OpGroup groups[kNumOps];
};
extern const FlagTable kFlags;
constexpr uint16_t kCommutativeBit = 1, kAssociativeBit = 2, kElementwiseBit = 4, kMovementBit = 8,
                   kZeroBit = 16, kLeafBit = 32, kTokenBit = 64, kIdentityBit = 128, kAttrBit = 256,
                   kInlineAttrBit = 512, kStringBit = 1024, kWritesBit = 2048, kReadsBit = 4096;
inline bool Has(Op op, uint16_t bit) { return kFlags.bits[static_cast<int>(op)] & bit; }
}  // namespace op_internal

inline OpGroup GroupOf(Op op) { return op_internal::kFlags.groups[static_cast<int>(op)]; }
inline bool IsCommutative(Op op) { return op_internal::Has(op, op_internal::kCommutativeBit); }
// Whether reduce_axis, reduce and group_reduce may combine by this op.
inline bool IsReduceOp(Op op) { return op_internal::Has(op, op_internal::kAssociativeBit); }
inline bool IsElementwise(Op op) { return op_internal::Has(op, op_internal::kElementwiseBit); }
// Writes at address source 0.
inline bool WritesMemory(Op op) { return op_internal::Has(op, op_internal::kWritesBit); }
// Reads at the address source whose number is AddressRead(op).
inline bool ReadsMemory(Op op) { return op_internal::Has(op, op_internal::kReadsBit); }
inline size_t AddressRead(Op op) { return WritesMemory(op) ? 1 : 0; }
// The sources 0 to n - 1 are addresses at which the op reads or writes.
inline size_t NumAddresses(Op op) { return size_t{WritesMemory(op)} + size_t{ReadsMemory(op)}; }
// Moves elements from address source 1 to address source 0.
inline bool IsCopy(Op op) { return NumAddresses(op) == 2 && GroupOf(op) == OpGroup::kMemory; }
inline bool IsMovement(Op op) { return op_internal::Has(op, op_internal::kMovementBit); }
inline bool MapsZeroToZero(Op op) { return op_internal::Has(op, op_internal::kZeroBit); }
// Runs kernels on buffers. An assign whose source 1 is such a node is a buffer that they write.
inline bool IsCall(Op op) { return op == Op::kKernel || op == Op::kRepeat; }
// Differs by work-item or iteration: range, special, unroll.
inline bool IsVaryingLeaf(Op op) { return op_internal::Has(op, op_internal::kLeafBit); }
// The value is that of the source, element by element.
inline bool IsIdentity(Op op) { return op_internal::Has(op, op_internal::kIdentityBit); }
inline bool YieldsToken(Op op) { return op_internal::Has(op, op_internal::kTokenBit); }
// OpInfo::num_fields > 0; OpInfo::inline_attr(); whether some field holds StringIds.
inline bool HasAttr(Op op) { return op_internal::Has(op, op_internal::kAttrBit); }
inline bool HasInlineAttr(Op op) { return op_internal::Has(op, op_internal::kInlineAttrBit); }
inline bool HasStrings(Op op) { return op_internal::Has(op, op_internal::kStringBit); }

// The coordinates that `special` may name, in the encoding of its attribute.
enum class SpecialName : uint8_t { kGrid0, kGrid1, kGrid2, kLocal0, kLocal1, kLocal2 };
std::string_view SpecialText(SpecialName s);
std::optional<SpecialName> SpecialFromText(std::string_view text);

}  // namespace tg

#endif  // TG_IR_OP_H_
