#include "runtime/opencl/ptx_repair.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "base/status.h"
#include "ir/matrix/hopper_comment.h"

namespace tg::runtime {
namespace {

// ---- Defects of ptxas 12.6 to 13.2 for compute capability 9.0, which appear in its machine code
// and in the results:
//
// 1. max(max(a, -b), c) of s32 or s16 becomes a three-operand maximum that loses the sign of b; min
//    has the same defect. In a function that contains one of these ops, a negation is therefore
//    rewritten to ~x + 1, which ptxas does not fold into an operand's sign.
constexpr std::string_view kThreeOperands[] = {"max.s32", "min.s32", "max.s16", "min.s16"};
// 2. In 16 bits, -x is not truncated to 16 bits before it is compared, shifted or widened. If two
//    values share a register, one is sometimes read instead of the other. Arithmetic in 16 bits is
//    therefore done in 32 bits, and narrow values are only loaded, stored and moved.
struct NarrowOp {
  std::string_view name, wide;  // without the type; names that end with a dot are prefixes
  size_t narrow_sources;        // the other sources are predicates or shift amounts
  bool narrow_result;
  int shift = 0;  // of the wide result
};
constexpr NarrowOp kNarrowOps[] = {
    {"add", "add", 2, true},       {"sub", "sub", 2, true},
    {"mul.lo", "mul.lo", 2, true}, {"mad.lo", "mad.lo", 3, true},
    {"div", "div", 2, true},       {"rem", "rem", 2, true},
    {"min", "min", 2, true},       {"max", "max", 2, true},
    {"neg", "neg", 1, true},       {"abs", "abs", 1, true},
    {"not", "not", 1, true},       {"and", "and", 2, true},
    {"or", "or", 2, true},         {"xor", "xor", 2, true},
    {"shl", "shl", 1, true},       {"shr", "shr", 1, true},
    {"selp", "selp", 2, true},     {"mul.wide", "mul.lo", 2, false},
    {"setp.", "", 2, false},       {"mul.hi", "mul.lo", 2, true, 16},
};
// 3. A select between -0.0 and -1.0 is compiled to a conversion of the integer 0 or -1, which
// yields
//    0.0 instead of -0.0. The select is therefore done on the bits.
// 4. A sum, difference or product of halves without a rounding mode may be contracted to an fma,
//    which the driver's compiler does not forbid where the source does. It then gets ".rn".
constexpr std::string_view kMinusZero = "0f80000000", kMinusOne = "0fBF800000";

// A PTX instruction: "@%p1 neg.s32 \t%r1, %r2;".
struct Instruction {
  std::string guard;  // followed by a blank, or empty
  std::string_view name;
  std::vector<std::string_view> operands;
};

constexpr std::string_view kBlanks = " \t\r";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// ---- Instructions that the driver's OpenCL refuses, since it compiles for sm_90 without its own
// instructions: comments that begin so are in their place.
constexpr std::string_view kInstructions = kHopperComment, kTarget = ".target sm_90";

// The line with the instructions that its comment holds, or with the architecture that has them;
// empty for any other line.
std::string WithHopper(std::string_view line) {
  if (const size_t at = line.find(kInstructions); at != std::string_view::npos) {
    return Cat("\t", line.substr(at + kInstructions.size()), "\n");
  }
  const std::string_view words = Trimmed(line);
  if (!words.starts_with(kTarget) || words.starts_with(Cat(kTarget, "a"))) return "";
  return Cat(kTarget, "a", words.substr(kTarget.size()), "\n");
}

// Returns nothing unless the line is exactly one instruction.
std::optional<Instruction> Parse(std::string_view line) {
  line = Trimmed(line);
  if (line.empty() || line.find(';') != line.size() - 1) return std::nullopt;
  line.remove_suffix(1);
  Instruction parsed;
  if (line[0] == '@') {
    const size_t end = std::min(line.find_first_of(kBlanks), line.size());
    parsed.guard = Cat(line.substr(0, end), " ");
    line = Trimmed(line.substr(end));
  }
  const size_t end = std::min(line.find_first_of(kBlanks), line.size());
  parsed.name = line.substr(0, end);
  line.remove_prefix(end);
  while (!line.empty()) {
    const size_t comma = std::min(line.find(','), line.size());
    parsed.operands.push_back(Trimmed(line.substr(0, comma)));
    line.remove_prefix(std::min(comma + 1, line.size()));
  }
  return parsed;
}

// Returns the operand that an instruction negates, or nothing for other instructions.
std::optional<std::string_view> Negated(std::string_view op,
                                        const std::vector<std::string_view>& args) {
  if (op == "neg" && args.size() == 2) return args[1];
  if (op == "sub" && args.size() == 3 && args[1] == "0") return args[2];
  if (op == "mul.lo" && args.size() == 3 && args[2] == "-1") return args[1];
  return std::nullopt;
}

// -x = ~x + 1.
std::string Negation(std::string_view guard, std::string_view to, std::string_view x) {
  return Cat("\t", guard, "not.b32 ", to, ", ", x, ";\n\t", guard, "add.s32 ", to, ", ", to,
             ", 1;\n");
}

const NarrowOp* FindNarrowOp(std::string_view op, size_t operands) {
  const auto* found =
      std::find_if(std::begin(kNarrowOps), std::end(kNarrowOps), [&](const NarrowOp& row) {
        return row.name.ends_with('.') ? op.starts_with(row.name) : op == row.name;
      });
  return found == std::end(kNarrowOps) || operands < 1 + found->narrow_sources ? nullptr : found;
}

// Converts a 16-bit constant to the 32-bit number that an operand of this type denotes. Constants
// are decimal, or hexadecimal, as the bits of a half are.
std::string WideConstant(std::string_view text, bool is_signed) {
  const int bits = static_cast<int>(std::strtol(std::string(text).c_str(), nullptr, 0)) & 0xffff;
  return Cat(is_signed && bits > 0x7fff ? bits - 0x10000 : bits);
}

// Converts the 16-bit instruction `i`, an op of `type`, to 32 bits.
std::string Widened(const Instruction& i, std::string_view op, char type, const NarrowOp& row) {
  // Register k - 1 holds operand k. The first register also holds the result, after the operands
  // are read.
  constexpr std::string_view kWords[] = {"%tg0", "%tg1", "%tg2"};
  std::string out = "\t{\n\t.reg .b32 %tg0, %tg1, %tg2;\n";
  std::vector<std::string> args;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const std::string_view operand = i.operands[k];
    if (k == 0) {
      args.emplace_back(row.narrow_result ? kWords[0] : operand);
    } else if (k > row.narrow_sources) {
      args.emplace_back(operand);
    } else if (operand[0] != '%') {
      args.push_back(WideConstant(operand, type == 's'));
    } else {
      args.emplace_back(kWords[k - 1]);
      out += Cat("\t", i.guard, type == 's' ? "cvt.s32.s16 " : "cvt.u32.u16 ", kWords[k - 1], ", ",
                 operand, ";\n");
    }
  }
  const std::vector<std::string_view> views(args.begin(), args.end());
  if (const auto negated = Negated(op, views); negated.has_value()) {
    out += Negation(i.guard, args[0], *negated);
  } else {
    out += Cat("\t", i.guard, row.wide.empty() ? op : row.wide, ".", std::string(1, type), "32 ");
    for (size_t k = 0; k < args.size(); ++k) out += Cat(k == 0 ? "" : ", ", args[k]);
    out += ";\n";
  }
  if (row.shift > 0) {
    out += Cat("\t", i.guard, "shr.", std::string(1, type), "32 ", args[0], ", ", args[0], ", ",
               row.shift, ";\n");
  }
  if (row.narrow_result) out += Cat("\t", i.guard, "cvt.u16.u32 ", i.operands[0], ", %tg0;\n");
  return out + "\t}\n";
}

// Returns the sum, difference or product of halves with a rounding mode, or an empty text for other
// instructions: "mul.ftz.f16x2" becomes "mul.rn.ftz.f16x2".
std::string Rounded(const Instruction& i, std::string_view op, std::string_view type) {
  if (type != "f16" && type != "f16x2") return "";
  const std::string_view verb = op.substr(0, op.find('.'));
  if ((verb != "add" && verb != "sub" && verb != "mul") || op.find(".rn") != op.npos) return "";
  std::string out = Cat("\t", i.guard, verb, ".rn", op.substr(verb.size()), ".", type, " ");
  for (size_t k = 0; k < i.operands.size(); ++k) out += Cat(k == 0 ? "" : ", ", i.operands[k]);
  return out + ";\n";
}

// Returns the text that replaces an instruction, or an empty text to keep it. `three`: the function
// contains an op of kThreeOperands.
std::string Replacement(const Instruction& i, bool three, bool may_contract) {
  const size_t dot = i.name.rfind('.');
  if (dot == std::string_view::npos) return "";
  const std::string_view op = i.name.substr(0, dot), type = i.name.substr(dot + 1);
  if (type == "s32" && three) {
    const auto negated = Negated(op, i.operands);
    return negated.has_value() ? Negation(i.guard, i.operands[0], *negated) : "";
  }
  const auto& args = i.operands;
  if (i.name == "selp.f32" && args.size() == 4 &&
      ((args[1] == kMinusZero && args[2] == kMinusOne) ||
       (args[1] == kMinusOne && args[2] == kMinusZero))) {
    return Cat("\t", i.guard, "selp.b32 ", args[0], ", 0x", args[1].substr(2), ", 0x",
               args[2].substr(2), ", ", args[3], ";\n");
  }
  if (type != "s16" && type != "u16" && type != "b16") {
    return may_contract ? "" : Rounded(i, op, type);
  }
  const NarrowOp* row = FindNarrowOp(op, i.operands.size());
  return row == nullptr ? "" : Widened(i, op, type[0], *row);
}

// Calls line(text, function) for each line without its line break; `function` is the number of the
// enclosing function.
template <typename F>
void ForEachLine(std::string_view ptx, F line) {
  size_t function = 0;
  while (!ptx.empty()) {
    const size_t end = std::min(ptx.find('\n'), ptx.size());
    const std::string_view text = ptx.substr(0, end);
    const std::string_view words = Trimmed(text);
    if (words.starts_with('.') && (words.find(".entry") != std::string_view::npos ||
                                   words.find(".func") != std::string_view::npos)) {
      ++function;
    }
    line(text, function);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
}

}  // namespace

std::optional<std::string> RepairPtx(std::string_view ptx, bool may_contract) {
  // The driver's text may end with zero bytes.
  while (ptx.ends_with('\0')) ptx.remove_suffix(1);
  if (ptx.find('\0') != std::string_view::npos || ptx.find(".version") == std::string_view::npos) {
    return std::nullopt;
  }
  std::vector<bool> three;  // by function
  ForEachLine(ptx, [&](std::string_view line, size_t function) {
    three.resize(function + 1);
    for (const std::string_view name : kThreeOperands) {
      if (line.find(name) != std::string_view::npos) three[function] = true;
    }
  });
  const bool has_hopper = ptx.find(kInstructions) != std::string_view::npos;
  std::string out;
  bool changed = false;
  ForEachLine(ptx, [&](std::string_view line, size_t function) {
    std::string replacement = has_hopper ? WithHopper(line) : "";
    const std::optional<Instruction> i = replacement.empty() ? Parse(line) : std::nullopt;
    if (i) replacement = Replacement(*i, three[function], may_contract);
    changed = changed || !replacement.empty();
    out += replacement.empty() ? Cat(line, "\n") : replacement;
  });
  return changed ? std::optional<std::string>(std::move(out)) : std::nullopt;
}

}  // namespace tg::runtime
