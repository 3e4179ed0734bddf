// tg-tune with passes that misbehave, to test that a search survives them.
#include "passes/testing/test_passes.h"
#include "tools/tune/tune_main.h"

int main(int argc, char** argv) { return tg::tune::TuneMain(argc, argv, tg::testing::kTestPasses); }
