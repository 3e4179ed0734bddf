// The command line of tg-llm.
#ifndef TG_TOOLS_LLM_LLM_FLAGS_H_
#define TG_TOOLS_LLM_LLM_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/driver/flags.h"
#include "tools/llm/generator.h"

namespace tg::llm {

struct LlmFlags {
  std::optional<std::string> prompt, prompt_file, system;
  bool raw = false, bench = false, list_devices = false, help = false, version = false;
  bool cache = true, verify = true;
  std::string device, schedules, cache_type = "f16", products = "auto";
  std::optional<int64_t> max_tokens, context, chunk, verbose, search;
  std::optional<int64_t> seed, top_k, port;
  bool serve = false;
  std::string host = "127.0.0.1";
  std::string temperature = "0", top_p = "0.95", min_p = "0.05", repeat_penalty = "1";
  std::vector<std::string> stops;

  void AddTo(driver::Flags& flags);
  // Checks values, and reads --temp and the like. InvalidArgument names the option.
  absl::StatusOr<GenerateOptions> Interpret() const;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_LLM_FLAGS_H_
