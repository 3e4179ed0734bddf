#include "ir/text/module_parser.h"

#include <algorithm>
#include <cstdint>

#include "base/cat.h"
#include "base/suggest.h"
#include "ir/text/constant.h"

namespace tg::text {
namespace {

llvm::StringRef Ref(std::string_view s) { return {s.data(), s.size()}; }

constexpr std::string_view kItems[] = {"module", "var", "buffer", "require", "graph", "kernel"};

}  // namespace

ModuleParser::ModuleParser(std::string_view text, std::string_view file_name, Diagnostics& diags)
    : cursor_(text, diags), diags_(diags), module_(std::make_unique<Module>()) {
  module_->path = file_name;
}

std::unique_ptr<Module> ModuleParser::Parse() {
  const size_t errors_before = diags_.num_errors();
  if (!ParseVersion()) return nullptr;
  for (;;) {
    cursor_.SkipBlankLines();
    if (cursor_.token().kind == TokenKind::kEnd) break;
    if (!ParseItem()) {
      cursor_.lexer().SkipLine();
    }
  }
  if (!has_module_line_ && diags_.num_errors() == errors_before) {
    cursor_.Fail("the file ends without 'module @name'");
  }
  CheckSymbols();
  if (diags_.num_errors() != errors_before) {
    diags_.SortFrom(errors_before);
    return nullptr;
  }
  return std::move(module_);
}

bool ModuleParser::ParseVersion() {
  cursor_.SkipBlankLines();
  if (!cursor_.token().IsWord("tg")) {
    return cursor_.Expected("'tg " + std::to_string(kFormatVersion) +
                            "' as the first line (the version of the format)");
  }
  cursor_.Next();
  const Location loc = cursor_.Loc();
  int64_t version = 0;
  if (!cursor_.Int(&version, "the number of the format's version")) return false;
  if (version == kFormatVersion) return cursor_.ExpectLineEnd("the version");
  const std::string ours = "version " + std::to_string(kFormatVersion);
  if (version > kFormatVersion) {
    return cursor_.FailAt(loc, "the file has format version " + std::to_string(version) +
                                   ", this tg reads " + ours + ": a newer tg is needed");
  }
  return cursor_.FailAt(
      loc, "there is no format version " + std::to_string(version) + "; this tg reads " + ours);
}

bool ModuleParser::ParseItem() {
  const Token& t = cursor_.token();
  if (t.IsWord("module")) return ParseModuleLine();
  if (t.kind == TokenKind::kWord && !has_module_line_) {
    has_module_line_ = true;  // the module line may occur once
    cursor_.Expected("'module @name'");
  }
  if (t.IsWord("var")) return ParseVar();
  if (t.IsWord("buffer")) return ParseBuffer();
  if (t.IsWord("require")) return ParseRequirement();
  if (t.IsWord("graph")) return ParseGraph();
  if (t.IsWord("kernel")) return ParseKernel();
  std::string hint;
  if (t.kind == TokenKind::kWord) hint = DidYouMean(t.text, kItems);
  return cursor_.Fail("expected module, var, buffer, require, graph or kernel, found " +
                      Describe(t) + hint);
}

bool ModuleParser::Declare(llvm::StringMap<Location>& place, std::string* name, Location* loc) {
  if (cursor_.token().kind != TokenKind::kSymbol) return cursor_.Expected("a name (@name)");
  *loc = cursor_.Loc();
  *name = cursor_.Take().text;
  const auto [it, is_new] = place.try_emplace(*name, *loc);
  if (is_new) return true;
  cursor_.FailAt(*loc,
                 "'@" + *name + "' is already declared in line " + std::to_string(it->second.line));
  return true;  // the rest of the line is valid
}

bool ModuleParser::ParseFieldName(std::string_view what, std::span<const std::string_view> known,
                                  llvm::StringSet<>& seen, std::string_view* name) {
  const Token t = cursor_.token();
  if (t.kind != TokenKind::kWord) return cursor_.Expected("a field's name");
  // Older texts of this format version call a kernel's schedule `opts`.
  const std::string_view field = t.text == "opts" ? "schedule" : t.text;
  if (std::find(known.begin(), known.end(), field) == known.end()) {
    std::string hint = DidYouMean(t.text, known);
    if (hint.empty()) {
      for (std::string_view k : known) hint += (hint.empty() ? "; it has " : ", ") + std::string(k);
    }
    return cursor_.Fail(std::string(what) + " has no field " + Quote(t.text) + hint);
  }
  if (!seen.insert(Ref(field)).second) {
    return cursor_.Fail("field " + Quote(t.text) + " is given twice");
  }
  *name = field;
  cursor_.Next();
  return cursor_.Expect('=', "after the field's name");
}

bool ModuleParser::ParseStrings(std::vector<std::string>* out) {
  if (!cursor_.Expect('[', "to begin a list of strings")) return false;
  return cursor_.List(']', [&] { return cursor_.String(&out->emplace_back(), "a string"); });
}

bool ModuleParser::ParseFlags() {
  if (!cursor_.Expect('[', "to begin a list of strings")) return false;
  return cursor_.List(']', [&] {
    const Location loc = cursor_.Loc();
    std::string text;
    if (!cursor_.String(&text, "a string")) return false;
    if (!module_->flags.Add(text)) {
      std::vector<std::string_view> known;
      for (const ModuleFlagInfo& f : kModuleFlags) known.push_back(f.text);
      cursor_.FailAt(loc, "there is no module flag " + Quote(text) + DidYouMean(text, known));
    }
    return true;
  });
}

bool ModuleParser::ParseModuleLine() {
  if (has_module_line_) return cursor_.Fail("a second 'module' line");
  has_module_line_ = true;
  cursor_.Next();
  if (cursor_.token().kind != TokenKind::kSymbol) return cursor_.Expected("a name (@name)");
  module_->name = cursor_.Take().text;
  if (cursor_.Accept('{')) {
    const bool ok = Fields("a module", {"target", "flags"}, [&](std::string_view field) {
      if (field == "target") return cursor_.String(&module_->target, "a string");
      return ParseFlags();
    });
    if (!ok) return false;
  }
  return cursor_.ExpectLineEnd("the module's name");
}

bool ModuleParser::ParseVar() {
  cursor_.Next();
  VarDecl decl;
  if (!Declare(data_, &decl.name, &decl.loc)) return false;
  if (!cursor_.Expect(':', "after the name") || !cursor_.Expect('[', "before the bounds") ||
      !cursor_.Int(&decl.min, "the least value") || !cursor_.Expect(',', "between the bounds") ||
      !cursor_.Int(&decl.max, "the greatest value") || !cursor_.Expect(']', "after the bounds")) {
    return false;
  }
  module_->vars.push_back(std::move(decl));
  return cursor_.ExpectLineEnd("the bounds");
}

bool ModuleParser::ParseBufferValue(BufferDecl& decl) {
  if (cursor_.token().IsWord("file")) {
    cursor_.Next();
    if (!cursor_.Expect('(', "after 'file'") || !cursor_.String(&decl.file, "the file's name") ||
        !cursor_.Expect(',', "after the file's name")) {
      return false;
    }
    if (cursor_.token().kind != TokenKind::kNumber) {
      return cursor_.String(&decl.tensor, "the tensor's name or the number of its first byte") &&
             cursor_.Expect(')', "after the tensor's name");
    }
    const Location loc = cursor_.Loc();
    if (!cursor_.Int(&decl.offset.emplace(), "the number of the first byte")) return false;
    if (*decl.offset < 0) return cursor_.FailAt(loc, "a file has no byte of a negative number");
    if (!cursor_.Accept(',')) return cursor_.Expect(')', "after the number of the first byte");
    return cursor_.Int(&decl.run_bytes, "the bytes of a run") &&
           cursor_.Expect(',', "after the bytes of a run") &&
           cursor_.Int(&decl.stride_bytes, "the bytes between the beginnings of runs") &&
           cursor_.Expect(')', "after the bytes between the beginnings of runs");
  }
  if (!cursor_.Accept('[')) return cursor_.Expected("file(...) or a list of values");
  decl.values.emplace();
  return cursor_.List(']', [&] {
    Token t;
    if (!cursor_.Constant(&t)) return false;
    std::string error;
    int64_t& bits = decl.values->emplace_back();
    return ParseConstant(decl.dtype.scalar(), t.text, &bits, &error) ||
           cursor_.FailAt(cursor_.lexer().Loc(t), error);
  });
}

bool ModuleParser::ParseBuffer() {
  cursor_.Next();
  BufferDecl decl;
  if (!Declare(data_, &decl.name, &decl.loc) || !cursor_.Expect(':', "after the name")) {
    return false;
  }
  const Location type_loc = cursor_.Loc();
  if (!cursor_.Type(&decl.dtype)) return false;
  if (decl.dtype.is_pointer() || decl.dtype.is_void() || decl.dtype.lanes() != 1 ||
      decl.dtype.is_index()) {
    return cursor_.FailAt(
        type_loc, "a buffer holds scalars of a size, or is an image; not " + decl.dtype.ToString());
  }
  if (!ParseDeclShape(decl)) return false;
  const Token& t = cursor_.token();
  const auto role = t.kind == TokenKind::kWord ? RoleFromName(t.text) : std::nullopt;
  if (!role) {
    std::vector<std::string_view> roles;
    for (int i = 0; i <= static_cast<int>(Role::kTemp); ++i) {
      roles.push_back(RoleName(static_cast<Role>(i)));
    }
    return cursor_.Fail("expected input, output, param, state or temp, found " + Describe(t) +
                        (t.kind == TokenKind::kWord ? DidYouMean(t.text, roles) : ""));
  }
  decl.role = *role;
  cursor_.Next();
  if (cursor_.token().IsWord("on")) {
    cursor_.Next();
    if (!cursor_.String(&decl.device, "the device's name, a string")) return false;
  }
  if (cursor_.Accept('=') && !ParseBufferValue(decl)) return false;
  module_->buffers.push_back(std::move(decl));
  return cursor_.ExpectLineEnd("the buffer");
}

void ModuleParser::CheckSymbols() {
  llvm::StringMap<int> vars, buffers, graphs, kernels;
  for (const VarDecl& v : module_->vars) vars[v.name];
  for (const BufferDecl& b : module_->buffers) buffers[b.name];
  for (const auto& g : module_->graphs) graphs[g->name];
  for (const auto& k : module_->kernels) kernels[k->name];
  for (const SymbolUse& use : uses_) {
    const bool buffer = use.op == Op::kBuffer, var = use.op == Op::kVar;
    const auto& declared = buffer ? buffers : var ? vars : use.op == Op::kKernel ? kernels : graphs;
    if (declared.count(use.name)) continue;
    // The error in its declaration has been reported.
    const bool is_data = buffer || var;
    const bool is_whole = is_data ? buffers.count(use.name) || vars.count(use.name)
                                  : graphs.count(use.name) || kernels.count(use.name);
    if ((is_data ? data_ : bodies_).count(use.name) && !is_whole) continue;
    std::vector<std::string_view> names;
    for (const auto& entry : declared) {
      if (diags_.full()) break;  // further errors are only counted
      names.emplace_back(entry.first().data(), entry.first().size());
    }
    std::sort(names.begin(), names.end());
    const std::string_view kind = buffer                  ? "buffer"
                                  : var                   ? "variable"
                                  : use.op == Op::kKernel ? "kernel"
                                                          : "graph";
    cursor_.FailAt(use.loc, "no " + std::string(kind) + " '@" + use.name + "' is declared" +
                                DidYouMean(use.name, names, "@"));
  }
}

}  // namespace tg::text
