// ModuleParser: the lines outside of bodies: version, module, declarations, headers.
#ifndef TG_IR_TEXT_MODULE_PARSER_H_
#define TG_IR_TEXT_MODULE_PARSER_H_

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ir/text/body_parser.h"
#include "ir/text/cursor.h"
#include "ir/text/diagnostic.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tg::text {

class ModuleParser {
 public:
  ModuleParser(std::string_view text, std::string_view file_name, Diagnostics& diags);

  // Returns null after an error.
  std::unique_ptr<Module> Parse();

 private:
  bool ParseVersion();
  bool ParseModuleLine();
  bool ParseItem();
  bool ParseVar();
  bool ParseBuffer();
  bool ParseBufferValue(BufferDecl& decl);
  // extent_parser.cc
  bool ParseDeclShape(BufferDecl& decl);
  bool ParseRequirement();
  bool ParseExpr(DimExpr& expr);
  bool ParseTerms(std::vector<DimTerm>& terms);
  bool ParseGraph();
  bool ParseKernel();
  bool ParseKernelFields(Kernel& kernel);
  bool ParseAxis(Kernel& kernel);
  bool ParseDirective(Kernel& kernel);
  bool ParseStrings(std::vector<std::string>* out);
  bool ParseFlags();
  void SkipBody();

  // Parses `{name = value, ...}`: calls value(name token) for each field. `known` is for messages.
  template <typename F>
  bool Fields(std::string_view what, std::initializer_list<std::string_view> known, F value) {
    llvm::StringSet<> seen;
    return cursor_.List('}', [&] {
      std::string_view name;
      return ParseFieldName(what, {known.begin(), known.size()}, seen, &name) && value(name);
    });
  }
  bool ParseFieldName(std::string_view what, std::span<const std::string_view> known,
                      llvm::StringSet<>& seen, std::string_view* name);
  // Declares a symbol; `place` holds the symbols of its kind.
  bool Declare(llvm::StringMap<Location>& place, std::string* name, Location* loc);
  void CheckSymbols();

  Cursor cursor_;
  Diagnostics& diags_;
  std::unique_ptr<Module> module_;
  bool has_module_line_ = false;
  size_t nesting_ = 0;                // of the expression that ParseTerms parses
  llvm::StringMap<Location> data_;    // buffers and variables
  llvm::StringMap<Location> bodies_;  // graphs and kernels
  std::vector<SymbolUse> uses_;
};

}  // namespace tg::text

#endif  // TG_IR_TEXT_MODULE_PARSER_H_
