// BodyParser: the statements between the braces of a graph or a kernel, one UOp a line:
//   %name = mnemonic operands {field = value, ...} : type
// The op table defines the operands and fields of each op.
#ifndef TG_IR_TEXT_BODY_PARSER_H_
#define TG_IR_TEXT_BODY_PARSER_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/module.h"
#include "ir/text/cursor.h"
#include "ir/text/names.h"
#include "ir/walk.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::text {

// The first use of a module's symbol in a body. Whether the symbol is declared is known only at the
// end of the file.
struct SymbolUse {
  Op op;  // kBuffer, kVar, kKernel, kLoop
  std::string name;
  Location loc;
};

class BodyParser {
 public:
  // `where` names the body in messages: "graph @main".
  BodyParser(Cursor& cursor, Body& body, Stage stage, std::string where, Location opened,
             std::vector<SymbolUse>& symbols);

  // Reads up to and including the closing brace. Reports errors; after an error the body is not
  // usable.
  void Parse();

 private:
  using Nodes = llvm::SmallVector<const UOp*, 8>;
  using Words = llvm::SmallVector<int64_t, 16>;
  // The parts of a statement, before its node is made.
  static constexpr size_t kMaxFields = std::extent_v<decltype(OpInfo::fields)>;
  struct Statement {
    std::string_view name;
    Location name_loc, loc;
    Op op = Op::kNoop;
    bool broken = false;  // an operand has no node
    Nodes srcs;
    DType type;
    Words fields[kMaxFields];
    Nodes symbolic;  // sources that are entries of the attribute
    bool given[kMaxFields] = {};
    llvm::SmallVector<Token, 8> constants;  // parsed once the type is known
  };

  bool ParseStatement();
  bool UnknownOp();
  bool ParseOperands(Statement& s);
  bool ParseOperand(Nodes& out);
  bool ParseSink(Statement& s);
  bool ParseFields(Statement& s);
  bool ParseField(Statement& s, int index);
  bool ParseValue(const AttrField& field, Words& words, Statement& s);
  bool ParseDim(Words& words, Statement& s);
  bool ParseViews(Words& words, Statement& s);
  bool ParseView(Words& words, Statement& s);
  bool ParseSymbol(Words& words);
  bool ParseType(Statement& s);
  bool ConvertConstants(Statement& s);
  bool CheckComplete(const Statement& s);
  void Define(Statement& s);
  void SetSlot(const Statement& s, const UOp* node);
  bool LooksLikeNextBody();

  Cursor& cursor_;
  Body& body_;
  Context& ctx_;
  const Stage stage_;
  const size_t lines_;  // number of lines of the body
  std::string where_;
  Location opened_;
  Names names_;
  std::vector<SymbolUse>& symbols_;
  std::vector<bool> symbol_seen_[4];  // by StringId, for each op of SymbolUse
  NodeSet listed_;                    // linear stage: nodes with a line
  Statement statement_;
  uint32_t sink_line_ = 0;
};

}  // namespace tg::text

#endif  // TG_IR_TEXT_BODY_PARSER_H_
