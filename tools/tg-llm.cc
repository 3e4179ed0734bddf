// Writes text with a language model: tg-llm model.gguf -p "What's Oxygen?" -n 32
#include "tools/llm/llm_main.h"

int main(int argc, char** argv) { return tg::llm::LlmMain(argc, argv); }
