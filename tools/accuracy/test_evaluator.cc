#include "tools/accuracy/test_evaluator.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tg::accuracy {

const Evaluator& TestEvaluator() {
  static const Evaluator& evaluator = [&]() -> const Evaluator& {
    // Parallel runs must not share PoCL's cache of compiled kernels.
    if (const char* tmp = std::getenv("TEST_TMPDIR")) setenv("POCL_CACHE_DIR", tmp, 0);
    const char* device = std::getenv("TG_DEVICE");
    auto opened = Evaluator::Open(device ? device : "pocl");
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", std::string(opened.status().message()).c_str());
      std::exit(1);
    }
    return *opened->release();
  }();
  return evaluator;
}

}  // namespace tg::accuracy
