// BodyParser: the statements between the braces of a graph or a kernel, one UOp a line:
//   %name = mnemonic operands {field = value, ...} : type
// What an op takes is read off the op table.
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

// Where a body names a symbol of the module for the first time. Whether it is declared is known at
// the end of the file.
struct SymbolUse {
  Op op;  // kBuffer, kVar, kKernel, kLoop
  std::string name;
  Location loc;
};

class BodyParser {
 public:
  // `where` is how messages call the body: "graph @main".
  BodyParser(Cursor& cursor, Body& body, Stage stage, std::string where, Location opened,
             std::vector<SymbolUse>& symbols);

  // Reads up to and with the closing brace. Errors are reported; the body is only of use without.
  void Parse();

 private:
  using Nodes = llvm::SmallVector<const UOp*, 8>;
  using Words = llvm::SmallVector<int64_t, 16>;
  // What a statement says, before its node is made.
  static constexpr size_t kMostFields = std::extent_v<decltype(OpInfo::fields)>;
  struct Statement {
    std::string_view name;
    Location name_loc, loc;
    Op op = Op::kNoop;
    bool broken = false;  // an operand has no node
    Nodes srcs;
    DType type;
    Words fields[kMostFields];
    Nodes symbolic;  // sources that stand for entries of the attribute
    bool given[kMostFields] = {};
    llvm::SmallVector<Token, 8> constants;  // wait for the type
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
  const size_t lines_;  // of the body
  std::string where_;
  Location opened_;
  Names names_;
  std::vector<SymbolUse>& symbols_;
  std::vector<bool> symbol_seen_[4];  // by StringId, for each op of SymbolUse
  NodeSet listed_;                    // linear: nodes with a line
  Statement statement_;
  uint32_t sink_line_ = 0;
};

}  // namespace tg::text

#endif  // TG_IR_TEXT_BODY_PARSER_H_
