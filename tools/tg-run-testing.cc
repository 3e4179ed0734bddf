// tg-run with passes that misbehave, to test what it says about wrong kernels.
#include "passes/testing/test_passes.h"
#include "tools/run/run_main.h"

int main(int argc, char** argv) { return tg::RunMain(argc, argv, tg::kTestPasses); }
