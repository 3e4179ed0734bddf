#include "ir/text/body_parser.h"

#include <algorithm>
#include <climits>
#include <vector>

#include "base/cat.h"
#include "ir/text/constant.h"
#include "ir/text/foreign_ops.h"

namespace tg::text {
namespace {

bool HasPositionalSymbol(const OpInfo& info) {
  return info.num_fields && info.fields[0].kind == FieldKind::kSym;
}

std::string Operands(size_t n) { return std::to_string(n) + (n == 1 ? " operand" : " operands"); }

}  // namespace

BodyParser::BodyParser(Cursor& cursor, Body& body, Stage stage, std::string where, Location opened,
                       std::vector<SymbolUse>& symbols)
    : cursor_(cursor),
      body_(body),
      ctx_(*body.context),
      stage_(stage),
      lines_(cursor.lexer().CountBodyLines()),
      where_(std::move(where)),
      opened_(opened),
      names_(ctx_, lines_),
      symbols_(symbols) {
  ctx_.Reserve(lines_);
}

bool BodyParser::LooksLikeNextBody() {
  // `kernel` is also an op, but the line of its statement does not end in '{'.
  return cursor_.token().IsWord("graph") ||
         (cursor_.token().IsWord("kernel") && cursor_.lexer().LineEndsWith('{'));
}

void BodyParser::Parse() {
  bool torn = false;  // the file ends inside a statement
  for (;;) {
    cursor_.SkipBlankLines();
    const Token& t = cursor_.token();
    if (t.Is('}')) break;
    if (t.kind == TokenKind::kEnd || LooksLikeNextBody()) {
      // A truncated line has already reported that the file ends here.
      if (!torn) {
        cursor_.Expected("'}' to end " + where_ + ", which begins in line " +
                         std::to_string(opened_.line));
      }
      names_.Finish(cursor_);
      return;
    }
    if (!ParseStatement()) {
      torn = cursor_.token().kind == TokenKind::kEnd;
      SetSlot(statement_, nullptr);
      if (statement_.op == Op::kSink) sink_line_ = statement_.loc.line;
      cursor_.lexer().SkipLine();
    }
  }
  if (!sink_line_) {
    cursor_.Fail(where_ + " has no sink; its last statement must be 'sink' of what it computes");
  }
  cursor_.Next();
  names_.Finish(cursor_);
}

bool BodyParser::ParseStatement() {
  Statement& s = statement_;
  s.name = {};
  s.op = Op::kNoop;
  s.broken = false;
  s.type = DType();
  std::ranges::fill(s.given, false);
  s.srcs.clear();
  s.symbolic.clear();
  s.constants.clear();
  if (cursor_.token().kind == TokenKind::kName) {
    s.name_loc = cursor_.Loc();
    s.name = cursor_.Take().text;
    if (!cursor_.Accept('=')) {
      return cursor_.Expected("'=' after '%" + std::string(s.name) + "'");
    }
  }
  s.loc = cursor_.Loc();
  if (cursor_.token().kind != TokenKind::kWord) {
    return cursor_.Expected(s.name.empty() ? "a statement ('%name = op ...' or 'op ...')"
                                           : "an op");
  }
  const auto op = OpFromMnemonic(cursor_.token().text);
  if (!op) {
    return UnknownOp();
  }
  cursor_.Next();
  s.op = *op;
  const OpInfo& info = GetOpInfo(s.op);
  for (int i = 0; i < info.num_fields; ++i) s.fields[i].clear();
  if (!ParseOperands(s)) return false;
  if (cursor_.token().Is('{') && !ParseFields(s)) return false;
  if (!ParseType(s)) return false;
  if (!CheckComplete(s) || !ConvertConstants(s)) return false;
  if (!cursor_.token().EndsLine()) {
    return cursor_.Expected("the end of the line after " + Quote(info.mnemonic));
  }
  Define(s);
  return true;
}

bool BodyParser::UnknownOp() {
  const std::string_view word = cursor_.token().text;
  const bool guess = !cursor_.diags().full();
  return cursor_.Fail("unknown op " + Quote(word) + (guess ? GuessOp(word) : std::string()));
}

bool BodyParser::ParseOperand(Nodes& out) {
  if (cursor_.token().kind != TokenKind::kName) return cursor_.Expected("an operand (%name)");
  const UOp* u = names_.Use(cursor_.token().text, cursor_.Loc(), statement_.name);
  if (u) {
    out.push_back(u);
  } else {
    statement_.broken = true;
    // The operand has no node. Its place is kept, so that the number of operands is still checked.
    out.push_back(nullptr);
  }
  cursor_.Next();
  return true;
}

bool BodyParser::ParseOperands(Statement& s) {
  const OpInfo& info = GetOpInfo(s.op);
  if (s.op == Op::kSink) return ParseSink(s);
  if (info.num_fields && info.fields[0].kind == FieldKind::kValue) {
    s.given[0] = true;
    s.constants.emplace_back();
    if (!cursor_.Constant(&s.constants.back())) return false;
  }
  if (HasPositionalSymbol(info)) {
    s.given[0] = true;
    if (!ParseSymbol(s.fields[0])) return false;
    if (!cursor_.Accept('(')) return true;
    return cursor_.List(')', [&] { return ParseOperand(s.srcs); });
  }
  if (cursor_.token().kind != TokenKind::kName) return true;
  do {
    if (!ParseOperand(s.srcs)) return false;
  } while (cursor_.Accept(','));
  return true;
}

bool BodyParser::ParseSink(Statement& s) {
  s.given[0] = true;
  bool any = false;
  Words& words = s.fields[0];
  words.push_back(0);
  if (cursor_.token().kind == TokenKind::kName) {
    do {
      if (!ParseOperand(s.srcs)) return false;
      if (cursor_.token().kind == TokenKind::kArrow) {
        cursor_.Next();
        any = true;
        if (!ParseSymbol(words)) return false;
      } else {
        words.push_back(0);
      }
    } while (cursor_.Accept(','));
  }
  if (!any) words.resize(1);
  words[0] = static_cast<int64_t>(words.size()) - 1;
  return true;
}

bool BodyParser::ParseSymbol(Words& words) {
  if (cursor_.token().kind != TokenKind::kSymbol) return cursor_.Expected("a symbol (@name)");
  const StringId id = ctx_.Intern(cursor_.token().text);
  words.push_back(id);
  const Op op = statement_.op == Op::kSink ? Op::kBuffer : statement_.op;
  const int kind = op == Op::kBuffer ? 0 : op == Op::kVar ? 1 : op == Op::kKernel ? 2 : 3;
  std::vector<bool>& seen = symbol_seen_[kind];
  if (id >= seen.size()) seen.resize(id + 1 + seen.size() / 2);
  if (!seen[id]) {
    seen[id] = true;
    symbols_.push_back({op, std::string(cursor_.token().text), cursor_.Loc()});
  }
  cursor_.Next();
  return true;
}

bool BodyParser::ParseType(Statement& s) {
  if (cursor_.Accept(':')) return cursor_.Type(&s.type);
  const OpInfo& info = GetOpInfo(s.op);
  if (info.type_rule == TypeRule::kVoid || s.op == Op::kNoop) return true;
  if (cursor_.token().EndsLine()) {
    return cursor_.Expected("':' and the type of " + Quote(info.mnemonic));
  }
  // The line does not end here, so the missing type may not be its first error: the message lists
  // everything that may follow.
  std::string what;
  if (info.max_sources > 0) what = s.srcs.empty() ? "an operand (%name), " : "',', ";
  if (info.num_fields && !s.given[info.num_fields - 1]) what += "'{', ";
  if (!what.empty()) what.replace(what.size() - 2, 2, " or ");
  return cursor_.Expected(what + "':' and the type of " + Quote(info.mnemonic));
}

bool BodyParser::CheckComplete(const Statement& s) {
  const OpInfo& info = GetOpInfo(s.op);
  for (int i = 0; i < info.num_fields; ++i) {
    if (!s.given[i] && !info.fields[i].optional) {
      return cursor_.FailAt(
          s.loc, Quote(info.mnemonic) + " needs the field " + Quote(info.fields[i].name));
    }
  }
  const size_t n = s.srcs.size();
  if (n >= static_cast<size_t>(info.min_sources) && n <= static_cast<size_t>(info.max_sources)) {
    return true;
  }
  std::string wanted = Operands(static_cast<size_t>(info.min_sources));
  if (info.max_sources == INT_MAX) {
    wanted = "at least " + wanted;
  } else if (info.max_sources != info.min_sources) {
    wanted =
        std::to_string(info.min_sources) + " to " + Operands(static_cast<size_t>(info.max_sources));
  }
  return cursor_.FailAt(s.loc,
                        Quote(info.mnemonic) + " takes " + wanted + ", not " + std::to_string(n));
}

bool BodyParser::ConvertConstants(Statement& s) {
  if (s.constants.empty()) return true;
  const OpInfo& info = GetOpInfo(s.op);
  if (!s.type.is_value()) {
    return cursor_.FailAt(s.loc, Quote(info.mnemonic) + " cannot have type " + s.type.ToString());
  }
  Words& words = s.fields[0];
  for (const Token& t : s.constants) {
    std::string error;
    int64_t bits = 0;
    if (!ParseConstant(s.type.scalar(), t.text, &bits, &error)) {
      return cursor_.FailAt(cursor_.lexer().Loc(t), error);
    }
    words.push_back(bits);
  }
  return true;
}

// Records the line that defines the statement's name.
void BodyParser::SetSlot(const Statement& s, const UOp* node) {
  if (s.name.empty()) return;
  Names::Slot& slot = names_.At(s.name);
  if (slot.line) {
    cursor_.FailAt(s.name_loc, "'%" + std::string(s.name) + "' is already defined in line " +
                                   std::to_string(slot.line));
    return;
  }
  slot = {node, s.name_loc.line};
}

void BodyParser::Define(Statement& s) {
  const OpInfo& info = GetOpInfo(s.op);
  if (sink_line_) {
    cursor_.FailAt(s.loc, s.op == Op::kSink
                              ? "a second sink; the first is in line " + std::to_string(sink_line_)
                              : "a statement after the sink in line " + std::to_string(sink_line_));
  }
  if (s.op == Op::kSink) sink_line_ = s.loc.line;
  if (s.broken) return SetSlot(s, nullptr);
  Attr attr;
  if (info.num_fields) {
    Words& words = s.fields[0];
    // Fills in the default of an optional field that is absent.
    if (!s.given[0]) words.push_back(0);
    for (int i = 1; i < info.num_fields; ++i) {
      if (!s.given[i]) s.fields[i].push_back(0);
      words.append(s.fields[i].begin(), s.fields[i].end());
    }
    attr = ctx_.MakeAttr(s.op, std::span<const int64_t>(words.data(), words.size()));
  }
  s.srcs.append(s.symbolic.begin(), s.symbolic.end());
  const UOp* u = ctx_.Make(s.op, s.type, UOpSpan(s.srcs.data(), s.srcs.size()), attr);
  if (!body_.side.loc(u).line) body_.side.SetLoc(u, s.loc);
  if (!s.name.empty()) {
    SetSlot(s, u);
    if (s.name[0] > '9' && !body_.side.name(u)) body_.side.SetName(u, ctx_.Intern(s.name));
  }
  if (s.op == Op::kSink) body_.root = u;
  if (stage_ != Stage::kLinear) return;
  if (listed_.Insert(u)) {
    body_.linear.push_back(u);
  } else if (YieldsToken(s.op)) {
    cursor_.FailAt(s.loc, "the same " + Quote(info.mnemonic) + " of the same sources is in line " +
                              std::to_string(body_.side.loc(u).line) +
                              "; two effects must differ in a source");
  }
}

}  // namespace tg::text
