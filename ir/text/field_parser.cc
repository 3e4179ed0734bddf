// BodyParser: the fields of a statement, `{name = value, ...}`.
#include <string>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/suggest.h"
#include "ir/text/body_parser.h"
#include "ir/text/foreign_ops.h"

namespace tg::text {
namespace {

// Whether the field is written elsewhere in the statement, not between the braces.
bool IsPositional(const AttrField& field) {
  return field.kind == FieldKind::kSym || field.kind == FieldKind::kValue ||
         field.kind == FieldKind::kTargets;
}

}  // namespace

bool BodyParser::ParseFields(Statement& s) {
  cursor_.Next();
  const OpInfo& info = GetOpInfo(s.op);
  return cursor_.List('}', [&] {
    const Token& t = cursor_.token();
    if (t.kind != TokenKind::kWord) return cursor_.Expected("a field's name");
    // Older texts of this format version have the field under its former name.
    const std::string_view renamed = RenamedField(s.op, t.text);
    const std::string_view name = renamed.empty() ? t.text : renamed;
    for (int i = 0; i < info.num_fields; ++i) {
      if (info.fields[i].name == name && !IsPositional(info.fields[i])) return ParseField(s, i);
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
  // A list is encoded as its length and its items.
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
      if (!op) return UnknownOp();
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

}  // namespace tg::text
