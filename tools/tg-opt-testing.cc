// tg-opt with additional passes, as an embedder would build it.
#include <vector>

#include "passes/example/example.h"
#include "passes/testing/test_passes.h"
#include "tools/driver/opt_main.h"

int main(int argc, char** argv) {
  std::vector<const tg::passes::Pass*> passes(tg::testing::kTestPasses.begin(),
                                              tg::testing::kTestPasses.end());
  passes.push_back(&tg::example::kExamplePass);
  return tg::driver::OptMain(argc, argv, passes);
}
