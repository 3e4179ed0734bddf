// Graphs of kernel calls in short notation, in tests.
#ifndef TG_RUNTIME_PLAN_TESTING_H_
#define TG_RUNTIME_PLAN_TESTING_H_

#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace tg::runtime {

// Returns the statements of a graph that calls kernels on buffers of f32: "a t u: x y" calls kernel
// @a, which writes @t and @u and reads @x and @y. Calls are separated by commas. A call sees what
// the calls before it wrote.
inline std::string CallsText(std::string_view calls) {
  std::string statements, sink;
  std::map<std::string, std::string> latest;  // by buffer: the name of its current version
  const auto version = [&](const std::string& buffer) {
    std::string& name = latest[buffer];
    if (name.empty()) {
      name = "%" + buffer;
      statements += "  " + name + " = buffer @" + buffer + " : f32\n";
    }
    return name;
  };
  std::map<std::string, std::string> written;
  int number = 0;
  std::istringstream list{std::string(calls)};
  for (std::string call; std::getline(list, call, ',');) {
    std::istringstream words(call);
    std::string kernel, operands;
    words >> kernel;
    std::map<std::string, std::string> targets;  // the versions before the call
    bool writes = true;
    for (std::string word; words >> word;) {
      const bool is_last_target = word.back() == ':';
      if (is_last_target) word.pop_back();
      const std::string operand = version(word);
      operands += (operands.empty() ? "" : ", ") + operand;
      if (writes) targets[word] = operand;
      writes = writes && !is_last_target;
    }
    const std::string name = "%call" + std::to_string(number++);
    statements += "  " + name + " = kernel @" + kernel + "(" + operands + ")\n";
    for (const auto& [buffer, before] : targets) {
      const std::string after = name + "." + buffer;
      statements += "  " + after + " = assign " + before + ", " + name + " : f32\n";
      latest[buffer] = written[buffer] = after;
    }
  }
  for (const auto& [buffer, name] : written) sink += (sink.empty() ? "" : ", ") + name;
  return statements + "  sink " + sink + "\n";
}

}  // namespace tg::runtime

#endif  // TG_RUNTIME_PLAN_TESTING_H_
