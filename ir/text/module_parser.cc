#include "ir/text/module_parser.h"

#include <algorithm>
#include <cstdint>

#include "ir/text/constant.h"
#include "llvm/ADT/StringSet.h"

namespace tg::text {
namespace {

std::string Quote(std::string_view s) { return "'" + std::string(s) + "'"; }
llvm::StringRef Ref(std::string_view s) { return {s.data(), s.size()}; }

constexpr std::string_view kItems[] = {"module", "var", "buffer", "graph", "kernel"};

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
    if (cursor_.token().kind == TokenKind::kEnd || diags_.full()) break;
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
  return cursor_.FailAt(loc, "there is no format version " + std::to_string(version) +
                                 "; this tg reads " + ours);
}

bool ModuleParser::ParseItem() {
  const Token& t = cursor_.token();
  if (t.IsWord("module")) return ParseModuleLine();
  if (t.kind == TokenKind::kWord && !has_module_line_) {
    has_module_line_ = true;  // said once
    cursor_.Expected("'module @name'");
  }
  if (t.IsWord("var")) return ParseVar();
  if (t.IsWord("buffer")) return ParseBuffer();
  if (t.IsWord("graph")) return ParseGraph();
  if (t.IsWord("kernel")) return ParseKernel();
  std::string hint;
  if (t.kind == TokenKind::kWord) hint = DidYouMean(t.text, kItems);
  return cursor_.Fail("expected module, var, buffer, graph or kernel, found " + Describe(t) + hint);
}

bool ModuleParser::Declare(llvm::StringMap<Location>& place, std::string* name, Location* loc) {
  if (cursor_.token().kind != TokenKind::kSymbol) return cursor_.Expected("a name (@name)");
  *loc = cursor_.Loc();
  *name = cursor_.Take().text;
  const auto [it, is_new] = place.try_emplace(*name, *loc);
  if (is_new) return true;
  cursor_.FailAt(*loc, "'@" + *name + "' is already declared in line " +
                           std::to_string(it->second.line));
  return true;  // the rest of the line makes sense
}

template <typename F>
bool ModuleParser::Fields(std::string_view what, std::initializer_list<std::string_view> known,
                          F value) {
  llvm::StringSet<> seen;
  return cursor_.List('}', [&] {
    const Token t = cursor_.token();
    if (t.kind != TokenKind::kWord) return cursor_.Expected("a field's name");
    bool found = false;
    std::string names;
    for (std::string_view k : known) {
      found |= k == t.text;
      names += (names.empty() ? "" : ", ") + std::string(k);
    }
    if (!found) {
      std::string hint = DidYouMean(t.text, std::span(known.begin(), known.size()));
      if (hint.empty()) hint = "; it has " + names;
      return cursor_.Fail(std::string(what) + " has no field " + Quote(t.text) + hint);
    }
    if (!seen.insert(Ref(t.text)).second) {
      return cursor_.Fail("field " + Quote(t.text) + " is given twice");
    }
    cursor_.Next();
    return cursor_.Expect('=', "after the field's name") && value(t.text);
  });
}

bool ModuleParser::ParseStrings(std::vector<std::string>* out) {
  if (!cursor_.Expect('[', "to begin a list of strings")) return false;
  return cursor_.List(']', [&] { return cursor_.String(&out->emplace_back(), "a string"); });
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
      return ParseStrings(&module_->flags);
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

bool ModuleParser::ParseDeclShape(BufferDecl& decl) {
  if (!cursor_.Expect('[', "before the shape")) return false;
  return cursor_.List(']', [&] {
    DeclDim& dim = decl.shape.emplace_back();
    if (cursor_.token().kind == TokenKind::kSymbol) {
      uses_.push_back({Op::kVar, std::string(cursor_.token().text), cursor_.Loc()});
      dim.var = cursor_.Take().text;
      return true;
    }
    const Location loc = cursor_.Loc();
    if (!cursor_.Int(&dim.size, "an extent (a number or @variable)")) return false;
    return dim.size >= 0 || cursor_.FailAt(loc, "an extent cannot be negative");
  });
}

bool ModuleParser::ParseBufferValue(BufferDecl& decl) {
  if (cursor_.token().IsWord("file")) {
    cursor_.Next();
    return cursor_.Expect('(', "after 'file'") && cursor_.String(&decl.file, "the file's name") &&
           cursor_.Expect(',', "after the file's name") &&
           cursor_.String(&decl.tensor, "the tensor's name") &&
           cursor_.Expect(')', "after the tensor's name");
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
    return cursor_.FailAt(type_loc, "a buffer holds scalars of a size, or is an image; not " +
                                        decl.dtype.ToString());
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

bool ModuleParser::ParseGraph() {
  cursor_.Next();
  auto graph = std::make_unique<Graph>();
  if (!Declare(bodies_, &graph->name, &graph->loc) || !cursor_.Expect('{', "before the body") ||
      !cursor_.ExpectLineEnd("'{'")) {
    SkipBody();
    return true;
  }
  BodyParser(cursor_, graph->body, Stage::kTensor, "graph @" + graph->name, graph->loc, uses_)
      .Parse();
  module_->graphs.push_back(std::move(graph));
  return cursor_.token().kind == TokenKind::kEnd || cursor_.token().EndsLine() ||
         cursor_.token().IsWord("graph") || cursor_.token().IsWord("kernel") ||
         cursor_.ExpectLineEnd("'}'");
}

bool ModuleParser::ParseKernel() {
  cursor_.Next();
  auto kernel = std::make_unique<Kernel>();
  const auto header = [&] {
    if (!Declare(bodies_, &kernel->name, &kernel->loc) ||
        !cursor_.Expect(':', "and the kernel's stage")) {
      return false;
    }
    const Token& t = cursor_.token();
    const auto stage = t.kind == TokenKind::kWord ? StageFromName(t.text) : std::nullopt;
    if (!stage || *stage == Stage::kTensor) {
      std::vector<std::string_view> stages;
      for (int i = 1; i < kNumStages; ++i) stages.push_back(StageName(static_cast<Stage>(i)));
      return cursor_.Fail("expected kernel, lowered, expanded or linear, found " + Describe(t) +
                          (t.kind == TokenKind::kWord ? DidYouMean(t.text, stages) : ""));
    }
    kernel->stage = *stage;
    cursor_.Next();
    if (!cursor_.Expect('{', "before the fields or the body")) return false;
    if (cursor_.token().kind != TokenKind::kNewline) {
      if (!ParseKernelFields(*kernel)) return false;
      if (!cursor_.Expect('{', "before the body")) return false;
    }
    return cursor_.ExpectLineEnd("'{'");
  };
  if (!header()) {
    SkipBody();
    return true;
  }
  BodyParser(cursor_, kernel->body, kernel->stage, "kernel @" + kernel->name, kernel->loc, uses_)
      .Parse();
  module_->kernels.push_back(std::move(kernel));
  return cursor_.token().EndsLine() || cursor_.token().IsWord("graph") ||
         cursor_.token().IsWord("kernel") || cursor_.ExpectLineEnd("'}'");
}

bool ModuleParser::ParseKernelFields(Kernel& kernel) {
  return Fields("a kernel", {"metadata", "axes", "opts"}, [&](std::string_view field) {
    if (field == "metadata") return ParseStrings(&kernel.metadata);
    if (!cursor_.Expect('[', "to begin a list")) return false;
    if (field == "axes") return cursor_.List(']', [&] { return ParseAxis(kernel); });
    return cursor_.List(']', [&] { return ParseOpt(kernel); });
  });
}

// name:size kind, or name:size* kind where the size is symbolic.
bool ModuleParser::ParseAxis(Kernel& kernel) {
  Axis& axis = kernel.axes.emplace_back();
  if (cursor_.token().kind != TokenKind::kWord) return cursor_.Expected("an axis (name:size kind)");
  const Location loc = cursor_.Loc();
  axis.name = cursor_.Take().text;
  for (size_t i = 0; i + 1 < kernel.axes.size(); ++i) {
    if (kernel.axes[i].name == axis.name) {
      return cursor_.FailAt(loc, "a second axis " + Quote(axis.name));
    }
  }
  if (!cursor_.Expect(':', "after the axis's name") || !cursor_.Int(&axis.size, "the axis's size")) {
    return false;
  }
  axis.symbolic = cursor_.Accept('*');
  const Token& t = cursor_.token();
  const auto kind = t.kind == TokenKind::kWord ? AxisKindFromName(t.text) : std::nullopt;
  if (!kind) {
    std::vector<std::string_view> kinds;
    for (int i = 0; i <= static_cast<int>(AxisKind::kLoop); ++i) {
      kinds.push_back(AxisKindName(static_cast<AxisKind>(i)));
    }
    return cursor_.Fail(
        "expected global, local, group, reduce, unroll, upcast, vector or loop, found " +
        Describe(t) + (t.kind == TokenKind::kWord ? DidYouMean(t.text, kinds) : ""));
  }
  axis.kind = *kind;
  cursor_.Next();
  return true;
}

bool ModuleParser::ParseOpt(Kernel& kernel) {
  Opt& opt = kernel.opts.emplace_back();
  if (cursor_.token().kind != TokenKind::kWord) return cursor_.Expected("an opt (name(args))");
  opt.name = cursor_.Take().text;
  if (!cursor_.Expect('(', "after the opt's name")) return false;
  return cursor_.List(')', [&] {
    OptArg& arg = opt.args.emplace_back();
    if (cursor_.token().kind == TokenKind::kWord) {
      arg.ident = cursor_.Take().text;
      return true;
    }
    return cursor_.Int(&arg.number, "a name or a number");
  });
}

// After a header that makes no sense: on to the line that begins with '}'.
void ModuleParser::SkipBody() {
  for (;;) {
    cursor_.lexer().SkipLine();
    cursor_.SkipBlankLines();
    const Token& t = cursor_.token();
    if (t.kind == TokenKind::kEnd || t.IsWord("graph")) return;
    if (t.Is('}')) {
      cursor_.lexer().SkipLine();
      return;
    }
  }
}

void ModuleParser::CheckSymbols() {
  llvm::StringMap<int> vars, buffers, graphs, kernels;
  for (const VarDecl& v : module_->vars) vars[v.name];
  for (const BufferDecl& b : module_->buffers) buffers[b.name];
  for (const auto& g : module_->graphs) graphs[g->name];
  for (const auto& k : module_->kernels) kernels[k->name];
  for (const SymbolUse& use : uses_) {
    const bool buffer = use.op == Op::kBuffer, var = use.op == Op::kVar;
    const auto& declared =
        buffer ? buffers : var ? vars : use.op == Op::kKernel ? kernels : graphs;
    if (declared.count(use.name)) continue;
    if (diags_.full()) return;
    std::vector<std::string_view> names;
    for (const auto& entry : declared) names.emplace_back(entry.first().data(), entry.first().size());
    std::sort(names.begin(), names.end());
    const std::string_view kind =
        buffer ? "buffer" : var ? "variable" : use.op == Op::kKernel ? "kernel" : "graph";
    cursor_.FailAt(use.loc, "no " + std::string(kind) + " '@" + use.name + "' is declared" +
                                DidYouMean(use.name, names, "@"));
  }
}

}  // namespace tg::text
