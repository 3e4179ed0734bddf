#include "passes/gradient/gradient.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/builder.h"
#include "passes/gradient/recompute.h"
#include "passes/gradient/reverse_mode.h"
#include "passes/gradient/sink.h"

namespace tg::gradient {
namespace {

constexpr passes::PassOption kOptions[] = {
    {"of", passes::PassOption::Kind::kString, "", "the output whose gradient is taken"},
    {"wrt", passes::PassOption::Kind::kString, "",
     "buffers with respect to which it is taken, as [w, b]; none: all params of floats that it "
     "depends on"},
    {"segments", passes::PassOption::Kind::kInt, "0",
     "computes values again for the derivatives, from checkpoints that divide the computation into "
     "so many segments"},
};

// "[w, @b]" or "w" as names.
std::vector<std::string> Names(std::string_view list) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : list) {
    if (c == ',') {
      names.push_back(std::exchange(name, {}));
    } else if (c != '[' && c != ']' && c != '@' && c != ' ') {
      name += c;
    }
  }
  if (!name.empty() || !names.empty()) names.push_back(name);
  return names;
}

absl::Status CheckVariable(const Module& module, const std::string& name) {
  const BufferDecl* decl = module.FindBuffer(name);
  if (!decl) return InvalidArgument("wrt: there is no buffer @", name);
  if (decl->role == Role::kOutput || decl->role == Role::kTemp) {
    return InvalidArgument("wrt: @", name, " is ", RoleName(decl->role),
                           ", not an input, a param or a state");
  }
  if (!decl->dtype.is_float()) {
    return InvalidArgument("wrt: @", name, " has elements of type ", decl->dtype.ToString(),
                           ", which have no gradient");
  }
  return absl::OkStatus();
}

absl::Status Run(Module& module, passes::PassContext& context) {
  const std::vector<std::string> of = Names(context.String("of"));
  if (of.size() != 1) return InvalidArgument("of: the name of one output is missing");
  const auto [graph, value] = FindWritten(module, of[0]);
  if (!graph) {
    return InvalidArgument(module.FindBuffer(of[0]) ? "of: no sink writes @" : "of: there is no @",
                           of[0]);
  }
  if (!value->dtype.is_float()) {
    return InvalidArgument("of: @", of[0], " has elements of type ", value->dtype.ToString(),
                           ", which have no gradient");
  }
  std::vector<std::string> names = Names(context.String("wrt"));
  const bool all = names.empty();
  for (const std::string& name : names) TG_RETURN_IF_ERROR(CheckVariable(module, name));
  if (all) {
    for (const BufferDecl& b : module.buffers) {
      if (b.role == Role::kParam && b.dtype.is_float()) names.push_back(b.name);
    }
  }
  Body& body = graph->body;
  Builder b(*body.context);
  std::vector<const UOp*> variables;
  for (const std::string& name : names) {
    variables.push_back(b.Buffer(name, module.FindBuffer(name)->dtype));
  }
  std::vector<SinkRoot> roots = RootsOf(body);
  std::vector<const UOp*> values = {value};
  for (const SinkRoot& root : roots) values.push_back(root.value);
  const auto segments = static_cast<size_t>(std::max<int64_t>(0, context.Int("segments")));
  const std::vector<const UOp*> checkpoints =
      KeepCheckpoints(module, body, values, variables, segments, segments);
  for (size_t i = 0; i < roots.size(); ++i) roots[i].value = values[i + 1];
  TG_ASSIGN_OR_RETURN(const std::vector<const UOp*> gradients,
                      Gradients(module, body, values[0], variables, checkpoints));
  int64_t taken = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!gradients[i]) {
      if (all) continue;
      return InvalidArgument("@", of[0], " does not depend on @", names[i],
                             " by floats that have a derivative");
    }
    BufferDecl decl = *module.FindBuffer(names[i]);
    BufferDecl result{.name = FreeSymbol(module, names[i] + ".grad"),
                      .dtype = decl.dtype,
                      .shape = decl.shape,
                      .role = Role::kOutput,
                      .device = decl.device};
    roots.push_back({gradients[i], result.name});
    module.buffers.push_back(std::move(result));
    ++taken;
  }
  if (taken == 0) return InvalidArgument("@", of[0], " depends on no param");
  SetRoots(body, roots);
  context.statistics["gradient.taken"] += taken;
  return absl::OkStatus();
}

}  // namespace

constinit const passes::Pass kGradientPass = {
    "gradient", "adds the gradients of an output as further outputs", kOptions, &Run};

}  // namespace tg::gradient
