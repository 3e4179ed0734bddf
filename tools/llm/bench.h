// Rates of a model, as llama-bench counts them.
#ifndef TG_TOOLS_LLM_BENCH_H_
#define TG_TOOLS_LLM_BENCH_H_

#include "absl/status/status.h"
#include "tools/llm/text_model.h"

namespace tg {

// Prints lines with tokens a second, mean and standard deviation over runs that begin with an empty
// text: "pp512", a prompt of 512 tokens; "tg128", 128 tokens one after the other. Both are shorter
// where the context is.
absl::Status RunBench(TextModel& model);

}  // namespace tg

#endif  // TG_TOOLS_LLM_BENCH_H_
