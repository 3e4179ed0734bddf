// Tests of the folder errors/: invalid programs with all of their messages. A file is a program;
// the lines `// expect: line:column: error: message` at its end are not part of it.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"

namespace tg {
namespace {

constexpr char kFolder[] = "ir/text/errors";
constexpr std::string_view kExpect = "// expect: ";

// A text cannot violate these rules; ir/verify/verifier_test.cc tests them.
constexpr int kRulesOfBuiltModules[] = {101, 103, 105, 106, 109, 601, 602};

std::vector<std::string> Files() {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it(kFolder, error), end; it != end;
       it.increment(error)) {
    out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> ErrorsOf(std::string_view program) {
  Diagnostics diags;
  const auto module = ParseModule(program, "", diags);
  if (module) VerifyParsedModule(*module, diags);
  std::vector<std::string> out;
  for (const Diagnostic& d : diags.errors()) out.push_back(d.FirstLine());
  return out;
}

TEST(Errors, EachProgramFailsAsItSays) {
  const auto files = Files();
  ASSERT_FALSE(files.empty());
  for (const std::string& path : files) {
    const auto text = ReadTextFile(path);
    ASSERT_TRUE(text.ok()) << path;
    const size_t end = text->find(kExpect);
    ASSERT_NE(end, std::string::npos) << path << " expects nothing";
    std::vector<std::string> expected;
    for (std::string_view rest = std::string_view(*text).substr(end); !rest.empty();) {
      ASSERT_EQ(rest.substr(0, kExpect.size()), kExpect) << path;
      const size_t newline = rest.find('\n');
      expected.emplace_back(rest.substr(kExpect.size(), newline - kExpect.size()));
      rest = newline == std::string_view::npos ? "" : rest.substr(newline + 1);
    }
    EXPECT_EQ(ErrorsOf(std::string_view(*text).substr(0, end)), expected) << path;
  }
}

TEST(Errors, EachRuleIsBrokenSomewhere) {
  std::set<int> broken(std::begin(kRulesOfBuiltModules), std::end(kRulesOfBuiltModules));
  for (const std::string& path : Files()) {
    const auto text = ReadTextFile(path);
    ASSERT_TRUE(text.ok()) << path;
    for (size_t at = 0; (at = text->find("error: [V", at)) != std::string::npos; ++at) {
      broken.insert(std::stoi(text->substr(at + 9, 3)));
    }
  }
  for (const VerifierRule& rule : VerifierRules()) {
    EXPECT_TRUE(broken.count(rule.number)) << "V" << rule.number << " " << rule.name;
  }
}

}  // namespace
}  // namespace tg
