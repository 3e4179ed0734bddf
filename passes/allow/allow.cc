#include "passes/allow/allow.h"

#include "ir/module_flags.h"

namespace tg::allow {
namespace {

constexpr passes::PassOption kOptions[] = {
#define TG_MODULE_FLAG(name, text, doc) {text, passes::PassOption::Kind::kFlag, "false", doc},
#include "ir/module_flags.def"
#undef TG_MODULE_FLAG
};

absl::Status Run(Module& module, passes::PassContext& context) {
#define TG_MODULE_FLAG(name, text, doc) \
  if (context.Flag(text)) module.flags.Add(ModuleFlag::name);
#include "ir/module_flags.def"
#undef TG_MODULE_FLAG
  return absl::OkStatus();
}

}  // namespace

constinit const passes::Pass kAllowPass = {
    "allow", "adds flags to the module, each named by an option", kOptions, Run};

}  // namespace tg::allow
