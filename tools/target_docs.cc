// docs/targets.md: the fields of targets, and the presets.
#include <string>
#include <string_view>

#include "passes/target_fields.h"
#include "tools/reference_docs.h"

namespace tg::tools {
namespace {

constexpr std::string_view kHead =
    "# Targets\n\n"
    "<!-- Made by //tools:tg-docs from the tables in the code; //tools:reference_docs_test "
    "compares. -->\n\n"
    "A target describes a device for the passes: what it computes in, the sizes of its groups and "
    "memories, and the\nrates from which [costs](cost-model.md) are predicted. `--target=NAME` "
    "names a preset of the table below, and\n`--target=FILE.target` a file. Where neither the "
    "command nor the module names one, it is the preset that fits the\ndevice, with what the "
    "device "
    "reports.\n\n"
    "## A device without a preset\n\n"
    "[`tg-calibrate`](../tools/README.md#tg-calibrate) asks the device and measures the rest:\n\n"
    "```\ntg-calibrate --device=cpu > my.target\ntg-run --target=my.target model.uop\n```\n\n"
    "A file has a line `key = value` for each field; `#` begins a comment. `base = PRESET`, before "
    "all fields, gives the\nfields that are left out. Lists are in brackets, numbers in the units "
    "of the table:\n\n"
    "```\nbase = cl-cpu-avx2\nname = laptop\ncompute_units = 8\nflops_per_second = 6.1e+11\n```\n\n"
    "A preset for all is a few lines of `passes/target.cc` with the same fields.\n\n"
    "## Fields\n\n"
    "The source says where a value comes from: the device reports it, tg-calibrate measures it, "
    "datasheets of the\ndevice and its compiler say it, or it is fitted: chosen so that schedules "
    "agree with measured times of kernels, here\nor in tinygrad, from whose rules those for GPUs "
    "come. The table is `passes/target.def`.\n";

}  // namespace

std::string TargetsPage() {
  std::string out(kHead);
  std::string_view part;
  for (const passes::TargetField& field : passes::TargetFields()) {
    if (field.part != part) {
      part = field.part;
      out += "\n### " + std::string(part) +
             "\n\n| field | unit | source | meaning |\n| --- | --- | --- | --- |\n";
    }
    out += "| `" + std::string(field.name) + "` | " + std::string(field.unit) + " | " +
           std::string(passes::FieldSourceName(field.source)) + " | " + std::string(field.doc) +
           " |\n";
  }
  out += "\n## Presets\n\n| preset | device |\n| --- | --- |\n";
  for (const passes::Target& preset : passes::TargetPresets()) {
    out += "| `" + preset.name + "` | " + preset.doc + " |\n";
  }
  out += "\nTheir values; a field that is not listed has the same value in all.\n\n| field |";
  for (const passes::Target& preset : passes::TargetPresets()) out += " " + preset.name + " |";
  out += "\n| --- |";
  for (size_t i = 0; i < passes::TargetPresets().size(); ++i) out += " --- |";
  out += "\n";
  for (const passes::TargetField& field : passes::TargetFields()) {
    if (field.source == passes::FieldSource::kName) continue;
    std::string row = "| `" + std::string(field.name) + "` |";
    const std::string first = field.Text(passes::TargetPresets()[0]);
    bool differ = false;
    for (const passes::Target& preset : passes::TargetPresets()) {
      differ |= field.Text(preset) != first;
      // A list of all functions would be too long for the cell.
      const std::string text = field.Text(preset);
      row += " " + (text.size() > 40 ? std::string("all") : text) + " |";
    }
    if (differ) out += row + "\n";
  }
  return out;
}

}  // namespace tg::tools
