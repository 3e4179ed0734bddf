// Parts of models, as tinygrad prints them, as C by GCC and by Clang: compared with the interpreter
// within its bounds of rounding errors.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "codegen/c/renderer.h"
#include "gtest/gtest.h"
#include "ir/interpret/compare_values.h"
#include "ir/interpret/random_data.h"
#include "tools/c_units/run_c_unit.h"
#include "tools/driver/input.h"
#include "tools/fuzz/check_program.h"

namespace tg::c_units {
namespace {

std::vector<std::string> Graphs() {
  std::vector<std::string> paths;
  for (const char* folder : {"testdata/graphs/ops", "testdata/graphs/half"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".repr") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Language {
  const char* target;
  const codegen::Renderer* renderer;
  const char* flags;
};

void Check(const std::string& path, const Language& language,
           const std::vector<std::string>& compilers) {
  SCOPED_TRACE(path);
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  Diagnostics diagnostics;
  testing::RandomProgram program;
  program.module = model::ReadInput(text, path, "auto", diagnostics);
  ASSERT_TRUE(program.module) << diagnostics.ToString();
  interpret::RandomDataOptions data;
  data.seed = 1;
  data.small_integers = true;
  program.inputs = interpret::RandomInputs(*program.module, program.vars, data);
  fuzz::CheckOptions options;
  options.target = language.target;
  options.text = options.random_directives = options.shuffle = options.simplify = false;
  options.passes = {"none"};
  const fuzz::Outcome outcome = fuzz::Check(program, options, nullptr);
  ASSERT_TRUE(outcome.compiled) << (outcome.failure ? outcome.failure->message : outcome.skipped);
  const auto unit =
      runtime::MakeCUnit(*outcome.compiled, *language.renderer, outcome.target, nullptr);
  ASSERT_TRUE(unit.ok()) << unit.status();
  for (const std::string& compiler : compilers) {
    const auto actual = RunCUnit(*unit, *outcome.compiled, program.inputs, program.vars,
                                 {compiler, language.flags, "", ""});
    ASSERT_TRUE(actual.ok()) << actual.status();
    const auto difference = interpret::Difference(outcome.expected, *actual);
    EXPECT_FALSE(difference) << compiler << ": " << *difference;
  }
}

TEST(Graphs, AsC17) {
  const Language c17 = {"c", &c::C17Renderer(), "-std=c17 -O1"};
  const std::vector<std::string> graphs = Graphs();
  EXPECT_EQ(graphs.size(), 30u);
  for (const std::string& path : graphs) Check(path, c17, {"gcc", "clang"});
}

TEST(Graphs, AsC99) {
  const Language c99 = {"c99", &c::C99Renderer(), "-std=c99 -pedantic -O1"};
  for (const std::string& path : Graphs()) Check(path, c99, {"gcc"});
}

}  // namespace
}  // namespace tg::c_units
