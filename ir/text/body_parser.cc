#include "ir/text/body_parser.h"

#include <algorithm>
#include <climits>
#include <vector>

#include "ir/text/constant.h"

namespace tg::text {
namespace {

std::vector<std::string_view> AllMnemonics() {
  std::vector<std::string_view> out;
  for (int i = 0; i < kNumOps; ++i) out.push_back(Mnemonic(static_cast<Op>(i)));
  return out;
}

bool HasPositionalSymbol(const OpInfo& info) {
  return info.num_fields && info.fields[0].kind == FieldKind::kSym;
}
bool IsPositional(const AttrField& field) {
  return field.kind == FieldKind::kSym || field.kind == FieldKind::kValue ||
         field.kind == FieldKind::kTargets;
}

std::string Quote(std::string_view s) { return "'" + std::string(s) + "'"; }

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
  // `graph` is no op; `kernel @k : stage {` is a header where a statement could have `kernel @k(`.
  return cursor_.token().IsWord("graph") ||
         (cursor_.token().IsWord("kernel") && stage_ != Stage::kTensor);
}

void BodyParser::Parse() {
  for (;;) {
    cursor_.SkipBlankLines();
    const Token& t = cursor_.token();
    if (t.Is('}')) break;
    if (t.kind == TokenKind::kEnd || LooksLikeNextBody()) {
      cursor_.Expected("'}' to end " + where_ + ", which begins in line " +
                       std::to_string(opened_.line));
      names_.Finish(cursor_);
      return;
    }
    if (cursor_.diags().full()) return;
    if (!ParseStatement()) {
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
  s.given[0] = s.given[1] = false;
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
    const std::string_view word = cursor_.token().text;
    return cursor_.Fail("unknown op " + Quote(word) + DidYouMean(word, AllMnemonics()));
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

bool BodyParser::ParseOperand(Nodes& out) {
  if (cursor_.token().kind != TokenKind::kName) return cursor_.Expected("an operand (%name)");
  const UOp* u = names_.Use(cursor_.token().text, cursor_.Loc(), statement_.name);
  if (u) {
    out.push_back(u);
  } else {
    statement_.broken = true;
    // Keeps the count right, for the check of the arity.
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

bool BodyParser::ParseFields(Statement& s) {
  cursor_.Next();
  const OpInfo& info = GetOpInfo(s.op);
  return cursor_.List('}', [&] {
    const Token& t = cursor_.token();
    if (t.kind != TokenKind::kWord) return cursor_.Expected("a field's name");
    for (int i = 0; i < info.num_fields; ++i) {
      if (info.fields[i].name == t.text && !IsPositional(info.fields[i])) return ParseField(s, i);
    }
    std::vector<std::string_view> fields;
    std::string known;
    for (int i = 0; i < info.num_fields; ++i) {
      if (IsPositional(info.fields[i])) continue;
      fields.push_back(info.fields[i].name);
      known += (known.empty() ? "" : " and ") + Quote(info.fields[i].name);
    }
    std::string hint = DidYouMean(t.text, fields);
    if (hint.empty()) hint = known.empty() ? "; it has none" : "; it has " + known;
    return cursor_.Fail(Quote(info.mnemonic) + " has no field " + Quote(t.text) + hint);
  });
}

bool BodyParser::ParseField(Statement& s, int index) {
  const AttrField& field = GetOpInfo(s.op).fields[index];
  if (s.given[index]) return cursor_.Fail("field " + Quote(field.name) + " is given twice");
  s.given[index] = true;
  cursor_.Next();
  if (!cursor_.Expect('=', "after the field's name")) return false;
  return ParseValue(field, s.fields[index], s);
}

bool BodyParser::ParseDim(Words& words, Statement& s) {
  if (cursor_.token().kind == TokenKind::kName) {
    words.push_back(kSymbolic);
    return ParseOperand(s.symbolic);
  }
  int64_t v = 0;
  const Location loc = cursor_.Loc();
  if (!cursor_.Int(&v, "a number or a %name")) return false;
  if (v == kSymbolic) return cursor_.FailAt(loc, "this number is reserved");
  words.push_back(v);
  return true;
}

bool BodyParser::ParseValue(const AttrField& field, Words& words, Statement& s) {
  const std::string what = "the value of " + Quote(field.name);
  // A list: its length, then its items.
  const auto list = [&](auto item) {
    if (!cursor_.Expect('[', "to begin " + what)) return false;
    words.push_back(0);
    int64_t n = 0;
    if (!cursor_.List(']', [&] { return ++n, item(); })) return false;
    words[0] = n;
    return true;
  };
  const auto number = [&] {
    words.push_back(0);
    return cursor_.Int(&words.back(), "an integer");
  };
  const auto boolean = [&] {
    bool v = false;
    if (!cursor_.Bool(&v)) return false;
    words.push_back(v);
    return true;
  };
  switch (field.kind) {
    case FieldKind::kInt:
      return number();
    case FieldKind::kBool:
      return boolean();
    case FieldKind::kStr: {
      std::string text;
      if (!cursor_.String(&text, "a string")) return false;
      words.push_back(ctx_.Intern(text));
      return true;
    }
    case FieldKind::kOp: {
      const Token& t = cursor_.token();
      const auto op = t.kind == TokenKind::kWord ? OpFromMnemonic(t.text) : std::nullopt;
      if (t.kind != TokenKind::kWord) return cursor_.Expected("an op");
      if (!op) {
        return cursor_.Fail("unknown op " + Quote(t.text) + DidYouMean(t.text, AllMnemonics()));
      }
      words.push_back(static_cast<int64_t>(*op));
      cursor_.Next();
      return true;
    }
    case FieldKind::kSpecial: {
      const auto name = SpecialFromText(cursor_.token().text);
      if (!name) return cursor_.Expected("grid0, grid1, grid2, local0, local1 or local2");
      words.push_back(static_cast<int64_t>(*name));
      cursor_.Next();
      return true;
    }
    case FieldKind::kValues:
      return list([&] {
        s.constants.emplace_back();
        return cursor_.Constant(&s.constants.back());
      });
    case FieldKind::kInts:
      return list(number);
    case FieldKind::kBools:
      return list(boolean);
    case FieldKind::kDims:
      return list([&] { return ParseDim(words, s); });
    case FieldKind::kPairs:
      return list([&] {
        return cursor_.Expect('(', "to begin a pair") && ParseDim(words, s) &&
               cursor_.Expect(',', "in a pair") && ParseDim(words, s) &&
               cursor_.Expect(')', "to end a pair");
      });
    case FieldKind::kViews:
      return ParseViews(words, s);
    case FieldKind::kSym:
    case FieldKind::kValue:
    case FieldKind::kTargets:
      break;
  }
  return false;
}

bool BodyParser::ParseViews(Words& words, Statement& s) {
  if (!cursor_.Expect('[', "to begin a list of views")) return false;
  words.push_back(0);
  if (!cursor_.List(']', [&] { return ParseView(words, s); })) return false;
  words[0] = static_cast<int64_t>(words.size()) - 1;
  return true;
}

// view(shape = [..], strides = [..], offset = n), and optionally mask = [(a, b), ...].
bool BodyParser::ParseView(Words& words, Statement& s) {
  const auto expect_word = [&](std::string_view word) {
    if (!cursor_.token().IsWord(word)) return cursor_.Expected(Quote(word));
    cursor_.Next();
    return true;
  };
  const auto field = [&](std::string_view name) {
    return expect_word(name) && cursor_.Expect('=', "after '" + std::string(name) + "'");
  };
  size_t rank = 0;
  const auto dims = [&](std::string_view name) {
    if (!field(name) || !cursor_.Expect('[', "to begin a list")) return false;
    rank = 0;
    return cursor_.List(']', [&] { return ++rank, ParseDim(words, s); });
  };
  if (!expect_word("view") || !cursor_.Expect('(', "after 'view'")) return false;
  const size_t start = words.size();
  words.push_back(0);
  if (!dims("shape") || !cursor_.Expect(',', "before 'strides'")) return false;
  const size_t shape_rank = rank;
  words[start] = static_cast<int64_t>(rank);
  const auto check_rank = [&](std::string_view name) {
    return rank == shape_rank ||
           cursor_.Fail("the view's shape has " + std::to_string(shape_rank) + " axes, its " +
                        std::string(name) + " " + std::to_string(rank));
  };
  if (!dims("strides") || !check_rank("strides")) return false;
  if (!cursor_.Expect(',', "before 'offset'") || !field("offset") || !ParseDim(words, s)) {
    return false;
  }
  if (!cursor_.Accept(',')) {
    words.push_back(0);
    return cursor_.Expect(')', "to end the view");
  }
  words.push_back(1);
  if (!field("mask") || !cursor_.Expect('[', "to begin the mask")) return false;
  rank = 0;
  const bool ok = cursor_.List(']', [&] {
    ++rank;
    return cursor_.Expect('(', "to begin a pair") && ParseDim(words, s) &&
           cursor_.Expect(',', "in a pair") && ParseDim(words, s) &&
           cursor_.Expect(')', "to end a pair");
  });
  return ok && check_rank("mask") && cursor_.Expect(')', "to end the view");
}

bool BodyParser::ParseType(Statement& s) {
  if (cursor_.Accept(':')) return cursor_.Type(&s.type);
  const OpInfo& info = GetOpInfo(s.op);
  if (info.type_rule == TypeRule::kVoid || s.op == Op::kNoop) return true;
  if (cursor_.token().EndsLine()) {
    return cursor_.Expected("':' and the type of " + Quote(info.mnemonic));
  }
  // Something else is wrong with the line.
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
      return cursor_.FailAt(s.loc, Quote(info.mnemonic) + " needs the field " +
                                       Quote(info.fields[i].name));
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
    wanted = std::to_string(info.min_sources) + " to " +
             Operands(static_cast<size_t>(info.max_sources));
  }
  return cursor_.FailAt(
      s.loc, Quote(info.mnemonic) + " takes " + wanted + ", not " + std::to_string(n));
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

// Notes which line defines the statement's name.
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
    // What an optional field is when it is not there.
    if (!s.given[0]) words.push_back(0);
    if (info.num_fields > 1) {
      if (!s.given[1]) s.fields[1].push_back(0);
      words.append(s.fields[1].begin(), s.fields[1].end());
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
