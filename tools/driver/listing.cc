#include "tools/driver/listing.h"

#include <algorithm>

#include "ir/module.h"
#include "passes/target.h"

namespace tg::driver {
namespace {

// Formats a row of two columns.
std::string Row(std::string left, size_t width, std::string_view right) {
  left.resize(std::max(left.size() + 2, width), ' ');
  return left + std::string(right) + "\n";
}

}  // namespace

std::string VersionText(std::string_view tool) {
  return std::string(tool) + " " + std::string(kVersion) + ", text format " +
         std::to_string(kFormatVersion) + "\n";
}

std::string ListPasses(const passes::PassRegistry& registry) {
  std::string text;
  for (const passes::Pass* pass : registry.passes()) {
    text += Row(std::string(pass->name), 20, pass->doc);
    for (const passes::PassOption& option : pass->options) {
      std::string left = "  :" + std::string(option.name);
      if (option.kind == passes::PassOption::Kind::kInt) left += "=N";
      if (option.kind == passes::PassOption::Kind::kString) left += "=TEXT";
      std::string doc(option.doc);
      if (option.kind != passes::PassOption::Kind::kFlag && !option.default_value.empty()) {
        doc += " (default " + std::string(option.default_value) + ")";
      }
      text += Row(std::move(left), 20, doc);
    }
  }
  return text;
}

std::string ListTargets() {
  std::string text;
  for (const passes::Target& target : passes::TargetPresets()) {
    text += Row(target.name, 20,
                target.doc + (&target == &passes::TargetPresets()[0] ? " (the default)" : ""));
  }
  return text;
}

}  // namespace tg::driver
