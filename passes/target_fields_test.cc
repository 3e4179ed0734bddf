// Target files: what is printed is read back, and what is wrong is said with its line.
#include "passes/target_fields.h"

#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace tg::passes {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto target = ParseTarget(text, "my.target");
  EXPECT_FALSE(target.ok()) << text;
  return std::string(target.status().message());
}

TEST(TargetFields, PresetsAreReadBack) {
  for (const Target& preset : TargetPresets()) {
    const auto target = ParseTarget(PrintTarget(preset), "my.target");
    ASSERT_TRUE(target.ok()) << target.status();
    for (const TargetField& field : TargetFields()) {
      EXPECT_EQ(field.Text(*target), field.Text(preset)) << preset.name << ": " << field.name;
    }
  }
}

TEST(TargetFields, FieldsAreNamedOnceAndDocumented) {
  std::set<std::string_view> names;
  for (const TargetField& field : TargetFields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.doc.empty()) << field.name;
  }
}

TEST(TargetFields, LeftOutFieldsAreThoseOfTheBase) {
  const auto target = ParseTarget(
      "# a comment\n\nbase = cl-nvidia-sm90\nname = mine # 2\ncompute_units = 7  # few\n"
      "max_local = [8, 4, 2]\nown_functions = [exp2, sin]\nlaunch_seconds = 1e-3\n",
      "my.target");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->name, "mine # 2");
  EXPECT_EQ(target->compute_units, 7);
  EXPECT_EQ(target->max_local[2], 2);
  EXPECT_TRUE(target->own_functions[static_cast<size_t>(Op::kSin)]);
  EXPECT_EQ(target->own_functions.count(), 2u);
  EXPECT_EQ(target->launch_seconds, 1e-3);
  EXPECT_EQ(target->bytes_per_second, FindTarget("cl-nvidia-sm90")->bytes_per_second);
  EXPECT_TRUE(target->is_gpu);
  // Without a base the first preset's, and the file's name.
  EXPECT_EQ(ParseTarget("", "my.target")->alu_width, TargetPresets()[0].alu_width);
  EXPECT_EQ(ParseTarget("", "my.target")->name, "my.target");
}

TEST(TargetFields, Errors) {
  EXPECT_EQ(ErrorOf("name = x\ncores = 4\n"), "my.target:2: no field 'cores'");
  EXPECT_EQ(ErrorOf("\n# x\nfast\n"), "my.target:3: no 'key = value'");
  EXPECT_EQ(ErrorOf("fp64 = yes"), "my.target:1: fp64: 'yes' is neither true nor false");
  EXPECT_EQ(ErrorOf("compute_units = 2.5"), "my.target:1: compute_units: '2.5' is not an integer");
  EXPECT_EQ(ErrorOf("compute_units ="), "my.target:1: compute_units: '' is not an integer");
  EXPECT_EQ(ErrorOf("compute_units = 0"), "my.target:1: compute_units: 0 is less than 1");
  EXPECT_EQ(ErrorOf("compute_units = 99999999999"),
            "my.target:1: compute_units: 99999999999 is out of range");
  EXPECT_EQ(ErrorOf("flops_per_second = fast"),
            "my.target:1: flops_per_second: 'fast' is not a number");
  EXPECT_EQ(ErrorOf("flops_per_second = nan"),
            "my.target:1: flops_per_second: 'nan' is not a number");
  EXPECT_EQ(ErrorOf("flops_per_second = 0"), "my.target:1: flops_per_second: 0 is not above 0");
  EXPECT_EQ(ErrorOf("max_local = 4, 4, 4"),
            "my.target:1: max_local: '4, 4, 4' is no list in brackets");
  EXPECT_EQ(ErrorOf("max_local = [4, 4]"), "my.target:1: max_local: 2 numbers, not 3");
  EXPECT_EQ(ErrorOf("own_functions = [add]"), "my.target:1: own_functions: 'add' is no function");
  EXPECT_EQ(ErrorOf("name ="), "my.target:1: name: the text is empty");
  EXPECT_EQ(ErrorOf("fp16 = true\nfp16 = true"), "my.target:2: 'fp16' is given twice");
  EXPECT_EQ(ErrorOf("fp16 = true\nbase = cl-cpu"),
            "my.target:2: 'base' comes once, before all fields");
  EXPECT_EQ(ErrorOf("base = cl-none").substr(0, 42), "my.target:1: unknown target 'cl-none'; the");
}

TEST(TargetFields, FilesAreTargets) {
  const std::string path = testing::TempDir() + "/some.target";
  std::ofstream(path) << "base = cl-gpu\ncompute_units = 3\n";
  const auto target = FindTarget(path);
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->compute_units, 3);
  EXPECT_EQ(target->name, path);
  std::ofstream(path) << "compute_units = -3\n";
  EXPECT_EQ(FindTarget(path).status().message(), path + ":1: compute_units: -3 is less than 1");
  EXPECT_FALSE(FindTarget(testing::TempDir() + "/none.target").ok());
}

}  // namespace
}  // namespace tg::passes
