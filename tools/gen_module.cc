// tg-gen: prints a large module for measurements.
//
//   tg-gen --nodes=1000000 [--kind=mixture|chain|index] [--names] [--seed=1] > big.uop
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "ir/text/printer.h"
#include "tools/module_generator.h"

namespace {

constexpr char kUsage[] =
    "usage: tg-gen [--nodes=N] [--kind=K] [--names] [--seed=N]\n"
    "Prints a valid module with about N UOps (default 1000); the same options, the same text.\n"
    "  --kind=mixture  a tensor graph of all kinds of ops (the default)\n"
    "  --kind=chain    a tensor graph in which each node is the source of the next\n"
    "  --kind=index    a lowered kernel: address arithmetic\n"
    "  --names         every fourth node of a graph has a name\n";

template <typename T>
bool ParseNumber(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kNodes = "--nodes=", kSeed = "--seed=";
  tg::tools::GeneratorOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    bool ok = true;
    if (arg == "--kind=mixture") {
      options.kind = tg::tools::ModuleKind::kMixture;
    } else if (arg == "--kind=chain") {
      options.kind = tg::tools::ModuleKind::kChain;
    } else if (arg == "--kind=index") {
      options.kind = tg::tools::ModuleKind::kIndex;
    } else if (arg == "--names") {
      options.names = true;
    } else if (arg.starts_with(kNodes)) {
      ok = ParseNumber(arg.substr(kNodes.size()), &options.nodes);
    } else if (arg.starts_with(kSeed)) {
      ok = ParseNumber(arg.substr(kSeed.size()), &options.seed);
    } else if (arg == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    } else {
      ok = false;
    }
    if (!ok) {
      std::fprintf(stderr, "tg-gen: %s: unknown or wrong option\n%s", argv[i], kUsage);
      return 1;
    }
  }
  const std::string text = tg::PrintModule(*tg::tools::GenerateModule(options));
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}
