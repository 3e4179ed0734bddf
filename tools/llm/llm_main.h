// tg-llm: text from a language model in a GGUF file.
#ifndef TG_TOOLS_LLM_LLM_MAIN_H_
#define TG_TOOLS_LLM_LLM_MAIN_H_

namespace tg::llm {

int LlmMain(int argc, const char* const* argv);

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_LLM_MAIN_H_
