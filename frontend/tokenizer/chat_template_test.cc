#include "frontend/tokenizer/chat_template.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::tokenizer {
namespace {

using ::testing::HasSubstr;

const ChatMessage kMessages[] = {{"system", "Be brief."}, {"user", "Hi"}};

std::string Render(std::string_view text, const ChatOptions& options = {}) {
  const auto parsed = ChatTemplate::Parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return "";
  const auto prompt = parsed->Render(kMessages, options);
  EXPECT_TRUE(prompt.ok()) << prompt.status();
  return prompt.ok() ? *prompt : "";
}

TEST(ChatTemplate, ChatMl) {
  const auto prompt = ChatTemplate::ChatMl().Render(kMessages, {});
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(*prompt,
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
            "<|im_start|>assistant\n");
  const auto without = ChatTemplate::ChatMl().Render(kMessages, {.add_generation_prompt = false});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->find("assistant"), std::string::npos);
}

TEST(ChatTemplate, Variables) {
  EXPECT_EQ(Render("{{ bos_token }}{{ messages|length }}{{ messages[1].role }}{{ eos_token }}",
                   {.bos_token = "<s>", .eos_token = "</s>"}),
            "<s>2user</s>");
  EXPECT_EQ(Render("{{ add_generation_prompt }} {{ tools is none }}"), "True True");
  EXPECT_EQ(Render("{{ strftime_now('%H:%M') }}", {.now = 0}).size(), 5u);
}

TEST(ChatTemplate, TextOfUsersIsNoTemplate) {
  const ChatMessage messages[] = {{"user", "{{ 1 + 1 }}{% if %}"}};
  const auto prompt = ChatTemplate::ChatMl().Render(messages, {});
  ASSERT_TRUE(prompt.ok());
  EXPECT_THAT(*prompt, HasSubstr("{{ 1 + 1 }}{% if %}"));
}

TEST(ChatTemplate, Errors) {
  EXPECT_EQ(ChatTemplate::Parse("{% if %}").status().message(),
            "line 1, column 7: an expression is expected, not '%}'");
  const auto refuses = ChatTemplate::Parse("{{ raise_exception('No system messages') }}");
  ASSERT_TRUE(refuses.ok());
  EXPECT_EQ(refuses->Render(kMessages, {}).status().message(),
            "line 1, column 19: No system messages");
}

}  // namespace
}  // namespace tg::tokenizer
