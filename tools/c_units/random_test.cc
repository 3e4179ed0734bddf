// Random graphs as C: compiled with sanitizers, run, and compared with the interpreter.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "codegen/c/renderer.h"
#include "gtest/gtest.h"
#include "ir/interpret/compare_values.h"
#include "ir/testing/random_graph.h"
#include "tools/c_units/run_c_unit.h"
#include "tools/fuzz/check_program.h"

namespace tg::c_units {
namespace {

int64_t Number(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

constexpr char kSanitizers[] =
    " -g -O1 -fsanitize=undefined,address -fno-sanitize-recover=all -fno-omit-frame-pointer";

struct Way {
  std::string target;
  const codegen::Renderer* renderer;
  RunOptions options;
};

struct Compiled {
  testing::RandomProgram program;
  fuzz::Outcome outcome;
  runtime::CUnit unit;
};

// Returns false if the graph is not for this way.
bool Compile(uint64_t seed, const Way& way, Compiled& result) {
  result.program = testing::MakeRandomProgram(seed);
  fuzz::CheckOptions options;
  options.seed = seed;
  options.target = way.target;
  options.text = false;
  options.passes = {"linearize"};
  result.outcome = fuzz::Check(result.program, options, nullptr);
  if (!result.outcome.compiled) return false;  // fuzz_test reports failures of passes
  auto unit =
      runtime::MakeCUnit(*result.outcome.compiled, *way.renderer, result.outcome.target, nullptr);
  if (!unit.ok()) {
    EXPECT_EQ(unit.status().code(), absl::StatusCode::kUnimplemented) << unit.status();
    std::printf("seed %d: %s\n", static_cast<int>(seed), unit.status().ToString().c_str());
    return false;
  }
  result.unit = *std::move(unit);
  return true;
}

class Random : public ::testing::TestWithParam<int> {};

TEST_P(Random, GivesWhatTheInterpreterGives) {
  const Way ways[] = {
      {"c", &c::C17Renderer(), {"gcc", std::string("-std=c17") + kSanitizers, kSanitizers, ""}},
      {"c", &c::C17Renderer(), {"clang", std::string("-std=c17") + kSanitizers, kSanitizers, ""}},
      {"c99",
       &c::C99Renderer(),
       {"gcc", std::string("-std=c99 -pedantic") + kSanitizers, kSanitizers, ""}},
      // Work-groups of several work-items, with barriers.
      {"cl-gpu",
       &c::C17Renderer(),
       {"gcc", std::string("-std=c17") + kSanitizers, kSanitizers, ""}}};
  const Way& way = ways[GetParam()];
  const int64_t count = 24 * Number("TG_FUZZ_SCALE", 1);
  const int64_t first = Number("TG_FUZZ_SEED", 0) + GetParam() * count;
  int64_t compared = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    Compiled c;
    if (!Compile(static_cast<uint64_t>(seed), way, c)) continue;
    const auto actual =
        RunCUnit(c.unit, *c.outcome.compiled, c.program.inputs, c.program.vars, way.options);
    ASSERT_TRUE(actual.ok()) << "seed " << seed << ": " << actual.status() << "\n" << c.unit.source;
    const auto difference = interpret::Difference(c.outcome.expected, *actual);
    EXPECT_FALSE(difference) << "seed " << seed << ": " << *difference << "\n" << c.unit.source;
    ++compared;
  }
  std::printf("%d of %d graphs compared\n", static_cast<int>(compared), static_cast<int>(count));
  EXPECT_GT(compared, count / 2);
}

INSTANTIATE_TEST_SUITE_P(Ways, Random, ::testing::Range(0, 4));

// The sanitizers see what the kernels do: an output that is one element too short.
TEST(Planted, AnAccessOutOfBoundsIsFound) {
  int found = 0;
  for (uint64_t seed = 0; seed < 20 && found < 3; ++seed) {
    for (const char* compiler : {"gcc", "clang"}) {
      const Way way = {"c",
                       &c::C17Renderer(),
                       {compiler, std::string("-std=c17") + kSanitizers, kSanitizers, ""}};
      Compiled c;
      if (!Compile(seed, way, c)) continue;
      RunOptions options = way.options;
      for (const BufferDecl& b : c.outcome.compiled->buffers) {
        const auto expected = c.outcome.expected.find(b.name);
        if (b.role == Role::kOutput && expected != c.outcome.expected.end() &&
            expected->second.data.size() > 1) {
          options.short_buffer = b.name;
        }
      }
      if (options.short_buffer.empty()) continue;
      const auto actual =
          RunCUnit(c.unit, *c.outcome.compiled, c.program.inputs, c.program.vars, options);
      ASSERT_FALSE(actual.ok()) << "seed " << seed;
      // Which error depends on whether the access is a vector that begins inside the buffer.
      EXPECT_NE(actual.status().ToString().find("ERROR: AddressSanitizer: "), std::string::npos)
          << actual.status();
      ++found;
    }
  }
  EXPECT_GE(found, 3);
}

}  // namespace
}  // namespace tg::c_units
