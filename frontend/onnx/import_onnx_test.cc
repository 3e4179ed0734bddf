// Whole models, written byte by byte.
#include "frontend/onnx/import_onnx.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "ir/text/printer.h"

namespace tg::onnx {
namespace {

std::string Varint(uint64_t n) {
  std::string out;
  for (; n > 127; n >>= 7) out += static_cast<char>((n & 127) | 128);
  return out + static_cast<char>(n);
}
std::string Number(uint64_t field, uint64_t n) { return Varint(field << 3) + Varint(n); }
std::string Bytes(uint64_t field, std::string_view bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

std::string Named(std::string_view name, std::string_view rest) {
  return Bytes(1, name) + std::string(rest);
}
std::string TypedValue(uint64_t type, std::string_view name, std::initializer_list<uint64_t> dims) {
  std::string shape;
  for (const uint64_t d : dims) shape += Bytes(1, Number(1, d));
  return Named(name, Bytes(2, Bytes(1, Number(1, type) + Bytes(2, shape))));
}
std::string FloatValue(std::string_view name, std::initializer_list<uint64_t> dims) {
  return TypedValue(1, name, dims);
}
std::string Node(std::string_view op, std::string_view input, std::string_view output,
                 std::string_view rest = {}) {
  return (input.empty() ? "" : Bytes(1, input)) + Bytes(2, output) + Bytes(4, op) +
         std::string(rest);
}
std::string Model(std::string_view graph, std::string_view rest = {}) {
  return Number(1, 8) + Bytes(8, Bytes(1, "") + Number(2, 17)) + Bytes(7, graph) +
         std::string(rest);
}
// Attribute `name` of a node, whose value is what the call has as `ref`, or an int.
std::string Reference(std::string_view name, std::string_view ref) {
  return Bytes(5, Named(name, Bytes(21, ref) + Number(20, 2)));
}
std::string IntAttribute(std::string_view name, uint64_t n) {
  return Bytes(5, Named(name, Number(3, n) + Number(20, 2)));
}

// The type of a sequence or an optional (its field in TypeProto) of f32 vectors of extent N.
std::string Of(uint64_t kind, std::string_view inner) { return Bytes(kind, Bytes(1, inner)); }
std::string VectorType() { return Bytes(1, Number(1, 1) + Bytes(2, Bytes(1, Bytes(2, "N")))); }

std::string Import(const std::string& bytes, const OnnxImportOptions& options = {}) {
  const auto module = ImportOnnx(bytes, "folder/m.onnx", options);
  return module.ok() ? PrintModule(**module) : std::string(module.status().message());
}

// Weights stay in the file also where a node holds them.
TEST(ImportOnnx, LargeConstantsStayInTheFile) {
  const auto with = [](uint64_t count) {
    const std::string tensor =
        Number(1, count) + Number(2, 1) + Bytes(9, std::string(count * 4, '\5'));
    const std::string value = Bytes(5, Named("value", Bytes(5, tensor) + Number(20, 4)));
    return Model(Bytes(1, Node("Constant", "", "w", value)) + Bytes(1, Node("Relu", "w", "y")) +
                 Bytes(12, FloatValue("y", {count})));
  };
  const std::string large = with(5000);
  const std::string at = std::to_string(large.find(std::string(20000, '\5')));
  EXPECT_NE(Import(large).find("@w : f32[5000] param = file(\"m.onnx\", " + at), std::string::npos)
      << Import(large).substr(0, 500);
  EXPECT_EQ(Import(with(8)).find("m.onnx"), std::string::npos);
}

// A weight that is named is a param of its name, also where it is small and its elements are equal.
TEST(ImportOnnx, WeightsThatAreTrained) {
  const std::string tensor =
      Number(1, 8) + Number(2, 1) + Bytes(8, "w") + Bytes(9, std::string(32, '\5'));
  const std::string model =
      Model(Bytes(5, tensor) + Bytes(1, Node("Relu", "w", "y")) + Bytes(12, FloatValue("y", {8})));
  EXPECT_EQ(Import(model).find("buffer @w"), std::string::npos);
  OnnxImportOptions options;
  options.weights = {"w"};
  const std::string at = std::to_string(model.find(std::string(32, '\5')));
  EXPECT_NE(Import(model, options).find("@w : f32[8] param = file(\"m.onnx\", " + at),
            std::string::npos)
      << Import(model, options);
}

// So is the value of a Constant node, by the name of the node's output.
TEST(ImportOnnx, ConstantsThatAreTrained) {
  const std::string tensor =
      Number(1, 8) + Number(2, 1) + Bytes(8, "t") + Bytes(9, std::string(32, '\5'));
  const std::string value = Bytes(5, Bytes(1, "value") + Bytes(5, tensor) + Number(20, 4));
  const std::string model =
      Model(Bytes(1, Bytes(2, "w") + Bytes(4, "Constant") + value) +
            Bytes(1, Node("Relu", "w", "y")) + Bytes(12, FloatValue("y", {8})));
  OnnxImportOptions options;
  options.weights = {"w"};
  EXPECT_NE(Import(model, options).find("@w : f32[8] param = file(\"m.onnx\", "), std::string::npos)
      << Import(model, options);
  EXPECT_EQ(Import(model).find("buffer @w"), std::string::npos) << Import(model);
}

TEST(ImportOnnx, FunctionsTakeAttributesOfTheirCalls) {
  const std::string function =
      Bytes(25, Bytes(1, "F") + Bytes(4, "a") + Bytes(5, "b") +
                    Bytes(7, Node("Concat", "a", "b", Bytes(1, "a") + Reference("axis", "along"))) +
                    Bytes(10, "f"));
  const auto with = [&](uint64_t axis) {
    return Import(Model(Bytes(1, Node("F", "x", "y", IntAttribute("along", axis) + Bytes(7, "f"))) +
                            Bytes(11, FloatValue("x", {2, 3})) + Bytes(12, FloatValue("y", {2, 3})),
                        function));
  };
  EXPECT_NE(with(0).find("f32[4, 3] output"), std::string::npos) << with(0);
  EXPECT_NE(with(1).find("f32[2, 6] output"), std::string::npos) << with(1);
}

// Softmaxes of halves need not be rounded between their kernels.
TEST(ImportOnnx, SoftmaxesOfHalvesAreWide) {
  const auto with = [](uint64_t type, std::string_view op) {
    return Import(Model(Bytes(1, Node(op, "x", "y")) + Bytes(11, TypedValue(type, "x", {2, 3})) +
                        Bytes(12, TypedValue(type, "y", {2, 3}))));
  };
  constexpr uint64_t kFloat = 1, kHalf = 10;
  EXPECT_NE(with(kHalf, "Softmax").find("\"wide-halves\""), std::string::npos)
      << with(kHalf, "Softmax");
  EXPECT_EQ(with(kFloat, "Softmax").find("wide"), std::string::npos);
  EXPECT_EQ(with(kHalf, "Neg").find("wide"), std::string::npos);
}

// A size that is at least and at most 1 is no variable.
TEST(ImportOnnx, SizesOfAtMostOneAreNumbers) {
  const std::string shape = Bytes(1, Bytes(2, "n"));
  const std::string x = Named("x", Bytes(2, Bytes(1, Number(1, 1) + Bytes(2, shape))));
  const std::string model =
      Model(Bytes(1, Node("Relu", "x", "y")) + Bytes(11, x) + Bytes(12, FloatValue("y", {})));
  OnnxImportOptions options;
  options.max_sizes["n"] = 1;
  EXPECT_NE(Import(model, options).find("@x : f32[1] input"), std::string::npos)
      << Import(model, options);
  options.max_sizes["n"] = 2;
  EXPECT_NE(Import(model, options).find("var @n : [1, 2]"), std::string::npos)
      << Import(model, options);
}

// The places of pieces with open sizes add up to the extent of the whole, so that no differences of
// sizes and no expand make it appear as something else.
TEST(ImportOnnx, PiecesWithOpenSizesAddUp) {
  const auto open = [](std::string_view name, std::string_view size) {
    const std::string shape = Bytes(1, Bytes(2, size)) + Bytes(1, Number(1, 3));
    return Named(name, Bytes(2, Bytes(1, Number(1, 1) + Bytes(2, shape))));
  };
  const std::string axis = Bytes(5, Named("axis", Number(3, 0) + Number(20, 2)));
  const std::string text = Import(Model(
      Bytes(1, Node("Concat", "past", "y", Bytes(1, "now") + axis)) + Bytes(11, open("past", "p")) +
      Bytes(11, open("now", "n")) + Bytes(12, FloatValue("y", {}))));
  EXPECT_NE(text.find("add(@p, @n)"), std::string::npos) << text;
  EXPECT_EQ(text.find("expand"), std::string::npos) << text;
  EXPECT_EQ(text.find("= sub"), std::string::npos) << text;
}

// A function that is called twice does not call itself.
TEST(ImportOnnx, FunctionsMayBeCalledTwice) {
  const std::string function = Bytes(25, Bytes(1, "F") + Bytes(4, "a") + Bytes(5, "b") +
                                             Bytes(7, Node("Neg", "a", "b")) + Bytes(10, "f"));
  const std::string text = Import(Model(
      Bytes(1, Node("F", "x", "t", Bytes(7, "f"))) + Bytes(1, Node("F", "t", "y", Bytes(7, "f"))) +
          Bytes(11, FloatValue("x", {2})) + Bytes(12, FloatValue("y", {2})),
      function));
  EXPECT_NE(text.find("sink"), std::string::npos) << text;
}

// A batch norm of nothing but weights becomes part of the convolution that it alone reads.
TEST(ImportOnnx, BatchNormsAreFoldedIntoConvolutions) {
  const auto node = [](std::string_view op, std::initializer_list<std::string_view> inputs,
                       std::string_view output) {
    std::string text;
    for (const std::string_view input : inputs) text += Bytes(1, input);
    return Bytes(1, text + Bytes(2, output) + Bytes(4, op));
  };
  const auto weight = [](std::string_view name, std::initializer_list<uint64_t> dims) {
    std::string text;
    uint64_t count = 1;
    for (const uint64_t d : dims) {
      text += Number(1, d);
      count *= d;
    }
    std::string numbers;
    for (uint64_t i = 0; i < count; ++i) numbers += std::string("\0\0\0", 3) + char(64 + i);
    return Bytes(5, text + Number(2, 1) + Bytes(8, name) + Bytes(9, numbers));
  };
  // Whether the convolution's own result is computed.
  const auto has_conv = [&](std::string_view norm, std::string_view rest) {
    const std::string text = Import(
        Model(node("Conv", {"x", "w"}, "c") +
              node("BatchNormalization", {"c", norm, "b", "m", "v"}, "y") + std::string(rest) +
              weight("w", {2, 3, 1, 1}) + weight("s", {2}) + weight("b", {2}) + weight("m", {2}) +
              weight("v", {2}) + Bytes(11, FloatValue("x", {1, 3, 4, 4})) +
              Bytes(11, FloatValue("t", {2})) + Bytes(12, FloatValue("y", {1, 2, 4, 4}))));
    EXPECT_NE(text.find("sink"), std::string::npos) << text;
    return text.find("%c = ") != std::string::npos;
  };
  EXPECT_FALSE(has_conv("s", ""));
  EXPECT_TRUE(has_conv("t", ""));  // an input
  EXPECT_TRUE(has_conv("s", Bytes(12, FloatValue("c", {1, 2, 4, 4}))));
  EXPECT_TRUE(has_conv("s", node("Neg", {"c"}, "n") + Bytes(12, FloatValue("n", {1, 2, 4, 4}))));
  // A graph of a node reads it too.
  const std::string graph = node("Neg", {"c"}, "n") + Bytes(12, FloatValue("n", {1, 2, 4, 4}));
  const std::string branch = Number(20, 5) + Bytes(6, graph);
  EXPECT_TRUE(
      has_conv("s", Bytes(1, Bytes(1, "i") + Bytes(2, "z") + Bytes(4, "If") +
                                 Bytes(5, Named("then_branch", branch)) +
                                 Bytes(5, Named("else_branch", branch))) +
                        Bytes(11, Named("i", Bytes(2, Bytes(1, Number(1, 9) + Bytes(2, ""))))) +
                        Bytes(12, FloatValue("z", {1, 2, 4, 4}))));
}

constexpr uint64_t kSequence = 4, kOptional = 9;  // fields of TypeProto

TEST(ImportOnnx, ElementsOfSequencesAreInputsAndOutputs) {
  const std::string type = Bytes(2, Of(kSequence, VectorType()));
  const std::string model = Model(Bytes(1, Node("Identity", "x", "y")) +
                                  Bytes(11, Named("x", type)) + Bytes(12, Named("y", type)));
  EXPECT_EQ(Import(model),
            "folder/m.onnx: 'x': a sequence, whose elements must be given as x.0, x.1 and so on");
  OnnxImportOptions options;
  options.input_shapes["x.0"] = {2};
  options.input_shapes["x.1"] = {3};
  const std::string text = Import(model, options);
  EXPECT_NE(text.find("@x.0 : f32[2] input"), std::string::npos) << text;
  EXPECT_NE(text.find("sink %0 -> @y.0, %1 -> @y.1"), std::string::npos) << text;
  options.input_shapes.clear();
  options.empty_sequences.insert("x");
  EXPECT_EQ(Import(model, options).find("buffer"), std::string::npos) << Import(model, options);
}

TEST(ImportOnnx, AnOptionalIsEmptyUnlessItIsGiven) {
  const std::string model = Model(Bytes(1, Node("OptionalHasElement", "x", "y")) +
                                  Bytes(11, Named("x", Bytes(2, Of(kOptional, VectorType())))) +
                                  Bytes(12, Named("y", Bytes(2, Bytes(1, Number(1, 9))))));
  EXPECT_NE(Import(model).find("const false"), std::string::npos) << Import(model);
  OnnxImportOptions options;
  options.input_shapes["x"] = {2};
  EXPECT_NE(Import(model, options).find("const true"), std::string::npos) << Import(model, options);
}

// Types that nest without end are refused before the stack is.
TEST(ImportOnnx, RefusesDeepTypes) {
  std::string type = VectorType();
  for (int i = 0; i < 1000; ++i) type = Of(i % 2 ? kSequence : kOptional, type);
  EXPECT_EQ(Import(Model(Bytes(1, Node("Identity", "x", "y")) +
                         Bytes(11, Named("x", Bytes(2, type))) + Bytes(12, FloatValue("y", {2})))),
            "folder/m.onnx: not an ONNX model: types nested too deeply");
}

}  // namespace
}  // namespace tg::onnx
