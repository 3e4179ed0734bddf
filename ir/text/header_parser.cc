// ModuleParser: headers of graphs and kernels.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/suggest.h"
#include "ir/text/module_parser.h"

namespace tg::text {
namespace {}  // namespace

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
  return Fields("a kernel", {"metadata", "axes", "schedule"}, [&](std::string_view field) {
    if (field == "metadata") return ParseStrings(&kernel.metadata);
    if (!cursor_.Expect('[', "to begin a list")) return false;
    if (field == "axes") return cursor_.List(']', [&] { return ParseAxis(kernel); });
    return cursor_.List(']', [&] { return ParseDirective(kernel); });
  });
}

// Parses "name:size kind", or "name:size* kind" if the size is symbolic.
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
  if (!cursor_.Expect(':', "after the axis's name") ||
      !cursor_.Int(&axis.size, "the axis's size")) {
    return false;
  }
  axis.symbolic = cursor_.Accept('*');
  const Token& t = cursor_.token();
  const auto kind = t.kind == TokenKind::kWord ? AxisKindFromName(t.text) : std::nullopt;
  if (!kind) {
    std::vector<std::string_view> kinds;
    for (int i = 0; i <= static_cast<int>(AxisKind::kStage); ++i) {
      kinds.push_back(AxisKindName(static_cast<AxisKind>(i)));
    }
    return cursor_.Fail(
        "expected global, local, group, reduce, unroll, upcast, vector, loop or stage, found " +
        Describe(t) + (t.kind == TokenKind::kWord ? DidYouMean(t.text, kinds) : ""));
  }
  axis.kind = *kind;
  cursor_.Next();
  return true;
}

bool ModuleParser::ParseDirective(Kernel& kernel) {
  Directive& directive = kernel.directives.emplace_back();
  if (cursor_.token().kind != TokenKind::kWord) return cursor_.Expected("a directive (name(args))");
  directive.name = cursor_.Take().text;
  if (!cursor_.Expect('(', "after the directive's name")) return false;
  return cursor_.List(')', [&] {
    DirectiveArg& arg = directive.args.emplace_back();
    if (cursor_.token().kind == TokenKind::kWord) {
      arg.ident = cursor_.Take().text;
      return true;
    }
    return cursor_.Int(&arg.number, "a name or a number");
  });
}

// After an invalid header: skips to the line that begins with '}'.
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

}  // namespace tg::text
