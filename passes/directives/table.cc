// The table of directives.
#include "absl/strings/str_cat.h"
#include "passes/directives/directives.h"

namespace tg::directive {
namespace {

struct Row {
  directive::Doc doc;
  absl::Status (*apply)(loop_nest::LoopNest&, const Directive&, const passes::Target&);
};

template <typename D>
absl::Status ApplyText(loop_nest::LoopNest& nest, const Directive& text,
                       const passes::Target& target) {
  const absl::StatusOr<D> directive = directive::FromText<D>(text);
  if (!directive.ok()) return directive.status();
  return directive::Apply(nest, *directive, target);
}

template <typename D>
constexpr Row RowOf() {
  return {D::kDoc, &ApplyText<D>};
}

// THE table of directives.
constexpr Row kDirectives[] = {
    RowOf<directive::Split>(),         RowOf<directive::Upcast>(),    RowOf<directive::Vectorize>(),
    RowOf<directive::Unroll>(),        RowOf<directive::Local>(),     RowOf<directive::Group>(),
    RowOf<directive::GroupTop>(),      RowOf<directive::Shuffle>(),   RowOf<directive::Own>(),
    RowOf<directive::Loop>(),          RowOf<directive::Pack>(),      RowOf<directive::Matrix>(),
    RowOf<directive::StageInOutput>(), RowOf<directive::PadTo>(),     RowOf<directive::Overlap>(),
    RowOf<directive::Order>(),         RowOf<directive::Swap>(),      RowOf<directive::Grid>(),
    RowOf<directive::Neighbours>(),    RowOf<directive::Warpgroup>(),
};

absl::Status NotApplied(const Directive& directive, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("directive ", DirectiveText(directive), ": ", why));
}

}  // namespace

std::span<const directive::Doc> DirectiveDocs() {
  static const std::vector<directive::Doc>& docs = *[] {
    auto* v = new std::vector<directive::Doc>;
    for (const Row& row : kDirectives) v->push_back(row.doc);
    return v;
  }();
  return docs;
}

std::string DirectiveText(const Directive& directive) {
  std::string out = directive.name + "(";
  for (size_t i = 0; i < directive.args.size(); ++i) {
    if (i) out += ", ";
    out += directive.args[i].ident.empty() ? std::to_string(directive.args[i].number)
                                           : directive.args[i].ident;
  }
  return out + ")";
}

absl::Status ApplyDirective(loop_nest::LoopNest& nest, const Directive& directive,
                            const passes::Target& target) {
  std::string names;
  for (const Row& row : kDirectives) {
    if (row.doc.name == directive.name) {
      const absl::Status status = row.apply(nest, directive, target);
      return status.ok() ? status : NotApplied(directive, status.message());
    }
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(row.doc.name));
  }
  return NotApplied(directive, absl::StrCat("no such directive; there are: ", names));
}

std::pair<std::string, std::string> DirectiveList::Split(const std::string& axis, int64_t n) {
  if (axis.empty() || !all_legal_ || n == Size(axis)) return {std::string(), axis};
  if (n == 1) return {axis, std::string()};
  Try(directive::Split{axis, n});
  return {axis + ".0", axis + ".1"};
}

void DirectiveList::Pad(const std::string& axis, int64_t n) {
  const int at = nest_.FindAxis(axis);
  const bool is_symbolic = at >= 0 && nest_.axes[static_cast<size_t>(at)].size.is_symbolic();
  if (is_symbolic || Size(axis) % n != 0) Try(directive::PadTo{axis, n});
}

absl::StatusOr<loop_nest::LoopNest> MakeLoopNest(const Module& module, const KernelCalls& calls,
                                                 const Kernel& kernel, const passes::Target& target,
                                                 ShapeMap& shapes) {
  loop_nest::LoopNest nest = loop_nest::PlainLoopNest(module, calls, kernel, shapes);
  for (const Directive& directive : kernel.directives) {
    if (absl::Status s = ApplyDirective(nest, directive, target); !s.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("kernel @", kernel.name, ": ", s.message()));
    }
  }
  return nest;
}

}  // namespace tg::directive
