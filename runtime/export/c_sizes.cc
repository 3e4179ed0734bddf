#include "runtime/export/c_sizes.h"

#include <vector>

#include "base/status.h"
#include "codegen/c/renderer.h"

namespace tg::runtime {

std::string CInt64(int64_t v) { return v == INT64_MIN ? "INT64_MIN" : Cat(v, "LL"); }

namespace {

// A step on operands that are names or literals; empty for an op that launches do not compute.
std::string StepText(const codegen::SizeExpr::Step& s, const std::vector<std::string>& text) {
  const auto in = [&](size_t i) { return text[s.operands[i]]; };
  const auto both = [&](std::string_view op) { return Cat(in(0), " ", op, " ", in(1)); };
  switch (s.op) {
    case Op::kAdd:
      return both("+");
    case Op::kSub:
      return both("-");
    case Op::kMul:
      return both("*");
    case Op::kCDiv:
      return both("/");
    case Op::kCMod:
      return both("%");
    case Op::kFloorDiv:
      return Cat(both("/"), " - (", both("%"), " != 0 && (", both("^"), ") < 0)");
    case Op::kFloorMod:
      return Cat(both("%"), " + (", both("%"), " != 0 && (", both("^"), ") < 0 ? ", in(1), " : 0)");
    case Op::kAnd:
      return both("&");
    case Op::kOr:
      return both("|");
    case Op::kXor:
      return both("^");
    case Op::kShl:
      return both("<<");
    case Op::kShr:
      return both(">>");
    case Op::kCmpLt:
      return both("<");
    case Op::kCmpNe:
      return both("!=");
    case Op::kNeg:
      return Cat("-", in(0));
    case Op::kMax:
      return Cat(in(0), " < ", in(1), " ? ", in(1), " : ", in(0));
    case Op::kMin:
      return Cat(in(1), " < ", in(0), " ? ", in(1), " : ", in(0));
    case Op::kWhere:
      return Cat(in(0), " ? ", in(1), " : ", in(2));
    case Op::kCast:
      if (s.type == Scalar::kBool) return Cat(in(0), " != 0");
      return Cat("(", c::ElementType(s.type), ")", in(0));
    default:
      return "";
  }
}

}  // namespace

absl::StatusOr<std::string> CSize(const codegen::SizeExpr& size,
                                  const std::map<std::string, std::string>& vars,
                                  std::string_view prefix, std::string& lines) {
  std::vector<std::string> text;
  for (const codegen::SizeExpr::Step& s : size.steps()) {
    if (s.op == Op::kConst) {
      text.push_back(s.value < 0 ? Cat("(", CInt64(s.value), ")") : CInt64(s.value));
      continue;
    }
    if (s.op == Op::kVar) {
      text.push_back(vars.at(s.var));
      continue;
    }
    const std::string e = StepText(s, text);
    if (e.empty()) return Unimplemented("a size depends on ", Mnemonic(s.op));
    if (IsFloat(s.type) || IsFloat(s.operand_type)) {
      return Unimplemented("a size depends on a float");
    }
    const std::string name = Cat(prefix, text.size());
    lines += Cat("    const int64_t ", name, " = ", e, ";\n");
    text.push_back(name);
  }
  return text.back();
}

absl::StatusOr<std::string> CBroken(const Module& module, const Requirement& requirement,
                                    const std::map<std::string, std::string>& vars,
                                    std::string_view prefix, std::string& lines) {
  Context context;
  std::string sides[2];
  for (const bool right : {false, true}) {
    const DimExpr& e = right ? requirement.right : requirement.left;
    const auto range = e.Bounds([&](std::string_view name) -> std::optional<DimExpr::Range> {
      const VarDecl* var = module.FindVar(name);
      if (var == nullptr) return std::nullopt;
      return DimExpr::Range(var->min, var->max);
    });
    if (!range) return Unimplemented("64 bits may not hold ", e.Text());
    TG_ASSIGN_OR_RETURN(const codegen::SizeExpr size,
                        codegen::SizeExpr::From(e.Node(context), context));
    TG_ASSIGN_OR_RETURN(sides[right], CSize(size, vars, Cat(prefix, right ? "r" : "l"), lines));
  }
  return Cat(sides[0], requirement.is_equality ? " != " : " > ", sides[1]);
}

}  // namespace tg::runtime
