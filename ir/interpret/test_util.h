// Running modules given as text, in tests.
#ifndef TG_IR_INTERPRET_TEST_UTIL_H_
#define TG_IR_INTERPRET_TEST_UTIL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/interpret/run.h"
#include "ir/text/testing.h"

namespace tg::interpret {

// The buffers that graph @main writes.
inline HostBuffers RunText(const std::string& text, const HostBuffers& inputs,
                           const VarValues& vars = {}) {
  auto module = ParseOrFail(text);
  if (!module) return {};
  auto result = Interpret(*module, "main", inputs, vars);
  if (!result.ok()) {
    ADD_FAILURE() << result.status().message();
    return {};
  }
  return *std::move(result);
}

// The error message of running graph @main, or "ok".
inline std::string RunError(const std::string& text, const HostBuffers& inputs,
                            const VarValues& vars = {}) {
  auto module = ParseOrFail(text);
  if (!module) return "does not parse";
  auto result = Interpret(*module, "main", inputs, vars);
  return result.ok() ? "ok" : std::string(result.status().message());
}

inline HostBuffer F32(std::vector<int64_t> shape, const std::vector<double>& values) {
  return BufferOf(Scalar::kF32, std::move(shape), values);
}
inline HostBuffer I32(std::vector<int64_t> shape, const std::vector<double>& values) {
  return BufferOf(Scalar::kI32, std::move(shape), values);
}

// Output @y as numbers.
inline std::vector<double> RunY(const std::string& text, const HostBuffers& inputs,
                                const VarValues& vars = {}) {
  const HostBuffers out = RunText(text, inputs, vars);
  const auto y = out.find("y");
  return y == out.end() ? std::vector<double>{} : ToDoubles(y->second);
}

// A module whose graph @main runs one kernel `body` (its header's stage and its nodes) on output @y
// and input @x.
inline std::string KernelText(const std::string& y, const std::string& x, const std::string& stage,
                              const std::string& body) {
  const auto element = [](const std::string& type) { return type.substr(0, type.find('[')); };
  return "tg 1\nmodule @test\nbuffer @y : " + y + " output\nbuffer @x : " + x +
         " input\ngraph @main {\n  %y = buffer @y : " + element(y) +
         "\n  %x = buffer @x : " + element(x) +
         "\n  %k = kernel @k(%y, %x)\n  %a = assign %y, %k : " + element(y) +
         "\n  sink %a\n}\nkernel @k : " + stage + " {\n" + body + "}\n";
}

using Numbers = std::vector<double>;

// What is common to the lowered kernels below: y and x of 8 elements, one work-item each.
inline const char* const kHead = R"(  %y = define_global {arg = 0} : ptr<f32, 8>
  %x = define_global {arg = 1} : ptr<f32, 8>
  %c0 = const 0 : index
  %c1 = const 1 : index
  %c2 = const 2 : index
  %c4 = const 4 : index
  %c7 = const 7 : index
  %c8 = const 8 : index
  %zero = const 0.0 : f32
)";
inline const HostBuffers kX8 = {{"x", F32({8}, {1, 2, 3, 4, 5, 6, 7, 8})}};

inline std::string KernelOfX(const std::string& stage, const std::string& nodes) {
  return KernelText("f32[8]", "f32[8]", stage, kHead + nodes);
}
inline Numbers YOf(const std::string& nodes) { return RunY(KernelOfX("lowered", nodes), kX8); }
inline std::string Error(const std::string& nodes) {
  const std::string message = RunError(KernelOfX("lowered", nodes), kX8);
  const size_t at = message.find("kernel @k, line ");
  return at == std::string::npos ? message : message.substr(message.find(": ", at) + 2);
}

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_TEST_UTIL_H_
