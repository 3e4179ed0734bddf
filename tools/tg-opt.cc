// Runs passes on a module in text form: tg-opt --pass=kernelize,lower in.uop -o out.uop
#include <array>

#include "passes/gradient/gradient.h"
#include "tools/driver/opt_main.h"

int main(int argc, char** argv) {
  // A pass that programs which only run modules do not link.
  const auto passes = std::to_array<const tg::passes::Pass*>({&tg::gradient::kGradientPass});
  return tg::driver::OptMain(argc, argv, passes);
}
