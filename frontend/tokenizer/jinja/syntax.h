// The syntax tree of a template. Nodes are nested at most kMaxDepth deep, so that recursive walks
// are safe.
#ifndef TG_FRONTEND_TOKENIZER_JINJA_SYNTAX_H_
#define TG_FRONTEND_TOKENIZER_JINJA_SYNTAX_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tokenizer/jinja/value.h"

namespace tg::jinja {

inline constexpr int kMaxDepth = 100;

enum class ExpressionKind {
  kLiteral,      // value
  kName,         // text
  kList,         // operands
  kDict,         // operands: key, value, key, value, ...
  kAttribute,    // operands[0].text
  kItem,         // operands[0][operands[1]]
  kSlice,        // operands[0][operands[1]:operands[2]:operands[3]], each of the three may be null
  kCall,         // operands[0](the others, named)
  kSpread,       // *operands[0] or **operands[0] in a call, by text
  kFilter,       // operands[0] | text(the others, named)
  kTest,         // operands[0] is text(the others, named)
  kNot,          // not operands[0]
  kNegative,     // -operands[0]
  kPositive,     // +operands[0]
  kBinary,       // operands[0] text operands[1]
  kConcat,       // all operands as text, joined
  kCompare,      // operands[0] operators[0] operands[1] operators[1] operands[2] ...
  kAnd,          // operands[0] and operands[1]
  kOr,           // operands[0] or operands[1]
  kConditional,  // operands[1] if operands[0] else operands[2], which may be null
};

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Expression {
  ExpressionKind kind;
  size_t position = 0;  // in the template
  int depth = 1;
  std::string text;
  Value value;
  std::vector<ExpressionPtr> operands;
  std::vector<std::string> operators;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

enum class StatementKind {
  kText,      // text
  kOutput,    // {{ value }}
  kIf,        // branches, the last one perhaps without a condition
  kFor,       // for targets in value if condition: body, else_body
  kSet,       // set targets = value; a target "ns.x" has a dot
  kSetBlock,  // set targets[0] = what body writes, through the filters of value if there is one
  kMacro,     // macro text(targets): body; defaults belong to the last targets
  kFilter,    // writes what body writes through the filters of value
  kBreak,
  kContinue,
};

struct Statement;
using Body = std::vector<std::unique_ptr<const Statement>>;

struct Branch {
  ExpressionPtr condition;  // null: else
  Body body;
};

struct Statement {
  StatementKind kind;
  size_t position = 0;
  std::string text;
  std::vector<std::string> targets;
  ExpressionPtr value;
  ExpressionPtr condition;
  std::vector<ExpressionPtr> defaults;
  std::vector<Branch> branches;
  Body body;
  Body else_body;
};

// What the filters of a set or filter block apply to: a name that no template can write.
inline constexpr char kBlockText[] = " block";

}  // namespace tg::jinja

#endif  // TG_FRONTEND_TOKENIZER_JINJA_SYNTAX_H_
