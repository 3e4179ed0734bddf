#include "frontend/tinygrad/uop_mutator.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace tg::tinygrad {
namespace {

constexpr std::string_view kOps[] = {
#define TG_TINYGRAD_OP(name, cls, op) #name,
#include "frontend/tinygrad/ops.def"
#undef TG_TINYGRAD_OP
};
constexpr std::string_view kTypes[] = {
    "dtypes.void",         "dtypes.bool",         "dtypes.int",
    "dtypes.float",        "dtypes.half",         "dtypes.long",
    "dtypes.uchar",        "dtypes.weakint",      "dtypes.weakfloat",
    "dtypes.index",        "dtypes.double",       "dtypes.float.vec(4)",
    "dtypes.int.vec(2)",   "dtypes.float.ptr(8)", "dtypes.int.ptr(16, AddrSpace.LOCAL)",
    "dtypes.int.ptr(-1)",  "dtypes.bool.vec(4)",  "dtypes.imagef((2, 3, 4))",
    "dtypes.bfloat16",     "dtypes.void.vec(2)",  "dtypes.weakint.vec(4)",
    "dtypes.float.ptr(0)", "dtypes.ulong",        "dtypes.void.ptr(4)"};
constexpr std::string_view kNumbers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "4",
                                         "8",
                                         "65536",
                                         "2147483648",
                                         "-2147483649",
                                         "4611686018427387904",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551615"};
constexpr std::string_view kArguments[] = {
    "None",
    "Invalid",
    "0",
    "1",
    "4",
    "-1",
    "True",
    "0.5",
    "nan",
    "'gidx0'",
    "'lidx1'",
    "()",
    "(0,)",
    "(1, 0)",
    "(4,)",
    "(0, 4)",
    "((0, 1),)",
    "((0, 2), (1, 1))",
    "(False, True)",
    "Ops.ADD",
    "<Ops.MAX: 40>",
    "(Ops.ADD, (0,))",
    "(Ops.MUL, 1)",
    "(Ops.ADD, 0)",
    "('gidx0', 4)",
    "('i', 1, 3)",
    "(0, AxisType.REDUCE)",
    "((0, 2),)",
    "ParamArg(0, dtypes.float, device='CL')",
    "ParamArg(1, dtypes.int, addrspace=AddrSpace.LOCAL)",
    "ParamArg(0, dtypes.float, addrspace=AddrSpace.REG)",
    "ParamArg(-1, dtypes.weakint, vmin_vmax=(1, 3), name='p', addrspace=AddrSpace.ALU)",
    "KernelInfo(name='k')",
    "ShapeTracker(views=(View(shape=(2, 2), strides=(1, 0), offset=0, mask=None, "
    "contiguous=False),))",
    "ShapeTracker(views=(View(shape=(4,), strides=(1,), offset=0, mask=((1, 3),), "
    "contiguous=False),))",
    "dtypes.int",
    "ConstFloat(1.0)",
    "'CL'",
    "('CL:0', 'CL:1')",
    "'x'"};

size_t Below(size_t n, std::mt19937& random) { return n == 0 ? 0 : random() % n; }
template <size_t n>
std::string Pick(const std::string_view (&table)[n], std::mt19937& random) {
  return std::string(table[Below(n, random)]);
}

struct Range {
  size_t begin = 0, end = 0;
};

// Finds the printed UOps of a text, with their names (x1:=).
std::vector<Range> FindNodes(std::string_view text) {
  std::vector<Range> nodes;
  std::vector<std::pair<size_t, bool>> open;  // start of the bracket's value; whether it is a UOp
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      const size_t end = text.find(c, i + 1);
      if (end == std::string_view::npos) break;
      i = end;
    } else if (c == '(') {
      const bool is_node = i >= 3 && text.substr(i - 3, 3) == "UOp";
      size_t begin = is_node ? i - 3 : i;
      if (is_node && begin >= 2 && text.substr(begin - 2, 2) == ":=") {
        begin -= 2;
        while (begin > 0 && std::isalnum(static_cast<unsigned char>(text[begin - 1]))) --begin;
      }
      open.emplace_back(begin, is_node);
    } else if (c == ')' && !open.empty()) {
      if (open.back().second) nodes.push_back({open.back().first, i + 1});
      open.pop_back();
    }
  }
  return nodes;
}

// Finds the occurrences of `prefix`, each with the accepted characters that follow it.
template <typename Accepts>
std::vector<Range> FindWords(std::string_view text, std::string_view prefix, Accepts accepts) {
  std::vector<Range> words;
  for (size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    size_t end = at + prefix.size();
    while (end < text.size() && accepts(text[end])) ++end;
    words.push_back({at, end});
  }
  return words;
}

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::vector<Range> FindNumbers(std::string_view text) {
  std::vector<Range> numbers;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsDigit(text[i]) || (i > 0 && IsWordChar(text[i - 1]))) continue;
    size_t end = i;
    while (end < text.size() && IsDigit(text[end])) ++end;
    numbers.push_back({i > 0 && text[i - 1] == '-' ? i - 1 : i, end});
    i = end;
  }
  return numbers;
}

std::vector<Range> FindArguments(std::string_view text) {
  std::vector<Range> arguments;
  for (size_t at = text.find("arg="); at != std::string_view::npos;
       at = text.find("arg=", at + 1)) {
    const size_t end = text.find(", src=", at);
    if (end != std::string_view::npos) arguments.push_back({at + 4, end});
  }
  return arguments;
}

Range PickOf(const std::vector<Range>& ranges, std::mt19937& random) {
  return ranges.empty() ? Range{} : ranges[Below(ranges.size(), random)];
}

std::string At(const std::string& text, Range r) { return text.substr(r.begin, r.end - r.begin); }

void Change(std::string& text, std::mt19937& random) {
  const auto replace = [&](Range r, const std::string& by) {
    if (r.end > r.begin) text.replace(r.begin, r.end - r.begin, by);
  };
  const auto is_type = [](char c) { return IsWordChar(c) || c == '.'; };
  const std::vector<Range> nodes = FindNodes(text);
  const Range node = PickOf(nodes, random);
  switch (random() % 11) {
    case 0:
    case 1:
      return replace(PickOf(FindWords(text, "Ops.", IsWordChar), random),
                     "Ops." + Pick(kOps, random));
    case 2:
      return replace(PickOf(FindWords(text, "dtypes.", is_type), random), Pick(kTypes, random));
    case 3:
    case 4:
      return replace(PickOf(FindNumbers(text), random), Pick(kNumbers, random));
    case 5: {
      const auto arguments = FindArguments(text);
      const std::string other = At(text, PickOf(arguments, random));
      return replace(PickOf(arguments, random),
                     random() % 2 || other.empty() ? Pick(kArguments, random) : other);
    }
    case 6: {  // renames a node
      const auto names = FindWords(text, " x", IsDigit);
      const std::string other = At(text, PickOf(names, random));
      return other.empty() ? void() : replace(PickOf(names, random), other);
    }
    case 7:  // moves a source of another node here
      return replace(node, At(text, PickOf(nodes, random)));
    case 8:  // adds or drops a source
      if (node.end == 0 || node.end >= text.size() || text[node.end] != ',') return;
      if (random() % 2) return replace({node.begin, node.end + 1}, "");
      return text.insert(node.end, ", " + At(text, node)), void();
    case 9:
      return replace(node, "UOp(Ops." + Pick(kOps, random) + ", " + Pick(kTypes, random) +
                               ", arg=" + Pick(kArguments, random) + ", src=(" + At(text, node) +
                               ",))");
    case 10: {  // replaces a node by a name
      const std::string name = At(text, PickOf(FindWords(text, " x", IsDigit), random));
      return name.empty() ? void() : replace(node, name);
    }
  }
}

void AppendRandom(int depth, int& num_names, std::string& out, std::mt19937& random) {
  if (num_names > 0 && random() % 3 == 0) {
    out += " x" + std::to_string(Below(static_cast<size_t>(num_names), random));
    return;
  }
  std::string node = "UOp(Ops." + Pick(kOps, random) + ", " + Pick(kTypes, random) +
                     ", arg=" + Pick(kArguments, random) + ", src=(";
  const size_t count = depth == 0 ? 0 : random() % 4;
  for (size_t i = 0; i < count; ++i) {
    AppendRandom(depth - 1, num_names, node, random);
    node += ",";
  }
  // All sources have names here.
  out += "x" + std::to_string(num_names++) + ":=" + node + "))";
}

}  // namespace

std::string MutateUOps(std::string text, std::mt19937& random) {
  for (size_t changes = 1 + random() % 4; changes > 0; --changes) Change(text, random);
  return text;
}

std::string RandomUOps(std::mt19937& random) {
  std::string text = "UOp(Ops.SINK, dtypes.void, arg=" +
                     std::string(random() % 2 ? "None" : "KernelInfo(name='k')") + ", src=(";
  int num_names = 0;
  for (size_t count = 1 + random() % 2; count > 0; --count) {
    AppendRandom(5, num_names, text, random);
    text += ",";
  }
  return text + "))";
}

}  // namespace tg::tinygrad
