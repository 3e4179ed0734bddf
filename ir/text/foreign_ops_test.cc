#include "ir/text/foreign_ops.h"

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace tg {
namespace {

// The ops in formulas, implemented independently of tg's interpreter.
using Function = std::function<double(const std::vector<double>&)>;
const std::map<std::string, Function>& Meaning() {
  using V = std::vector<double>;
  static const auto& table = *new std::map<std::string, Function>{
      {"exp2", [](const V& v) { return std::exp2(v[0]); }},
      {"log2", [](const V& v) { return std::log2(v[0]); }},
      {"sin", [](const V& v) { return std::sin(v[0]); }},
      {"sqrt", [](const V& v) { return std::sqrt(v[0]); }},
      {"recip", [](const V& v) { return 1 / v[0]; }},
      {"neg", [](const V& v) { return -v[0]; }},
      {"trunc", [](const V& v) { return std::trunc(v[0]); }},
      {"max", [](const V& v) { return std::max(v[0], v[1]); }},
      {"min", [](const V& v) { return std::min(v[0], v[1]); }},
      {"mul", [](const V& v) { return v[0] * v[1]; }},
      {"pow", [](const V& v) { return std::pow(v[0], v[1]); }},
      {"xor", [](const V& v) { return static_cast<double>((v[0] != 0) != (v[1] != 0)); }},
      {"or", [](const V& v) { return static_cast<double>(v[0] != 0 || v[1] != 0); }},
      {"cmplt", [](const V& v) { return static_cast<double>(v[0] < v[1]); }},
      {"cmpne", [](const V& v) { return static_cast<double>(v[0] != v[1]); }},
      {"where", [](const V& v) { return v[0] != 0 ? v[1] : v[2]; }},
      {"mulacc", [](const V& v) { return v[0] * v[1] + v[2]; }},
  };
  return table;
}

// Evaluates a formula for values of x, a, b and c.
class Formula {
 public:
  Formula(std::string_view text, const std::map<std::string, double>& values)
      : text_(text), values_(values) {}

  double Value() {
    const double v = Sum();
    EXPECT_EQ(at_, text_.size()) << text_;
    return v;
  }

 private:
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Accept(char c) { return Peek() == c && ++at_ > 0; }
  double Sum() {
    double v = Product();
    for (;;) {
      if (Accept('+')) {
        v += Product();
      } else if (Accept('-')) {
        v -= Product();
      } else {
        return v;
      }
    }
  }
  double Product() {
    double v = Factor();
    for (;;) {
      if (Accept('*')) {
        v *= Factor();
      } else if (Accept('/')) {
        v /= Factor();
      } else {
        return v;
      }
    }
  }
  double Factor() {
    if (Accept('-')) return -Factor();
    if (Accept('(')) {
      const double v = Sum();
      EXPECT_TRUE(Accept(')')) << text_;
      return v;
    }
    const size_t begin = (Peek(), at_);
    while (at_ < text_.size() && (std::isalnum(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) {
      ADD_FAILURE() << text_;
      at_ = text_.size();
      return 0;
    }
    if (std::isdigit(word[0])) return std::stod(word);
    if (word == "true") return 1;
    if (!Accept('(')) return values_.at(word);
    std::vector<double> arguments;
    do {
      arguments.push_back(Sum());
    } while (Accept(','));
    EXPECT_TRUE(Accept(')')) << text_;
    EXPECT_TRUE(OpFromMnemonic(word)) << word;
    EXPECT_TRUE(Meaning().contains(word)) << word;
    const auto op = OpFromMnemonic(word);
    EXPECT_EQ(arguments.size(), op ? static_cast<size_t>(GetOpInfo(*op).min_sources) : 0) << text_;
    return Meaning().at(word)(arguments);
  }

  std::string_view text_;
  const std::map<std::string, double>& values_;
  size_t at_ = 0;
};

std::vector<std::string> Split(std::string_view names) {
  std::vector<std::string> out(1);
  for (const char c : names) c == ' ' ? void(out.emplace_back()) : out.back().push_back(c);
  return out;
}

TEST(ForeignOps, FormulasHaveTheValuesOfTheFunctions) {
  const std::map<std::string, std::function<double(double)>> unary = {
      {"exp", [](double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log10", [](double x) { return std::log10(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
      {"relu", [](double x) { return x > 0 ? x : 0; }},
      {"abs", [](double x) { return std::abs(x); }},
      {"square", [](double x) { return x * x; }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"reciprocal", [](double x) { return 1 / x; }},
      {"negate", [](double x) { return -x; }},
      {"floor", [](double x) { return std::floor(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
  };
  using Three = std::function<double(double, double, double)>;
  const std::map<std::string, Three> ternary = {
      {"cmpeq", [](double a, double b, double) { return a == b; }},
      {"ne", [](double a, double b, double) { return a != b; }},
      {"lt", [](double a, double b, double) { return a < b; }},
      {"cmpgt", [](double a, double b, double) { return a > b; }},
      {"cmple", [](double a, double b, double) { return a <= b; }},
      {"cmpge", [](double a, double b, double) { return a >= b; }},
      {"maximum", [](double a, double b, double) { return std::max(a, b); }},
      {"minimum", [](double a, double b, double) { return std::min(a, b); }},
      {"clip", [](double a, double b, double c) { return std::min(std::max(a, b), c); }},
      {"fma", [](double a, double b, double c) { return a * b + c; }},
      {"power", [](double a, double b, double) { return std::pow(a, b); }},
  };
  const double samples[] = {-2.5, -1, -0.25, 0, 0.5, 1, 3.75};
  for (const ForeignFunction& f : ForeignFunctions()) {
    const std::string name = Split(f.names)[0];
    const auto one = unary.find(name);
    const auto three = ternary.find(name);
    ASSERT_NE(one == unary.end(), three == ternary.end()) << name << " has no reference here";
    for (const double a : samples) {
      for (const double b : samples) {
        for (const double c : samples) {
          const double expected = one == unary.end() ? three->second(a, b, c) : one->second(a);
          const double actual =
              Formula(f.formula, {{"x", a}, {"a", a}, {"b", b}, {"c", c}}).Value();
          if (std::isnan(expected)) continue;
          if (std::isinf(expected)) {
            EXPECT_EQ(actual, expected) << name << " of " << a;
          } else {
            EXPECT_NEAR(actual, expected, 1e-12 * (1 + std::abs(expected))) << name << " of " << a;
          }
        }
      }
    }
  }
}

TEST(ForeignOps, NamesAreOnceThereAndNoOps) {
  std::set<std::string> seen;
  const auto check = [&](std::string_view names) {
    for (const std::string& name : Split(names)) {
      EXPECT_FALSE(OpFromMnemonic(name)) << name;
      EXPECT_TRUE(seen.insert(name).second) << name;
    }
  };
  for (const ForeignFunction& f : ForeignFunctions()) check(f.names);
  for (const ForeignOp& op : ForeignOps()) check(op.names);
}

TEST(ForeignOps, Hints) {
  EXPECT_EQ(GuessOp("exp"), "; write exp2(x * 1.4426950408889634)");
  EXPECT_EQ(GuessOp("Exp"), GuessOp("exp"));
  EXPECT_EQ(GuessOp("sum"), "; write reduce_axis with op = add");
  EXPECT_EQ(GuessOp("cmpeq"), "; write xor(cmpne(a, b), true)");
  EXPECT_EQ(GuessOp("not"), "; write xor with true, of integers with -1");
  // A word that is not a foreign op is treated as a misspelling.
  EXPECT_EQ(GuessOp("ad"), "; did you mean 'add'?");
  EXPECT_EQ(GuessOp("ADD"), "; did you mean 'add'?");
  EXPECT_EQ(GuessOp("exq2"), "; did you mean 'exp2'?");
  EXPECT_EQ(GuessOp("nonsense"), "");
}

TEST(ForeignOps, OldFieldsNameTheNewOnes) {
  for (int i = 0; i < kNumOps; ++i) {
    const OpInfo& info = GetOpInfo(static_cast<Op>(i));
    for (const AttrField& field :
         std::span(info.fields).first(static_cast<size_t>(info.num_fields))) {
      EXPECT_EQ(RenamedField(info.op, field.name), "") << info.mnemonic << " " << field.name;
    }
  }
  EXPECT_EQ(RenamedField(Op::kShrink, "arg"), "ranges");
  EXPECT_EQ(RenamedField(Op::kDefineGlobal, "arg"), "");
}

}  // namespace
}  // namespace tg
