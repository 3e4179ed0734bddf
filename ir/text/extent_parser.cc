// Extents of declarations and requirements: expressions of variables.
#include <string>
#include <utility>

#include "ir/text/module_parser.h"

namespace tg::text {

bool ModuleParser::ParseTerms(std::vector<DimTerm>& terms) {
  if (terms.size() >= DimExpr::kMaxTerms) {
    return cursor_.Fail("an expression of more than " + std::to_string(DimExpr::kMaxTerms) +
                        " terms");
  }
  const Token t = cursor_.token();
  if (t.kind == TokenKind::kSymbol) {
    uses_.push_back({Op::kVar, std::string(t.text), cursor_.Loc()});
    terms.push_back({.op = Op::kVar, .value = 0, .var = std::string(t.text)});
    cursor_.Next();
    return true;
  }
  if (t.kind != TokenKind::kWord) {
    int64_t number = 0;
    if (!cursor_.Int(&number, "an extent (a number, @variable or expression of them)")) {
      return false;
    }
    terms.push_back({.op = Op::kConst, .value = number, .var = {}});
    return true;
  }
  const std::optional<Op> op = OpFromMnemonic(t.text);
  if (!op || !DimExpr::IsArithmetic(*op)) {
    return cursor_.Fail("'" + std::string(t.text) +
                        "' is no arithmetic of extents; add, sub, mul, floordiv, floormod, cdiv, "
                        "cmod, min and max are");
  }
  cursor_.Next();
  // Operands count while they are parsed, so that nesting is bounded by kMaxTerms.
  if (!cursor_.Expect('(', "before the operands")) return false;
  if (++nesting_ > DimExpr::kMaxTerms / 2) return cursor_.Fail("expressions nested too deeply");
  if (!ParseTerms(terms) || !cursor_.Expect(',', "between the operands") || !ParseTerms(terms) ||
      !cursor_.Expect(')', "after the operands")) {
    return false;
  }
  --nesting_;
  terms.push_back({.op = *op, .value = 0, .var = {}});
  return terms.size() <= DimExpr::kMaxTerms ||
         cursor_.Fail("an expression of more than " + std::to_string(DimExpr::kMaxTerms) +
                      " terms");
}

bool ModuleParser::ParseExpr(DimExpr& expr) {
  std::vector<DimTerm> terms;
  nesting_ = 0;
  if (!ParseTerms(terms)) return false;
  expr = DimExpr(std::move(terms));
  return true;
}

bool ModuleParser::ParseDeclShape(BufferDecl& decl) {
  if (!cursor_.Expect('[', "before the shape")) return false;
  return cursor_.List(']', [&] {
    DeclDim& dim = decl.shape.emplace_back();
    const Location loc = cursor_.Loc();
    DimExpr expr;
    if (!ParseExpr(expr)) return false;
    const DimTerm& first = expr.terms()[0];
    if (expr.terms().size() > 1) {
      dim.expr = std::move(expr);
    } else if (first.op == Op::kVar) {
      dim.var = first.var;
    } else if ((dim.size = first.value) < 0) {
      return cursor_.FailAt(loc, "an extent cannot be negative");
    }
    return true;
  });
}

bool ModuleParser::ParseRequirement() {
  cursor_.Next();
  Requirement r;
  r.loc = cursor_.Loc();
  const Token t = cursor_.token();
  r.is_equality = t.IsWord("eq");
  if (!r.is_equality && !t.IsWord("le")) return cursor_.Expected("eq or le (equal, at most)");
  cursor_.Next();
  if (!cursor_.Expect('(', "before the operands") || !ParseExpr(r.left) ||
      !cursor_.Expect(',', "between the operands") || !ParseExpr(r.right) ||
      !cursor_.Expect(')', "after the operands")) {
    return false;
  }
  if (cursor_.token().kind == TokenKind::kString && !cursor_.String(&r.what, "what needs it")) {
    return false;
  }
  module_->requirements.push_back(std::move(r));
  return cursor_.ExpectLineEnd("the requirement");
}

}  // namespace tg::text
