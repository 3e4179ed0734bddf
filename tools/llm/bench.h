// Rates of a model, as llama-bench counts them.
#ifndef TG_TOOLS_LLM_BENCH_H_
#define TG_TOOLS_LLM_BENCH_H_

#include "absl/status/status.h"
#include "tools/llm/text_model.h"

namespace tg::llm {

// Prints lines with tokens per second, as mean and standard deviation over runs that begin with an
// empty text. "pp512" reads a prompt of 512 tokens; "tg128" generates 128 tokens one after the
// other. Both are shorter if the context is.
absl::Status RunBench(TextModel& model);

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_BENCH_H_
