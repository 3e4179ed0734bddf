// tg-docs: prints a reference page of docs/.
//
//   tg-docs ops > docs/ops.md
//   tg-docs verifier > docs/verifier.md
//   tg-docs accuracy > docs/accuracy.md
//   tg-docs onnx > docs/onnx.md
//   tg-docs targets > docs/targets.md
#include <cstdio>
#include <string>
#include <string_view>

#include "tools/reference_docs.h"

int main(int argc, char** argv) {
  const std::string_view page = argc == 2 ? argv[1] : "";
  std::string text;
  if (page == "ops") {
    text = tg::tools::OpsPage();
  } else if (page == "verifier") {
    text = tg::tools::VerifierPage();
  } else if (page == "accuracy") {
    text = tg::tools::AccuracyPage();
  } else if (page == "onnx") {
    text = tg::tools::OnnxPage();
  } else if (page == "targets") {
    text = tg::tools::TargetsPage();
  } else {
    std::fputs("usage: tg-docs ops|verifier|accuracy|onnx|targets\n", stderr);
    return 1;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}
