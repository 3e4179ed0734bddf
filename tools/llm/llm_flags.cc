#include "tools/llm/llm_flags.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/status.h"
#include "frontend/gguf/language_model.h"

namespace tg::llm {
namespace {

absl::Status ReadNumber(const char* option, const std::string& text, double least, double most,
                        double* to) {
  char* end = nullptr;
  *to = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(*to >= least && *to <= most)) {
    return InvalidArgument(option, " is a number from ", std::to_string(least), " to ",
                           std::to_string(most), ", not '", text, "'");
  }
  return absl::OkStatus();
}

absl::Status CheckInt(const char* option, const std::optional<int64_t>& value, int64_t least) {
  if (!value || *value >= least) return absl::OkStatus();
  return InvalidArgument(option, " is at least ", least, ", not ", *value);
}

}  // namespace

void LlmFlags::AddTo(driver::Flags& flags) {
  flags.String("p", "TEXT", &prompt, "the prompt: one turn of a chat, in the model's own form");
  flags.String("f", "FILE", &prompt_file, "a file with the prompt");
  flags.Bool("raw", &raw, "the prompt is the beginning of a text, which the model continues");
  flags.String("system", "TEXT", &system, "what the model is told before the first turn");
  flags.Int("n", "N", &max_tokens,
            "tokens of a reply, at most; by default it ends where the model ends it, or where the "
            "context is full");
  flags.Repeated("stop", "TEXT", &stops, "a text at which a reply ends; it is not printed");

  flags.Group("How the next token is chosen");
  flags.String("temp", "T", &temperature, "0, the default: the likeliest; higher: more variety");
  flags.Int("top-k", "N", &top_k, "among so many of the likeliest tokens (40); 0: all");
  flags.String("top-p", "P", &top_p, "among the likeliest with this probability together (0.95)");
  flags.String("min-p", "P", &min_p, "with at least this share of the likeliest's (0.05)");
  flags.String("repeat-penalty", "X", &repeat_penalty,
               "logits of the last 64 tokens are divided by this (1)");
  flags.Int("seed", "N", &seed, "of the random numbers (0)");

  flags.Group("How it runs");
  flags.String("device", "DEVICE", &device,
               "cpu, gpu, a number or part of a name from --list-devices; by default a GPU where "
               "there is one");
  flags.Int("search", "SECONDS", &search,
            "search for faster schedules first, by tg-tune, which remembers what it finds "
            "(docs/search.md)");
  flags.String("schedules", "FILE", &schedules,
               "measured schedules (docs/search.md) for the kernels that it has");
  flags.Int("ctx", "N", &context,
            "tokens of a conversation, at most; by default what the model is for, up to 4096");
  flags.Int("chunk", "N", &chunk, "tokens of a prompt that are computed at a time (up to 512)");
  flags.Choice("cache-type", gguf::kCacheTypeNames, &cache_type,
               "how keys and values of earlier tokens are kept; q8_0: in half the memory of f16");
  flags.Choice("products", {"auto", "f32", "f16"}, &products,
               "the type in which weights and a prompt are multiplied, with sums in f32; auto: f16 "
               "where the device has matrix instructions");
  flags.Bool("cache", &cache, "keep compiled programs on disk (on by default)");
  flags.Bool("verify", &verify,
             "read the weights in a compiled model at the start, to find damage (on by default)");
  flags.Level("verbose", "LEVEL", 1, &verbose,
              "prints the kernels of a step and their times on standard error");
  flags.Bool("bench", &bench,
             "measures: tokens a second of a prompt of 512 tokens, and of a reply of 128");

  flags.Group("As a server");
  flags.Bool("serve", &serve,
             "answers requests over HTTP as OpenAI's clients make them; options are what a request "
             "leaves open");
  flags.String("host", "ADDRESS", &host,
               "the address to listen at (127.0.0.1: this machine alone)");
  flags.Int("port", "N", &port, "and the port (8080); 0: any that is free");

  flags.Group("About");
  flags.Bool("list-devices", &list_devices, "the devices of this machine");
  flags.Bool("version", &version, "the version");
  flags.Bool("help", &help, "this text");
}

absl::StatusOr<GenerateOptions> LlmFlags::Interpret() const {
  if (prompt && prompt_file) return InvalidArgument("-p or -f, not both");
  if (raw && system) return InvalidArgument("--raw: there is no --system in a text");
  if (raw && !prompt && !prompt_file) return InvalidArgument("--raw needs -p or -f");
  if (bench && (prompt || prompt_file)) return InvalidArgument("--bench takes no prompt");
  if (serve && (prompt || prompt_file || system || raw || bench)) {
    return InvalidArgument("--serve: requests bring the prompt");
  }
  if (!serve && port) return InvalidArgument("--port is for --serve");
  if (port && (*port < 0 || *port > 65535)) {
    return InvalidArgument("--port is from 0 to 65535, not ", *port);
  }
  TG_RETURN_IF_ERROR(CheckInt("-n", max_tokens, 0));
  TG_RETURN_IF_ERROR(CheckInt("--ctx", context, 1));
  TG_RETURN_IF_ERROR(CheckInt("--search", search, 1));
  if (search && !schedules.empty()) {
    return InvalidArgument("--search and --schedules: the search finds the schedules");
  }
  TG_RETURN_IF_ERROR(CheckInt("--chunk", chunk, 1));
  TG_RETURN_IF_ERROR(CheckInt("--top-k", top_k, 0));
  GenerateOptions options;
  options.max_tokens = max_tokens.value_or(-1);
  options.stops = stops;
  SamplerOptions& s = options.sampling;
  TG_RETURN_IF_ERROR(ReadNumber("--temp", temperature, 0, 100, &s.temperature));
  TG_RETURN_IF_ERROR(ReadNumber("--top-p", top_p, 0, 1, &s.top_p));
  TG_RETURN_IF_ERROR(ReadNumber("--min-p", min_p, 0, 1, &s.min_p));
  TG_RETURN_IF_ERROR(ReadNumber("--repeat-penalty", repeat_penalty, 0.01, 100, &s.repeat_penalty));
  s.top_k = top_k.value_or(s.top_k);
  s.seed = static_cast<uint64_t>(seed.value_or(0));
  return options;
}

}  // namespace tg::llm
