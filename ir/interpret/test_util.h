// Running modules given as text, in tests.
#ifndef TG_IR_INTERPRET_TEST_UTIL_H_
#define TG_IR_INTERPRET_TEST_UTIL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/interpret/run.h"
#include "ir/text/parser.h"

namespace tg {

inline std::unique_ptr<Module> ParseOrDie(const std::string& text) {
  Diagnostics diagnostics;
  auto module = ParseModule(text, "test.uop", diagnostics);
  if (!module) ADD_FAILURE() << diagnostics.ToString();
  return module;
}

// The buffers that graph @main writes.
inline HostBuffers RunText(const std::string& text, const HostBuffers& inputs,
                           const VarValues& vars = {}) {
  auto module = ParseOrDie(text);
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
  auto module = ParseOrDie(text);
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

}  // namespace tg

#endif  // TG_IR_INTERPRET_TEST_UTIL_H_
