#include "ir/text/parser.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/text/printer.h"

namespace tg {
namespace {

std::string FirstError(std::string_view text) {
  Diagnostics diags;
  const auto module = ParseModule(text, "f.uop", diags);
  EXPECT_EQ(module == nullptr, diags.has_errors());
  return diags.errors().empty() ? "" : diags.errors()[0].FirstLine();
}

std::unique_ptr<Module> Parse(std::string_view text) {
  Diagnostics diags;
  auto module = ParseModule(text, "f.uop", diags);
  EXPECT_TRUE(module) << diags.ToString();
  return module;
}

// Cases that a file with a final newline cannot show; errors/ has the others.
TEST(Parser, TornFiles) {
  struct Case {
    std::string_view text, error;
  };
  constexpr Case kCases[] = {
      {"",
       "f.uop:1:1: error: expected 'tg 1' as the first line (the version of the format), found "
       "the end of the file"},
      {"tg",
       "f.uop:1:3: error: expected the number of the format's version, found the end of the "
       "file"},
      {"tg 1", "f.uop:1:5: error: the file ends without 'module @name'"},
      {"tg 1\nmodule", "f.uop:2:7: error: expected a name (@name), found the end of the file"},
      {"tg 1\nmodule @m\nbuffer @x : f32[4",
       "f.uop:3:18: error: expected ',' or ']', found the end of the file"},
      {"tg 1\nmodule @m\nbuffer @x : ptr<f32",
       "f.uop:3:13: error: expected '>' to end the type 'ptr<...'"},
      {"tg 1\nmodule @m\nbuffer @x : f32[4] state on \"gpu",
       "f.uop:3:29: error: expected the device's name, a string, found a string that does not end "
       "on its line"},
      {"tg 1\nmodule @m\ngraph @g {\n  sink",
       "f.uop:4:7: error: expected '}' to end graph @g, which begins in line 3, found the end of "
       "the file"},
      {"tg 1\nmodule @m\ngraph @g {\n  %0 = const nan(0x",
       "f.uop:4:17: error: expected ':' and the type of 'const', found '('"},
      {"tg 1\nmodule @m\ngraph @g {\n  sink\n} x",
       "f.uop:5:3: error: expected the end of the line after '}', found 'x'"},
  };
  for (const Case& c : kCases) EXPECT_EQ(FirstError(c.text), c.error) << c.text;
}

// Older texts keep their meaning: fields that were renamed are also read by their former names.
TEST(Parser, FormerNamesOfFieldsAreRead) {
  const std::string head =
      "tg 1\nmodule @m\nbuffer @x : f32[4, 8] input\n\ngraph @main {\n  %x = buffer @x : f32\n";
  const auto text = [&](const char* pad, const char* shrink, const char* permute) {
    return head + "  %0 = pad %x {" + pad + " = [(0, 4), (1, 0)]} : f32\n  %1 = shrink %0 {" +
           shrink + " = [(0, 4), (1, 2)]} : f32\n  %2 = permute %1 {" + permute +
           " = [1, 0]} : f32\n  sink %2\n}\n";
  };
  const std::string former = text("pad", "arg", "order"), now = text("widths", "ranges", "axes");
  Diagnostics diagnostics;
  const auto module = ParseModule(former, "former.uop", diagnostics);
  ASSERT_TRUE(module) << diagnostics.ToString();
  EXPECT_EQ(PrintModule(*module), now);
}

// The list of directives in a kernel's header has two names, one of them from older texts.
TEST(Parser, FormerNameOfTheScheduleIsRead) {
  const auto text = [](const std::string& fields) {
    return "tg 1\nmodule @m\n\nkernel @k : kernel {" + fields + "} {\n  sink\n}\n";
  };
  const auto print = [](const std::string& given) {
    Diagnostics diagnostics;
    const auto module = ParseModule(given, "m.uop", diagnostics);
    EXPECT_TRUE(module) << diagnostics.ToString();
    return module ? PrintModule(*module) : "";
  };
  const std::string list = " = [local(i0, 4), unroll(r0)]";
  EXPECT_EQ(print(text("opts" + list)), print(text("schedule" + list)));
  EXPECT_EQ(FirstError(text("schedule" + list + ", opts" + list)),
            "f.uop:4:60: error: field 'opts' is given twice");
}

TEST(Parser, EveryPrefixOfAModuleIsRefusedOrRead) {
  const auto text = ReadTextFile("ir/text/corpus/tensor.uop");
  ASSERT_TRUE(text.ok());
  size_t read = 0;
  for (size_t n = 0; n < text->size(); ++n) {
    Diagnostics diags;
    const auto module = ParseModule(std::string_view(*text).substr(0, n), "f.uop", diags);
    ASSERT_EQ(module == nullptr, diags.has_errors()) << n;
    if (module) ++read;
  }
  // A prefix is complete at the end of the module line and between two items.
  EXPECT_GT(read, 5u);
  EXPECT_LT(read, 100u);
}

TEST(Parser, CaretPointsAtTheColumn) {
  Diagnostics diags;
  ParseModule("tg 1\nmodule @m\ngraph @g {\n\t%0 = ad %1\n  sink\n}\n", "f.uop", diags);
  EXPECT_EQ(diags.ToString(),
            "f.uop:4:7: error: unknown op 'ad'; did you mean 'add'?\n"
            "\t%0 = ad %1\n"
            "\t     ^\n");
}

TEST(Parser, ErrorsAreCountedBeyondTheLimit) {
  std::string text = "tg 1\nmodule @m\ngraph @g {\n";
  for (int i = 0; i < 100; ++i) text += "  nonsense\n";
  Diagnostics diags(3);
  ParseModule(text + "  sink\n}\n", "f.uop", diags);
  EXPECT_EQ(diags.errors().size(), 3u);
  EXPECT_TRUE(diags.full());
  EXPECT_EQ(diags.num_errors(), 100u);
  EXPECT_NE(diags.ToString().find("\nand 97 more errors\n"), std::string::npos);
}

// Errors of all kinds are counted up to the end of the text.
TEST(Parser, ErrorsAreCountedInAllBodies) {
  std::string text = "tg 1\nmodule @m\n";
  for (int g = 0; g < 2; ++g) {
    text += "graph @g" + std::to_string(g) + " {\n  %a = neg %none : f32\n  %b = neg %c : f32\n" +
            "  %c = neg %b : f32\n  %d = buffer @none" + std::to_string(g) +
            " : f32\n  sink %a, %b, %c, %d\n}\n";
  }
  Diagnostics all(100), one(1);
  ParseModule(text, "f.uop", all);
  EXPECT_EQ(all.num_errors(), 6u);  // per body: an undefined name, a cycle, an undeclared buffer
  ParseModule(text, "f.uop", one);
  EXPECT_EQ(one.num_errors(), 6u);
  Diagnostics five(5);
  ParseModule(text, "f.uop", five);
  EXPECT_NE(five.ToString().find("\nand 1 more error\n"), std::string::npos);
}

TEST(Parser, ErrorsDoNothingToATerminal) {
  Diagnostics diags;
  ParseModule("tg 1\nmodule @m\nbuffer @x : \x1b[31mf32 \xff\xc3\xa4\xc2\x9b \xe2\x82\n", "f.uop",
              diags);
  const std::string text = diags.ToString();
  EXPECT_EQ(Printable(text), text);
  EXPECT_NE(text.find("buffer @x : \\x1b[31mf32 \\xff\xc3\xa4\\xc2\\x9b \\xe2\\x82\n"),
            std::string::npos)
      << text;
  // The caret is below the right column even if characters take several bytes.
  Diagnostics wide;
  ParseModule("tg 1\nmodule @m\ngraph @g {\n  // \xc3\xa4\n  %a = neg %\xc3\xa4 : f32\n  sink\n}\n",
              "f.uop", wide);
  EXPECT_NE(wide.ToString().find("%a = neg %\xc3\xa4 : f32\n           ^\n"), std::string::npos)
      << wide.ToString();
}

TEST(Printable, EscapesControlsAndBrokenCharacters) {
  EXPECT_EQ(Printable("a\tb\n"), "a\tb\n");
  EXPECT_EQ(Printable(std::string_view("\0\x7f\x1b", 3)), "\\x00\\x7f\\x1b");
  EXPECT_EQ(Printable("\xe2\x82\xac \xf0\x9f\x99\x82"), "\xe2\x82\xac \xf0\x9f\x99\x82");
  EXPECT_EQ(Printable("\xe2\x82"), "\\xe2\\x82");           // a truncated sequence
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");           // an overlong encoding
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");           // a control character
}

TEST(Parser, CommentsBlanksAndLineEnds) {
  const auto module = Parse(
      "// RUN: nothing\n\ntg 1 // version\r\n\n  module   @m{ }\r\n\n// x\ngraph @g{//\n\n"
      "%a=const 1:i32//one\n  // two\n sink %a : void\n\n}//\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(PrintModule(*module),
            "tg 1\nmodule @m\n\ngraph @g {\n  %a = const 1 : i32\n  sink %a\n}\n");
}

TEST(Parser, UnreachableStatementsAreDropped) {
  const auto module = Parse(
      "tg 1\nmodule @m\ngraph @g {\n  %3 = const 1 : i32\n  %7 = const 2 : i32\n  sink %7\n}\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(PrintGraph(*module->graphs[0]), "graph @g {\n  %0 = const 2 : i32\n  sink %0\n}\n");
  EXPECT_NE(FirstError("tg 1\nmodule @m\ngraph @g {\n  %3 = cnst 1 : i32\n  sink\n}\n"), "");
}

TEST(Parser, EqualStatementsAreOneNodeWithTheFirstName) {
  const auto module = Parse(
      "tg 1\nmodule @m\ngraph @g {\n  %a = const 1 : i32\n  %b = const 1 : i32\n"
      "  %0 = add %a, %b : i32\n  sink %0\n}\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(PrintGraph(*module->graphs[0]),
            "graph @g {\n  %a = const 1 : i32\n  %0 = add %a, %a : i32\n  sink %0\n}\n");
}

TEST(Parser, LocationsAreThoseOfTheOps) {
  const auto module = Parse("tg 1\nmodule @m\ngraph @g {\n  %a = const 1 : i32\n  sink %a\n}\n");
  ASSERT_TRUE(module);
  const Body& body = module->graphs[0]->body;
  const Location loc = body.side.loc(body.root->src(0));
  EXPECT_EQ(loc.line, 4u);
  EXPECT_EQ(loc.column, 8u);
  EXPECT_EQ(module->graphs[0]->loc.line, 3u);
  EXPECT_EQ(module->path, "f.uop");
}

TEST(Parser, LongNumbersAreNames) {
  const auto module = Parse(
      "tg 1\nmodule @m\ngraph @g {\n  %99999999999999999999999 = const 1 : i32\n"
      "  %4000000000 = neg %99999999999999999999999 : i32\n  sink %4000000000\n}\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(PrintGraph(*module->graphs[0]),
            "graph @g {\n  %0 = const 1 : i32\n  %1 = neg %0 : i32\n  sink %1\n}\n");
}

TEST(Parser, ReadModuleFile) {
  const auto module = ReadModuleFile("ir/text/corpus/linear.uop");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ((*module)->name, "linear");
  const auto missing = ReadModuleFile("ir/text/no.uop");
  EXPECT_EQ(missing.status().message(), "error: ir/text/no.uop: No such file or directory");
  const auto folder = ReadModuleFile("ir/text/corpus");
  EXPECT_FALSE(folder.ok());
}

}  // namespace
}  // namespace tg
