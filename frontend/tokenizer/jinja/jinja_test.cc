// Compares templates with the results of Python's jinja2, and tests what only this reader does:
// errors with their location, and limits.
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "frontend/tokenizer/jinja/program.h"
#include "frontend/tokenizer/testing/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::jinja {
namespace {

using ::testing::HasSubstr;

constexpr char kFolder[] = "frontend/tokenizer/testdata/";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

llvm::json::Value ReadJson(const std::string& path) {
  auto json = llvm::json::parse(ReadFile(path));
  if (!json) ADD_FAILURE() << path << ": " << llvm::toString(json.takeError());
  return json ? *std::move(json) : llvm::json::Value(nullptr);
}

absl::StatusOr<std::string> Render(std::string_view text,
                                   const Value& variables = Value::Of(Dict())) {
  const auto program = Program::Parse(text);
  if (!program.ok()) return program.status();
  return (*program)->Render(variables, 0, {.steps = 1'000'000, .bytes = 1 << 24});
}

std::string Error(std::string_view text) {
  const auto result = Render(text);
  EXPECT_FALSE(result.ok()) << text << " gives " << *result;
  return std::string(result.status().message());
}

// `expected` null: an error.
void ExpectRendered(const std::string& text, const Value& variables,
                    const llvm::json::Value& expected, const std::string& what) {
  const auto result = Render(text, variables);
  const auto wanted = expected.getAsString();
  EXPECT_EQ(result.ok(), static_cast<bool>(wanted)) << what << "\n" << result.status().message();
  if (!result.ok() || !wanted) return;
  EXPECT_EQ(*result, wanted->str()) << what;
}

TEST(Jinja, SnippetsEqualJinja2) {
  const llvm::json::Value data = ReadJson(absl::StrCat(kFolder, "jinja/snippets.json"));
  const llvm::json::Value expected = ReadJson(absl::StrCat(kFolder, "jinja/expected.json"));
  const Value variables = FromJson(*data.getAsObject()->get("variables"));
  const llvm::json::Array& snippets = *data.getAsObject()->getArray("snippets");
  ASSERT_GT(snippets.size(), 100u);
  ASSERT_EQ(snippets.size(), expected.getAsArray()->size());
  for (size_t i = 0; i < snippets.size(); ++i) {
    const std::string snippet = snippets[i].getAsString()->str();
    ExpectRendered(snippet, variables, (*expected.getAsArray())[i], snippet);
  }
}

TEST(Jinja, TemplatesOfModelsEqualJinja2) {
  const llvm::json::Value cases = ReadJson(absl::StrCat(kFolder, "chat/cases.json"));
  const llvm::json::Value expected = ReadJson(absl::StrCat(kFolder, "chat/expected.json"));
  ASSERT_GT(expected.getAsObject()->size(), 20u);
  for (const auto& [name, texts] : *expected.getAsObject()) {
    const std::string text = ReadFile(absl::StrCat(kFolder, "chat/", name.str()));
    ASSERT_EQ(texts.getAsArray()->size(), cases.getAsArray()->size());
    for (size_t i = 0; i < cases.getAsArray()->size(); ++i) {
      ExpectRendered(text, FromJson((*cases.getAsArray())[i]), (*texts.getAsArray())[i],
                     absl::StrCat(name.str(), ", case ", i));
    }
  }
}

TEST(Jinja, ErrorsNameTheirPlace) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"a\n  {{ x.y }}", "line 2, column 7: 'y' of what is not defined"},
      {"{% if true %}\nabc",
       "line 2, column 4: {% endif %} is expected, not the end of the template"},
      {"\n\n{% foo %}", "line 3, column 4: a statement 'foo' is not supported here"},
      {"{{ 'abc", "line 1, column 4: the string does not end"},
      {"{{ 1 + }}", "line 1, column 8: an expression is expected, not '}}'"},
      {R"({{ 'a\u12' }})", "line 1, column 6: the escape is not complete"},
      {R"({{ '\UFFFFFFFF' }})", "line 1, column 5: the escape is no character"},
      {"{{ 1 ", "line 1, column 1: the braces do not close"},
      {"{# x", "line 1, column 1: the comment does not end"},
      {"{{ a ! b }}", "line 1, column 6: '!' is not expected"},
      {"{{ a) }}", "line 1, column 5: ')' closes nothing"},
      {"{{ raise_exception('Only users!') }}", "line 1, column 19: Only users!"},
      {"{{ 'a' + 1 }}", "line 1, column 8: '+' of a string and an integer"},
      {"{{ 1 < none }}", "line 1, column 6: '<' of an integer and none"},
      {"{{ f(1) }}", "line 1, column 5: 'f' is no function"},
      {"{{ 1|trim(1, 2) }}", "line 1, column 5: trim takes 1 arguments, not 2"},
      {"{{ 1|replace(1) }}", "line 1, column 5: replace needs 2 arguments"},
      {"{{ 1|trim(what=2) }}", "line 1, column 5: trim has no parameter 'what'"},
      {"{{ 'x'|nosuch }}", "line 1, column 7: there is no filter 'nosuch'"},
      {"{{ 1 is nosuch }}", "line 1, column 6: there is no test 'nosuch'"},
      {"{% break %}", "line 1, column 4: 'break' outside of a loop"},
      {"{{ 9223372036854775807 + 1 }}", "line 1, column 24: the integer is too large"},
      {"{{ 99999999999999999999 }}", "line 1, column 4: the number is too large"},
      {"{% for i in x recursive %}", "line 1, column 15: recursive loops are not supported"},
      {"{% set x.y = 1 %}", "line 1, column 4: 'x' is no namespace()"},
  };
  for (const auto& row : cases) EXPECT_EQ(Error(row.text), row.error) << row.text;
}

std::string Repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Jinja, DepthIsBounded) {
  EXPECT_THAT(Error("{{ " + Repeated("(", 5000) + "1" + Repeated(")", 5000) + " }}"),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(Error("{{ " + Repeated("not ", 5000) + "1 }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(Error("{{ " + Repeated("-", 5000) + "1 }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(Error("{{ 1" + Repeated(" + 1", 5000) + " }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(Error(Repeated("{% if 1 %}", 5000)), HasSubstr("nested too deeply"));
  EXPECT_THAT(Error("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), HasSubstr("too deeply"));
  EXPECT_THAT(Error("{% set ns = namespace(x=[]) %}{% for i in range(200) %}"
                    "{% set ns.x = [ns.x] %}{% endfor %}"),
              HasSubstr("too deep"));
  EXPECT_THAT(Error("{% set ns = namespace(x={}) %}{% for i in range(200) %}"
                    "{% set ns.x = {'f': ns.x.get} %}{% endfor %}"),
              HasSubstr("too deep"));
}

TEST(Jinja, TimeAndMemoryAreBounded) {
  EXPECT_THAT(Error("{% for i in range(1000000000) %}{% endfor %}"), HasSubstr("too many steps"));
  EXPECT_THAT(
      Error("{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}"),
      HasSubstr("too many steps"));
  EXPECT_THAT(Error("{{ 'xxx' * 1000000000 }}"), HasSubstr("too long"));
  EXPECT_THAT(Error("{% set ns = namespace(x='x') %}{% for i in range(100) %}"
                    "{% set ns.x = ns.x + ns.x %}{% endfor %}"),
              HasSubstr("too much text"));
  // Each list holds the one before it twice.
  EXPECT_THAT(Error("{% set ns = namespace(x=[1]) %}{% for i in range(50) %}"
                    "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}"),
              HasSubstr("too large"));
}

// The limits are for templates that run away, not for long conversations.
TEST(Jinja, LongConversationsFit) {
  const auto message = [](const char* role, const std::string& content) {
    return Value::Of(Dict{{Value::String("role"), Value::String(role)},
                          {Value::String("content"), Value::String(content)}});
  };
  List messages;
  for (int i = 0; i < 1000; ++i) {
    messages.push_back(message(i % 2 == 0 ? "user" : "assistant", Repeated("Zürich, ", 400)));
  }
  const Value variables =
      Value::Of(Dict{{Value::String("messages"), Value::Of(std::move(messages))},
                     {Value::String("bos_token"), Value::String("<s>")},
                     {Value::String("eos_token"), Value::String("</s>")}});
  const llvm::json::Value expected = ReadJson(absl::StrCat(kFolder, "chat/expected.json"));
  for (const auto& [name, texts] : *expected.getAsObject()) {
    const auto program = Program::Parse(ReadFile(absl::StrCat(kFolder, "chat/", name.str())));
    ASSERT_TRUE(program.ok()) << name.str();
    const auto prompt = (*program)->Render(variables, 0);
    EXPECT_TRUE(prompt.ok()) << name.str() << ": " << prompt.status();
    EXPECT_GT(prompt.value_or("").size(), size_t{1'500'000}) << name.str();
  }
}

TEST(Jinja, BytesThatAreNoUtf8ComeBack) {
  const auto text = Render("\xFF{{ '\x80' + x }}\xC3",
                           Value::Of(Dict{{Value::String("x"), Value::String("\xFE")}}));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "\xFF\x80\xFE\xC3");
}

}  // namespace
}  // namespace tg::jinja
