// tg-docs: prints a reference page of docs/.
//
//   tg-docs ops > docs/ops.md
//   tg-docs verifier > docs/verifier.md
#include <cstdio>
#include <string>
#include <string_view>

#include "tools/reference_docs.h"

int main(int argc, char** argv) {
  const std::string_view page = argc == 2 ? argv[1] : "";
  if (page != "ops" && page != "verifier") {
    std::fputs("usage: tg-docs ops|verifier\n", stderr);
    return 1;
  }
  const std::string text = page == "ops" ? tg::OpsPage() : tg::VerifierPage();
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}
