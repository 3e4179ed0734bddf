#include "tools/llm/server_request.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::llm {
namespace {

using testing::HasSubstr;

// The error of a request with these further fields, or an empty text.
std::string ErrorOf(bool is_chat, const std::string& fields) {
  const std::string begin =
      is_chat ? R"({"messages": [{"role": "user", "content": "x"}])" : R"({"prompt": "x")";
  const auto request = ParseServerRequest(begin + ", " + fields + "}", is_chat, {});
  return request.ok() ? "" : std::string(request.status().message());
}

TEST(ServerRequest, FieldsThatAskForNothingAreAccepted) {
  for (
      const char* fields :
      {R"("tools": [], "tool_choice": "auto", "parallel_tool_calls": true)",
       R"("tools": null, "tool_choice": "none", "functions": [], "function_call": "none")",
       R"("response_format": {"type": "text"})", R"("response_format": null)",
       R"("logprobs": false, "top_logprobs": 0)", R"("logprobs": null)",
       R"("frequency_penalty": 0, "presence_penalty": 0.0, "logit_bias": {})",
       R"("store": false, "metadata": {}, "service_tier": "auto", "modalities": ["text"])",
       R"("best_of": 1, "echo": false, "suffix": "", "n": 1)",
       R"("something_new": null, "another": 0)",
       R"("user": "someone", "model": "any", "safety_identifier": "s", "prompt_cache_key": "k")"}) {
    EXPECT_EQ(ErrorOf(true, fields), "");
    EXPECT_EQ(ErrorOf(false, fields), "");
  }
}

TEST(ServerRequest, FieldsThatAskForSomethingAreRefusedByName) {
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"tools", R"([{"type": "function"}])"},
           {"tool_choice", R"("required")"},
           {"response_format", R"({"type": "json_object"})"},
           {"response_format", R"({"type": "text", "strict": true})"},
           {"logprobs", "true"},
           {"top_logprobs", "3"},
           {"frequency_penalty", "0.5"},
           {"presence_penalty", "-1"},
           {"logit_bias", R"({"5": 1})"},
           {"modalities", R"(["text", "audio"])"},
           {"best_of", "2"},
           {"echo", "true"},
           {"suffix", R"("end")"},
           {"store", "true"},
           {"something_new", "1"}}) {
    const std::string field = std::string("\"") + name + "\": " + value;
    const std::string error = std::string("'") + name + "' is not supported";
    EXPECT_EQ(ErrorOf(true, field), error);
    EXPECT_EQ(ErrorOf(false, field), error);
  }
  // The first one by name, whatever the order.
  EXPECT_EQ(ErrorOf(true, R"("store": true, "echo": true)"), "'echo' is not supported");
}

TEST(ServerRequest, ACompletionWithZeroLogprobsAsksForThem) {
  EXPECT_EQ(ErrorOf(true, R"("logprobs": 0)"), "");
  EXPECT_EQ(ErrorOf(false, R"("logprobs": 0)"), "'logprobs' is not supported");
}

TEST(ServerRequest, FieldsBelongToTheirKindOfRequest) {
  EXPECT_EQ(ErrorOf(true, R"("prompt": "y")"), "'prompt' is not supported");
  EXPECT_EQ(ErrorOf(false, R"("messages": [{"role": "user"}])"), "'messages' is not supported");
}

TEST(ServerRequest, StreamOptionsAreRead) {
  const auto includes = [](const std::string& options) {
    const auto request =
        ParseServerRequest(R"({"prompt": "x", "stream_options": )" + options + "}", false, {});
    return request.ok() && request->includes_usage;
  };
  EXPECT_TRUE(includes(R"({"include_usage": true, "include_obfuscation": false})"));
  EXPECT_FALSE(includes(R"({"include_usage": false})"));
  EXPECT_FALSE(includes("null"));
  EXPECT_EQ(ErrorOf(true, R"("stream_options": {"include_obfuscation": true})"),
            "'stream_options.include_obfuscation' is not supported");
  EXPECT_THAT(ErrorOf(true, R"("stream_options": {"include_usage": 1})"),
              HasSubstr("'include_usage' is true or false"));
  EXPECT_THAT(ErrorOf(true, R"("stream_options": [1])"), HasSubstr("is an object"));
  EXPECT_THAT(ErrorOf(true, R"("user": 5)"), HasSubstr("'user' is a text"));
}

std::string MessageError(const std::string& message) {
  const auto request = ParseServerRequest(R"({"messages": [)" + message + "]}", true, {});
  return request.ok() ? "" : std::string(request.status().message());
}

TEST(ServerRequest, FieldsOfMessagesAreChecked) {
  EXPECT_EQ(MessageError(R"({"role": "assistant", "content": "x", "refusal": null,
                            "annotations": [], "tool_calls": null})"),
            "");
  EXPECT_EQ(MessageError(R"({"role": "user", "content": "x", "name": "Ann"})"),
            "'messages[0].name' is not supported");
  EXPECT_EQ(MessageError(R"({"role": "user", "content": [{"type": "text", "text": "x"},
                            {"type": "text", "text": "y", "cache_control": {"type": "e"}}]})"),
            "'messages[0].content[1].cache_control' is not supported");
}

TEST(ServerRequest, APromptMayBeAListOfOne) {
  const auto request = ParseServerRequest(R"({"prompt": ["abc"]})", false, {});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->prompt, "abc");
  EXPECT_FALSE(ParseServerRequest(R"({"prompt": ["a", "b"]})", false, {}).ok());
  EXPECT_FALSE(ParseServerRequest(R"({"prompt": [1]})", false, {}).ok());
}

}  // namespace
}  // namespace tg::llm
