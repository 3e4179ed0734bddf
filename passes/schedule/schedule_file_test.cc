#include "passes/schedule/schedule_file.h"

#include <gtest/gtest.h>

#include "ir/text/parser.h"

namespace tg::schedule {
namespace {

MeasuredSchedule Make(const std::string& key, double first, double seconds,
                      const std::string& directives) {
  return {key, "cpu-avx2", "a driver", first, seconds, *ParseDirectives(directives)};
}

const std::string kA = "0123456789abcdef", kB = "00000000000000ff";

TEST(Directives, TextIsReadBack) {
  for (const char* text : {"-", "local(i0, 4)", "pack(p0, r0.1, local, 2), upcast(i1.0, -3)",
                           "order(i0, i1, i2)", "loop(i0)"}) {
    const auto directives = ParseDirectives(text);
    ASSERT_TRUE(directives.ok()) << directives.status();
    EXPECT_EQ(DirectivesText(*directives), text);
  }
  EXPECT_EQ(DirectivesText(*ParseDirectives("  local( i0 ,4 ) ,loop(i1)  ")),
            "local(i0, 4), loop(i1)");
}

TEST(Directives, ErrorsNameWhatIsWrong) {
  const auto error = [](const std::string& text) {
    return std::string(ParseDirectives(text).status().message());
  };
  EXPECT_EQ(error(""), "'' is no directive such as local(i0, 4)");
  EXPECT_EQ(error("local"), "'local' is no directive such as local(i0, 4)");
  EXPECT_EQ(error("local(i0, 4"), "'local(i0, 4' is no directive such as local(i0, 4)");
  EXPECT_EQ(error("local(i0, 4) loop(i0)"), "there is no comma before 'loop(i0)'");
  EXPECT_EQ(error("local(i0, )"), "'' is no argument of local");
  EXPECT_EQ(error("lo cal(i0)"), "'lo cal(i0' is no directive such as local(i0, 4)");
  EXPECT_EQ(error("local(i0;4)"), "'i0;4' is no argument of local");
  EXPECT_EQ(error("local(99999999999999999999)"), "");  // a word, which is then no axis
  EXPECT_EQ(error("local(" + std::string(65, 'a') + ")"),
            "'" + std::string(65, 'a') + "' is no argument of local");
}

TEST(ScheduleFile, IsReadBackAndSorted) {
  const std::vector<MeasuredSchedule> schedules = {Make(kA, 2e-3, 1.5e-3, "local(i0, 4)"),
                                                   Make(kB, 1, 0.5, "-")};
  const std::string text = PrintScheduleFile(schedules);
  const auto read = ParseScheduleFile(text, "f");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0], schedules[1]);
  EXPECT_EQ((*read)[1], schedules[0]);
  EXPECT_EQ(PrintScheduleFile(*read), text);
}

TEST(ScheduleFile, ErrorsHaveTheLine) {
  const auto error = [](const std::string& line) {
    const auto read = ParseScheduleFile("tg-schedules 1\n# a remark\n\n" + line + "\n", "f");
    return std::string(read.status().message());
  };
  EXPECT_EQ(error(kA + " | t | d | 1 | 1 | -"), "");
  EXPECT_EQ(error("x"), "f:4: a line has 6 fields between bars, not 1");
  EXPECT_EQ(error("xyz | t | d | 1 | 1 | -"), "f:4: 'xyz' is no key of 16 hexadecimal digits");
  EXPECT_EQ(error(kA + " | t | d | 0 | 1 | -"), "f:4: '0' is no time in seconds");
  EXPECT_EQ(error(kA + " | t | d | 1 | nan | -"), "f:4: 'nan' is no time in seconds");
  EXPECT_EQ(error(kA + " | t | d | 1 | 1 | loop"),
            "f:4: 'loop' is no directive such as local(i0, 4)");
  EXPECT_EQ(ParseScheduleFile("", "f").status().message(),
            "f:1: a file of schedules begins with 'tg-schedules 1'");
}

TEST(ScheduleFile, MergeKeepsTheGreatestGain) {
  const auto merged = MergeSchedules({Make(kA, 2, 1.5, "loop(i0)"), Make(kB, 1, 0.9, "-"),
                                      Make(kA, 10, 5, "loop(i1)"), Make(kA, 1, 0.8, "loop(i2)")});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].key, kB);
  EXPECT_EQ(DirectivesText(merged[1].directives), "loop(i1)");
}

TEST(KnownSchedules, AreThoseOfTargetAndDriver) {
  std::vector<MeasuredSchedule> schedules = {Make(kA, 2, 1.5, "loop(i0)"),
                                             Make(kB, 2, 1.5, "loop(i1)")};
  schedules[1].driver = "another";
  const auto finds = [&](const char* target, const char* driver, const std::string& key) {
    return KnownSchedules(schedules, target, driver).Find(key) != nullptr;
  };
  EXPECT_TRUE(finds("cpu-avx2", "a driver", kA));
  EXPECT_FALSE(finds("cpu-avx2", "a driver", kB));
  EXPECT_TRUE(finds("cpu-avx2", "", kB));
  EXPECT_FALSE(finds("cpu-avx512", "", kA));
  schedules[1].driver = kAnyDriver;
  EXPECT_TRUE(finds("cpu-avx2", "a driver", kB));
}

TEST(KernelKey, IsOfTheStructure) {
  const auto key = [](const std::string& op, const std::string& name) {
    const std::string text =
        "tg 1\nmodule @m\nbuffer @a : f32[4] input\nbuffer @y : f32[4] output\n"
        "graph @main {\n  %" +
        name + " = buffer @a : f32\n  %0 = " + op + " %" + name + " : f32\n  sink %0 -> @y\n}\n";
    Diagnostics diagnostics;
    const auto module = ParseModule(text, "m", diagnostics);
    EXPECT_TRUE(module != nullptr) << diagnostics.ToString();
    return module ? KernelKey(module->graphs[0]->body) : "";
  };
  EXPECT_EQ(key("sqrt", "a"), key("sqrt", "b"));
  EXPECT_NE(key("sqrt", "a"), key("exp2", "a"));
  EXPECT_EQ(key("sqrt", "a").size(), 16u);
}

}  // namespace
}  // namespace tg::schedule
