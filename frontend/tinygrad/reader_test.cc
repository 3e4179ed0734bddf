// Tests of the notation alone: accepted texts, their parts, and the locations of syntax errors.
#include "frontend/tinygrad/reader.h"

#include <cmath>
#include <string>

#include "gtest/gtest.h"

namespace tg::tinygrad {
namespace {

constexpr char kShared[] = R"(UOp(Ops.ADD, dtypes.float, arg=None, src=(
  x0:=UOp(Ops.CONST, dtypes.float, arg=-0.5, src=()),
   x0,)))";

TEST(ReaderTest, SharedNodesAreOneNode) {
  Diagnostics diags;
  const auto text = ReadText(kShared, diags);
  ASSERT_NE(text, nullptr) << diags.ToString();
  ASSERT_EQ(text->roots.size(), 1u);
  EXPECT_EQ(text->nodes.size(), 2u);
  const Node& add = *text->roots[0];
  EXPECT_EQ(add.op, "ADD");
  ASSERT_EQ(add.num_srcs, 2u);
  EXPECT_EQ(add.src(0), add.src(1));
  EXPECT_EQ(add.src(0)->arg.real, -0.5);
  EXPECT_EQ(add.src(0)->loc.line, 2u);
  EXPECT_EQ(add.src(0)->loc.column, 7u);
}

// The argument of a CONST whose argument is written `text`.
Value Argument(const std::string& text, std::unique_ptr<Text>& keep, std::string& source) {
  Diagnostics diags;
  source = "UOp(Ops.CONST, dtypes.float, arg=" + text + ", src=())";
  keep = ReadText(source, diags);
  EXPECT_NE(keep, nullptr) << diags.ToString();
  return keep ? keep->roots[0]->arg : Value();
}

TEST(ReaderTest, Values) {
  std::unique_ptr<Text> keep;
  std::string source;
  EXPECT_EQ(Argument("None", keep, source).kind, Kind::kNone);
  EXPECT_EQ(Argument("True", keep, source).number, 1);
  EXPECT_EQ(Argument("-12", keep, source).number, -12);
  EXPECT_EQ(Argument("18446744073709551615", keep, source).number, -1);
  EXPECT_EQ(Argument("1e-30", keep, source).real, 1e-30);
  EXPECT_TRUE(std::signbit(Argument("-0.0", keep, source).real));
  EXPECT_TRUE(std::isnan(Argument("nan", keep, source).real));
  EXPECT_EQ(Argument("-inf", keep, source).real, -INFINITY);
  EXPECT_EQ(Unquote(Argument(R"('a\'b\n\x41"')", keep, source).text()), "a'b\nA\"");
  EXPECT_EQ(Unquote(Argument(R"("it's")", keep, source).text()), "it's");
  EXPECT_EQ(Unquote(Argument(R"('\u00e9')", keep, source).text()), "\xc3\xa9");
  EXPECT_EQ(Argument("()", keep, source).list().size(), 0u);
  EXPECT_EQ(Argument("((1, 2),)", keep, source).list()[0].value.list()[1].value.number, 2);
  EXPECT_TRUE(Argument("<Ops.ADD: 48>", keep, source).is_name("Ops.ADD"));
  EXPECT_EQ(Argument("<Kernel 3 SINK(<Ops.STORE: 45>,) (add,)>", keep, source).kind, Kind::kOpaque);
  const Value call = Argument("View(shape=(2, 3), mask=None)", keep, source);
  ASSERT_TRUE(call.is_call("View"));
  EXPECT_EQ(FindItem(call, "shape")->list().size(), 2u);
  EXPECT_EQ(FindItem(call, "offset"), nullptr);
}

TEST(ReaderTest, MethodsKeepTheirReceivers) {
  std::unique_ptr<Text> keep;
  std::string source;
  const Value v = Argument("dtypes.float.vec(4).ptr(16, local=True)", keep, source);
  ASSERT_TRUE(v.is_call(".ptr"));
  ASSERT_EQ(v.list().size(), 3u);
  EXPECT_TRUE(v.list()[0].value.is_call("dtypes.float.vec"));
  EXPECT_EQ(v.list()[1].value.number, 16);
  EXPECT_EQ(v.list()[2].key, "local");
}

TEST(ReaderTest, ArgumentsNameTheirOwnNodes) {
  const std::string text =
      R"(UOp(Ops.RESHAPE, dtypes.float, arg=(UOp(Ops.ADD, dtypes.int, arg=None, src=(
  x0:=UOp(Ops.CONST, dtypes.int, arg=1, src=()),
   x0,)), 4), src=(
  x0:=UOp(Ops.CONST, dtypes.float, arg=2.0, src=()),
   x0,)))";
  Diagnostics diags;
  const auto result = ReadText(text, diags);
  ASSERT_NE(result, nullptr) << diags.ToString();
  const Node& root = *result->roots[0];
  EXPECT_EQ(root.src(1)->arg.real, 2.0);
  const Node* extent = root.arg.list()[0].value.node;
  EXPECT_TRUE(extent->in_arg);
  EXPECT_EQ(extent->src(1)->arg.number, 1);
  EXPECT_FALSE(root.src(0)->in_arg);
}

TEST(ReaderTest, SeveralRootsAndComments) {
  const std::string text =
      std::string("# one\n") + kShared + "\n# two\n[" + kShared + ", " + kShared + "]\n";
  Diagnostics diags;
  const auto result = ReadText(text, diags);
  ASSERT_NE(result, nullptr) << diags.ToString();
  EXPECT_EQ(result->roots.size(), 3u);
  ASSERT_EQ(result->comments.size(), 2u);
  EXPECT_EQ(result->comments[1].text, " two");
  EXPECT_EQ(result->comments[1].loc.line, 5u);
}

TEST(ReaderTest, DepthCostsNoStack) {
  std::string text;
  const int depth = 200000;
  for (int i = 0; i < depth; ++i) text += "UOp(Ops.NEG, dtypes.float, arg=None, src=(";
  text += "UOp(Ops.CONST, dtypes.float, arg=1.0, src=())";
  for (int i = 0; i < depth; ++i) text += ",))";
  Diagnostics diags;
  const auto result = ReadText(text, diags);
  ASSERT_NE(result, nullptr) << diags.ToString();
  EXPECT_EQ(result->nodes.size(), depth + 1u);
}

struct BadText {
  std::string text, message;
};

TEST(ReaderTest, ErrorsHaveLineAndColumn) {
  const BadText cases[] = {
      {"", "t:1:1: error: there is no UOp in this text"},
      {"tg 1\n", "t:1:1: error: expected UOp(Ops..., found 'tg'"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=(\n  ",
       "t:1:43: error: the text ends here, but '(' of line 1, column 42 is still open"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=())\nUOp(Ops.ADD, dtyp",
       "t:2:18: error: the text ends here, but 'UOp(' of line 2, column 1 is still open"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=(\n   x4,))",
       "t:2:4: error: x4 is not defined above"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=(1,))", "t:1:1: error: source 0 is no UOp"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=()",
       "t:1:44: error: the text ends here, but 'UOp(' of line 1, column 1 is still open"},
      {"UOp(Ops.ADD, dtypes.float, arg=None)", "t:1:1: error: UOp without src"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, shape=(), src=())",
       "t:1:1: error: UOp of a form that is not known: unexpected 'shape'"},
      {"UOp(ADD, dtypes.float, arg=None, src=())",
       "t:1:1: error: expected UOp(Ops.NAME, dtype, arg=..., src=(...))"},
      {"UOp(Ops.ADD, dtypes.float, arg='abc, src=())", "t:1:32: error: the string does not end"},
      {"UOp(Ops.ADD, dtypes.float, arg=<Ops.ADD, src=())", "t:1:32: error: '<' without its '>'"},
      {"UOp(Ops.ADD, dtypes.float, arg=1.2.3, src=())", "t:1:32: error: '1.2.3' is no number"},
      {"UOp(Ops.ADD, dtypes.float, arg=(1 2), src=())",
       "t:1:35: error: expected ',' or ')', found '2'"},
      {"UOp(Ops.ADD, dtypes.float, arg=, src=())", "t:1:32: error: expected a value, found ','"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=(x0:=x0,))",
       "t:1:47: error: x0 is not defined above"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=(x0:=(),))",
       "t:1:47: error: expected UOp( behind ':='"},
      {"x0:=", "t:1:5: error: the text ends after ':='"},
      {"UOp(Ops.ADD, dtypes.float, arg=None, src=()) \x01",
       "t:1:46: error: expected a value, found byte 1"},
  };
  for (const BadText& c : cases) {
    Diagnostics diags;
    diags.SetSource(c.text, "t");
    EXPECT_EQ(ReadText(c.text, diags), nullptr) << c.text;
    ASSERT_EQ(diags.num_errors(), 1u) << c.text << diags.ToString();
    EXPECT_EQ(diags.errors()[0].FirstLine(), c.message) << c.text;
  }
}

// Every proper prefix of a text is an error.
TEST(ReaderTest, EveryPrefixIsAnError) {
  const std::string text = kShared;
  for (size_t n = 0; n < text.size(); ++n) {
    Diagnostics diags;
    diags.SetSource(std::string_view(text).substr(0, n), "t");
    EXPECT_EQ(ReadText(std::string_view(text).substr(0, n), diags), nullptr) << n;
    ASSERT_EQ(diags.num_errors(), 1u) << n;
    EXPECT_GE(diags.errors()[0].loc.line, 1u) << n;
  }
}

}  // namespace
}  // namespace tg::tinygrad
