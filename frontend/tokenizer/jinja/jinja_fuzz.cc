// Checks for any bytes that the reader refuses them with one line and a location, or renders them
// as a template within the limits.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "frontend/tokenizer/jinja/program.h"

namespace tg::jinja {
namespace {

Value Text(const char* text) { return Value::String(text); }

Value Message(const char* role, Value content) {
  return Value::Of(Dict{{Text("role"), Text(role)}, {Text("content"), std::move(content)}});
}

// What templates of chats and snippets ask for.
Value MakeVariables() {
  Value part = Value::Of(Dict{{Text("type"), Text("text")}, {Text("text"), Text("Hi\xFF there ")}});
  Value function =
      Value::Of(Dict{{Text("name"), Text("f")},
                     {Text("arguments"), Value::Of(Dict{{Text("x"), Value::Float(0.5)}})},
                     {Text("parameters"), Value::Of(Dict())}});
  Value tool = Value::Of(Dict{{Text("type"), Text("function")}, {Text("function"), function}});
  List messages = {Message("system", Text(" Be \"brief\".\n")), Message("user", Text("What's é?")),
                   Message("assistant", Text("<think>\nhm\n</think>\nA letter. ")),
                   Message("user", Value::Of(List{std::move(part)}))};
  return Value::Of(
      Dict{{Text("messages"), Value::Of(std::move(messages))},
           {Text("tools"), Value::Of(List{std::move(tool)})},
           {Text("add_generation_prompt"), Value::Bool(true)},
           {Text("bos_token"), Text("<s>")},
           {Text("eos_token"), Text("</s>")},
           {Text("items"), Value::Of(List{Value::Int(3), Value::Int(-1), Value::None()})},
           {Text("n"), Value::Int(3)}});
}

}  // namespace
}  // namespace tg::jinja

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& variables = *new tg::jinja::Value(tg::jinja::MakeVariables());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = tg::jinja::Program::Parse(text);
  const auto is_error = [](const absl::Status& status) {
    return status.message().substr(0, 5) == "line ";
  };
  if (!program.ok()) {
    TG_CHECK(is_error(program.status()));
    return 0;
  }
  const auto rendered =
      (*program)->Render(variables, 0, {.steps = 20'000, .bytes = uint64_t{1} << 22});
  TG_CHECK(rendered.ok() || is_error(rendered.status()));
  return 0;
}
