// V101-V108: what a node is made of, before its types.
#include <climits>
#include <cstdint>

#include "ir/attr.h"
#include "ir/matrix/matrix_instruction.h"
#include "ir/text/constant.h"
#include "ir/verify/body_check.h"

namespace tg::verify {
namespace {

// Whether source `i` may be a node without a value: an effect, or a token that orders one.
bool MayBeToken(Op op, size_t i) {
  switch (op) {
    case Op::kSink:
    case Op::kBarrier:
    case Op::kCommit:
    case Op::kWait:
    case Op::kNoop:
      return true;
    case Op::kEnd:
    case Op::kEndIf:
      return i == 0;
    case Op::kAfter:
    case Op::kAssign:
    case Op::kIf:
      return i >= 1;
    case Op::kCopyAsync:
      return i >= 2;
    default:
      return false;
  }
}

// Whether the words are as long as they say, so that ForEachField may walk them.
bool IsWellFormed(const OpInfo& info, std::span<const int64_t> words) {
  size_t at = 0;
  for (int i = 0; i < info.num_fields; ++i) {
    if (at >= words.size()) return false;
    size_t n = 1;
    if (!IsOneWord(info.fields[i].kind)) {
      const size_t step = info.fields[i].kind == FieldKind::kPairs ? 2 : 1;
      if (words[at] < 0 || static_cast<size_t>(words[at]) > words.size()) return false;
      n += static_cast<size_t>(words[at]) * step;
    }
    at += n;
  }
  return at == words.size();
}

bool ViewsAreWellFormed(std::span<const int64_t> words) {
  size_t at = 1;
  while (at < words.size()) {
    if (words[at] < 0 || static_cast<size_t>(words[at]) > words.size()) return false;
    const auto rank = static_cast<size_t>(words[at]);
    const size_t mask = at + 2 * rank + 2;
    if (mask >= words.size()) return false;
    at = mask + 1 + (words[mask] ? 2 * rank : 0);
  }
  return at == words.size() && words.size() > 1;
}

constexpr int64_t kMaxArg = 65535;
constexpr int64_t kMaxBuffers = 8;  // of a stage

// Passes allocate ids above the greatest one, so that ids must stay small.
constexpr bool IsId(int64_t v) { return v >= 0 && v <= INT32_MAX; }
constexpr char kBadId[] = "id is not from 0 to 2147483647";

bool IsPowerOfTwo(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

// The range of one-word fields and the like; null where all is well.
const char* AttributeProblem(const UOp* u) {
  const auto word = [&](size_t i) { return u->words()[i]; };
  switch (u->op) {
    case Op::kDefineGlobal:
    case Op::kCarried:
      return word(0) < 0 || word(0) > kMaxArg ? "arg is not from 0 to 65535" : nullptr;
    case Op::kScratch:
      if (!IsId(word(0))) return kBadId;
      return word(1) != 0 && !IsPowerOfTwo(word(1)) ? "align is not a power of two" : nullptr;
    case Op::kRange:
      return IsId(word(0)) ? nullptr : kBadId;
    case Op::kUnroll:
      if (!IsId(word(0))) return "axis is not from 0 to 2147483647";
      return word(1) < 1 || word(1) > kMaxVectorLanes ? "size is not from 1 to 65535" : nullptr;
    case Op::kIota:
      return word(0) < 0 ? "size is negative" : nullptr;
    case Op::kBufferView:
      return word(0) < 0 || word(1) < 0 ? "offset or size is negative" : nullptr;
    case Op::kGroupReduce:
      return IsId(word(1)) ? nullptr : kBadId;
    case Op::kStage:
      if (!IsId(word(0))) return kBadId;
      if (word(2) < 0 || word(2) > kMaxBuffers) return "buffers is not from 0 to 8";
      if (word(2) > 2 && word(3) == 0) return "more than two buffers are filled ahead";
      if (word(2) > 1 && u->num_srcs < 4) return "several buffers need the range of their turns";
      return word(4) < 0 ? "row is negative" : nullptr;
    case Op::kLoad:
    case Op::kStore:
      return word(0) < -INT32_MAX || word(0) > INT32_MAX ? "stride is not a 32-bit number"
                                                         : nullptr;
    case Op::kCopyAsync:
      return word(0) < 1 ? "count is less than 1" : nullptr;
    case Op::kCopyTransposed:
      if (word(0) < 1 || word(1) < 1) return "rows or columns are less than 1";
      if (word(0) > kMaxVectorLanes || word(1) > kMaxVectorLanes)
        return "rows or columns are more than 65535";
      if (word(2) < word(0)) return "to is less than rows: runs would overlap";
      return word(2) > INT32_MAX || word(3) < -INT32_MAX || word(3) > INT32_MAX
                 ? "to or from is not a 32-bit number"
                 : nullptr;
    case Op::kWait:
      return word(0) < 0 ? "pending is negative" : nullptr;
    case Op::kShuffle:
      return IsPowerOfTwo(word(0)) && word(0) <= 1024 ? nullptr
                                                      : "width is not a power of two up to 1024";
    case Op::kTransposeItems:
      if (!IsPowerOfTwo(word(0)) || word(0) > 32) return "width is not a power of two up to 32";
      return u->dtype.lanes() % word(0) == 0 ? nullptr : "its lanes make no `width` pieces";
    case Op::kWmma:
      return word(0) == 0 ? "name is empty" : nullptr;
    case Op::kWgmma:
      if (word(0) == 0) return "name is empty";
      return word(1) % 8 == 0 && word(1) >= 8 && word(1) <= MatrixInstruction::kMostColumns
                 ? nullptr
                 : "columns is not a multiple of 8 up to 256";
    case Op::kLdMatrix:
      return word(0) == 1 || word(0) == 2 || word(0) == 4 ? nullptr : "count is not 1, 2 or 4";
    case Op::kLoop:
      return word(1) < 0 || static_cast<uint64_t>(word(1)) + 1 >= u->num_srcs
                 ? "result is not the number of a carried value"
                 : nullptr;
    case Op::kRepeat: {
      const auto buffers = static_cast<int64_t>(u->num_srcs) - 2;
      if (word(1) < 0 || word(2) < 0 || word(1) > buffers || word(2) > buffers - 2 * word(1)) {
        return "pairs and writes are not numbers of its buffers";
      }
      return word(3) != 0 && word(1) == 0 ? "a condition without a pair" : nullptr;
    }
    default:
      return nullptr;
  }
}

bool CheckAttribute(BodyCheck& c, const UOp* u, const OpInfo& info) {
  const auto words = u->words();
  if (!info.inline_attr() && !IsWellFormed(info, words)) {
    c.ErrorUnprintable(Rule::kAttribute, u, "its attribute is not encoded as the op table says");
    return false;
  }
  bool ok = true;
  ForEachField(info, words, [&](const AttrField& field, auto w) {
    const auto bad = [&](std::string message) {
      if (ok) c.ErrorUnprintable(Rule::kAttribute, u, std::move(message));
      ok = false;
    };
    switch (field.kind) {
      case FieldKind::kOp:
        if (w[0] < 0 || w[0] >= kNumOps) bad("an op of no number");
        break;
      case FieldKind::kSpecial:
        if (w[0] < 0 || w[0] > static_cast<int64_t>(SpecialName::kLocal2)) bad("no coordinate");
        break;
      case FieldKind::kBool:
        if (w[0] != 0 && w[0] != 1) bad("a bool that is neither");
        break;
      case FieldKind::kViews:
        if (!ViewsAreWellFormed(w)) bad("there is no view, or one is not encoded as uop.h says");
        break;
      case FieldKind::kTargets:
        if (w.size() != 1 && w.size() != u->num_srcs + 1) bad("not one target a source");
        break;
      default:
        break;
    }
  });
  if (!ok) return false;
  if (const char* problem = AttributeProblem(u)) {
    c.Error(Rule::kAttribute, u, problem);
    return false;
  }
  return true;
}

bool CheckSymbol(BodyCheck& c, const UOp* u) {
  const auto declared = [&](const auto& map, int64_t word, std::string_view kind) {
    const std::string_view name = c.String(word);
    if (map.count({name.data(), name.size()})) return true;
    c.Error(Rule::kSymbol, u,
            "no " + std::string(kind) + " '@" + std::string(name) + "' is declared");
    return false;
  };
  switch (u->op) {
    case Op::kVar:
      return declared(c.symbols.vars, u->word(0), "variable");
    case Op::kBuffer:
      return declared(c.symbols.buffers, u->word(0), "buffer");
    case Op::kKernel:
      return declared(c.symbols.kernels, u->word(0), "kernel");
    case Op::kLoop:
    case Op::kRepeat:
      return declared(c.symbols.graphs, u->word(0), "graph");
    case Op::kSink:
      for (int64_t word : u->list()) {
        if (word && !declared(c.symbols.buffers, word, "buffer")) return false;
      }
      return true;
    default:
      return true;
  }
}

bool CheckConstant(BodyCheck& c, const UOp* u) {
  if (u->op != Op::kConst && u->op != Op::kVConst) return true;
  const auto bits = u->op == Op::kConst ? u->words() : u->list();
  for (int64_t b : bits) {
    if (u->dtype.is_value() && IsCanonical(u->dtype.scalar(), b)) continue;
    c.Error(Rule::kConstant, u, std::to_string(b) + " is not the bits of a " + u->dtype.ToString());
    return false;
  }
  return true;
}

}  // namespace

bool CheckStructure(BodyCheck& c, const UOp* u) {
  const OpInfo& info = GetOpInfo(u->op);
  if (!info.LegalIn(c.stage)) {
    std::string stages;
    for (int i = 0; i < kNumStages; ++i) {
      const auto s = static_cast<Stage>(i);
      if (info.LegalIn(s)) stages += (stages.empty() ? "" : ", ") + std::string(StageName(s));
    }
    c.Error(Rule::kOpStage, u,
            "not an op of stage " + std::string(StageName(c.stage)) + " (but of " + stages + ")");
    return false;
  }
  if (info.num_fields && !CheckAttribute(c, u, info)) return false;
  if (u->op == Op::kSink && u != c.body.root) {
    c.Error(Rule::kRoot, u, "a second sink; it is the root of a body and nothing else");
    return false;
  }
  const size_t operands = info.num_fields ? NumOperands(u) : u->num_srcs;
  // NumOperands subtracts; more symbolic entries than sources make it wrap around.
  if (operands < static_cast<size_t>(info.min_sources) || operands > u->num_srcs ||
      operands > static_cast<size_t>(info.max_sources)) {
    const std::string wanted(info.sources);
    c.Error(Rule::kArity, u,
            "it takes " + wanted + " operands, not " +
                (operands > u->num_srcs ? "fewer than none (symbolic entries "
                                          "without a source)"
                                        : std::to_string(operands)));
    return false;
  }
  for (size_t i = 0; i < u->num_srcs; ++i) {
    const UOp* s = u->src(i);
    if (s->dtype.is_void() && !MayBeToken(u->op, i)) {
      c.Error(Rule::kToken, u,
              "source " + std::to_string(i) + " (" + c.Name(s) + ", " +
                  std::string(Mnemonic(s->op)) + ") has no value");
      return false;
    }
    if (i >= operands && s->dtype != kIndex) {
      c.Error(
          Rule::kSymbolicDim, u,
          "the symbolic entry " + c.Name(s) + " has type " + s->dtype.ToString() + ", not index");
      return false;
    }
  }
  return CheckSymbol(c, u) && CheckConstant(c, u);
}

}  // namespace tg::verify
