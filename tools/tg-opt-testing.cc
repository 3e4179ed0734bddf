// tg-opt with additional passes, as an embedder would build it.
#include <vector>

#include "passes/example/example.h"
#include "passes/testing/test_passes.h"
#include "tools/driver/opt_main.h"

int main(int argc, char** argv) {
  std::vector<const tg::Pass*> passes(tg::kTestPasses.begin(), tg::kTestPasses.end());
  passes.push_back(&tg::kExamplePass);
  return tg::OptMain(argc, argv, passes);
}
